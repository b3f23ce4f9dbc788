import { make } from './dom.js';

/** What is not told: a character at rest is about so happy and close. @type {Readonly<Record<string, number>>} */
const REST = { happiness: 4, intimacy: 4 };

const MOST = 10;

/**
 * @param {Readonly<Record<string, number>> | undefined} feelings each from 0 to 10
 * @returns {[name: string, value: number][]} those above rest, the strongest first
 */
export function stirred(feelings = {}) {
  const above = Object.entries(feelings).filter(([name, value]) => value > (REST[name] ?? 1));
  return above.toSorted(([, one], [, other]) => other - one);
}

/**
 * A chip for each feeling above rest: its name, and a bar as full as it is strong, and the number for those who do not see it.
 *
 * @param {Readonly<Record<string, number>> | undefined} feelings each from 0 to 10
 * @returns {HTMLElement[]} none where the character is calm
 */
export function moodChips(feelings) {
  return stirred(feelings).map(([name, value]) => {
    const chip = make('span', 'feeling', name, make('span', 'unseen', ` ${value} of ${MOST}. `));
    chip.title = `${name}: ${value} of ${MOST}`;
    chip.style.setProperty('--share', String(value / MOST));
    return chip;
  });
}
