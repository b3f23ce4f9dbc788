import { make, makeSvg } from './dom.js';
import { spell, steps } from './latency.js';

/** @import { Latency, Step } from './latency.js' */

/** Width of a drawing in its own units. */
const WIDTH = 1000;
/** So that a step of no length can be seen. */
const LEAST_WIDTH = 6;

/**
 * Where the time of one turn went: a strip and a sentence that are always to be seen, and a table with a bar for every step.
 *
 * @param {Latency} latency
 * @param {object} about
 * @param {number | null} about.medianMs of the session's turns so far that began the same way
 * @param {string | undefined} about.mind who thought of the answer
 * @param {boolean} about.isOpen
 * @returns {HTMLDetailsElement}
 */
export function waterfall(latency, { medianMs, mind, isOpen }) {
  const done = steps(latency);
  const totalMs = Math.max(1, ...done.map((step) => step.atMs));
  const summary = make('summary', '', strip(done, totalMs), make('span', '', headline(done, latency, medianMs)));
  const table = make('table', '', make('caption', '', caption(latency)));
  for (const step of done) table.append(row(step, totalMs));
  const made = make('details', 'waterfall', summary, table);
  if (mind !== undefined) made.append(make('p', 'mind', `Mind: ${mind}`));
  made.dataset.latency = JSON.stringify(latency);
  made.open = isOpen;
  summary.addEventListener('click', () => requestAnimationFrame(() => made.scrollIntoView({ block: 'nearest' })));
  return made;
}

/**
 * @param {readonly Step[]} done
 * @param {Latency} latency
 * @param {number | null} medianMs
 */
function headline(done, latency, medianMs) {
  const last = done.at(-1);
  if (last === undefined) return 'No timings';
  const reached = last.key === 'heard_ms' ? 'Heard' : last.label;
  const after = latency.basis === 'text' ? 'after asking' : 'after you stopped';
  return `${reached} ${spell(last.atMs)} ${after}${medianMs === null ? '' : ` · median ${spell(medianMs)}`}`;
}

/** @param {Latency} latency */
function caption(latency) {
  return latency.basis === 'text' ? 'Time since the reply was asked for' : 'Time since the end of your speech';
}

/**
 * All steps in one line.
 *
 * @param {readonly Step[]} done
 * @param {number} totalMs
 */
function strip(done, totalMs) {
  const drawing = makeSvg('svg', {
    viewBox: `0 0 ${WIDTH} 10`,
    preserveAspectRatio: 'none',
    class: 'strip',
    role: 'img',
  });
  drawing.setAttribute('aria-label', done.map(({ label, atMs }) => `${label}: ${spell(atMs)}`).join(', '));
  drawing.append(...done.map((step) => bar(step, totalMs, 0)));
  return drawing;
}

/**
 * @param {Step} step
 * @param {number} totalMs
 */
function row(step, totalMs) {
  const drawing = makeSvg('svg', { viewBox: `0 0 ${WIDTH} 10`, preserveAspectRatio: 'none', 'aria-hidden': 'true' });
  drawing.append(makeSvg('rect', { class: 'track', width: WIDTH, height: 10 }), bar(step, totalMs, LEAST_WIDTH));
  const header = make('th', '', step.label);
  header.scope = 'row';
  return make('tr', '', header, make('td', 'bar', drawing), make('td', 'number', spell(step.atMs)));
}

/**
 * @param {Step} step
 * @param {number} totalMs
 * @param {number} leastWidth
 */
function bar({ key, fromMs, atMs }, totalMs, leastWidth) {
  const width = Math.max(leastWidth, ((atMs - fromMs) / totalMs) * WIDTH);
  const x = Math.max(0, Math.min((fromMs / totalMs) * WIDTH, WIDTH - width));
  return makeSvg('rect', { class: key.replace('_ms', ''), x, width, height: 10 });
}
