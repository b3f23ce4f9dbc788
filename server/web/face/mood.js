import { make } from '../browser/dom.js';

/**
 * Resting level of feelings; up to it, a feeling is not shown.
 *
 * @type {Readonly<Record<string, number>>}
 */
const REST = { happiness: 4, intimacy: 4 };

const MOST = 10;

/**
 * @param {Readonly<Record<string, number>> | undefined} feelings each from 0 to 10
 * @returns {[name: string, value: number][]} feelings above their resting level, strongest first
 */
export function stirred(feelings = {}) {
  const above = Object.entries(feelings).filter(([name, value]) => value > (REST[name] ?? 1));
  return above.toSorted(([, one], [, other]) => other - one);
}

/**
 * Creates a chip for each feeling above its resting level: name, a bar for the strength, and the
 * number for screen readers.
 *
 * @param {Readonly<Record<string, number>> | undefined} feelings each from 0 to 10
 * @returns {HTMLElement[]} empty if the character is calm
 */
export function moodChips(feelings) {
  return stirred(feelings).map(([name, value]) => {
    const chip = make('span', 'feeling', name, make('span', 'unseen', ` ${value} of ${MOST}. `));
    chip.title = `${name}: ${value} of ${MOST}`;
    chip.style.setProperty('--share', String(value / MOST));
    return chip;
  });
}
