import { make, makeSvg } from '../browser/dom.js';
import { parts, spell } from './latency.js';

/** @import { Latency } from '../../client/types/api.d.ts' */
/** @import { Part } from './latency.js' */
/** @import { VoiceEvent } from './turn.js' */

/** Width of a drawing in its own units. */
const WIDTH = 1000;
/** Minimum width of a bar, so that short parts are visible. */
const LEAST_WIDTH = 6;

/**
 * Renders the latency of one turn: a strip and a sentence that are always visible, and a table with
 * one bar per component.
 *
 * @param {Latency} latency
 * @param {object} about
 * @param {string} about.since the event that the latency is measured from
 * @param {number | null} about.medianMs median of the session's turns so far that started the same
 *   way
 * @param {string | undefined} about.source name of the reply source
 * @param {VoiceEvent | undefined} about.voice voice consistency of the reply
 * @param {boolean} about.isOpen
 * @returns {HTMLDetailsElement}
 */
export function waterfall(latency, { since, medianMs, source, voice, isOpen }) {
  const all = parts(latency);
  const totalMs = Math.max(1, latency.total_ms);
  const summary = make('summary', '', strip(all, totalMs), make('span', '', headline(latency, since, medianMs)));
  if (voice !== undefined) summary.append(voiceMeter(voice));
  const table = make('table', '', make('caption', '', `Latency since ${since}`));
  for (const part of all) table.append(row(part.label, part.ms, bar(part, totalMs, LEAST_WIDTH)));
  table.append(row('Total', latency.total_ms));
  const made = make('details', 'waterfall', summary, table);
  if (source !== undefined) made.append(make('p', 'source', `Reply source: ${source}`));
  made.dataset.latency = JSON.stringify(latency);
  made.open = isOpen;
  summary.addEventListener('click', () => requestAnimationFrame(() => made.scrollIntoView({ block: 'nearest' })));
  return made;
}

/**
 * Creates a meter of voice consistency, which falls as the voice drifts.
 *
 * @param {VoiceEvent} voice
 */
function voiceMeter({ similarity, basis }) {
  const meter = make('meter', '');
  meter.min = 0;
  meter.max = 1;
  meter.value = Math.max(0, similarity);
  const text = `Voice similarity ${similarity.toFixed(2)}`;
  meter.textContent = text;
  const made = make('span', 'voice', meter, text);
  const against = basis === 'reference' ? 'the reference clip' : 'the first reply';
  made.title = `Similarity of the voice to ${against}; 1 is the same voice`;
  return made;
}

/**
 * @param {Latency} latency
 * @param {string} since
 * @param {number | null} medianMs
 */
function headline(latency, since, medianMs) {
  const sent = typeof latency.first_audio_ms === 'number' ? 'Replied' : 'Ended';
  const reached = typeof latency.heard_ms === 'number' ? 'Heard' : sent;
  return `${reached} ${spell(latency.total_ms)} after ${since}${medianMs === null ? '' : ` · median ${spell(medianMs)}`}`;
}

/**
 * Draws all parts in one line.
 *
 * @param {readonly Part[]} all
 * @param {number} totalMs
 */
function strip(all, totalMs) {
  const drawing = makeSvg('svg', {
    viewBox: `0 0 ${WIDTH} 10`,
    preserveAspectRatio: 'none',
    class: 'strip',
    role: 'img',
  });
  drawing.setAttribute('aria-label', all.map(({ label, ms }) => `${label}: ${spell(ms)}`).join(', '));
  drawing.append(...all.map((part) => bar(part, totalMs, 0)));
  return drawing;
}

/**
 * @param {string} label
 * @param {number} ms
 * @param {SVGElement} [drawn] undefined for the total
 */
function row(label, ms, drawn) {
  const header = make('th', '', label);
  header.scope = 'row';
  const cell = make('td', 'bar');
  if (drawn !== undefined) {
    const drawing = makeSvg('svg', { viewBox: `0 0 ${WIDTH} 10`, preserveAspectRatio: 'none', 'aria-hidden': 'true' });
    drawing.append(makeSvg('rect', { class: 'track', width: WIDTH, height: 10 }), drawn);
    cell.append(drawing);
  }
  return make('tr', drawn === undefined ? 'total' : '', header, cell, make('td', 'number', spell(ms)));
}

/**
 * @param {Part} part
 * @param {number} totalMs
 * @param {number} leastWidth
 */
function bar({ name, fromMs, ms }, totalMs, leastWidth) {
  const width = Math.max(leastWidth, (ms / totalMs) * WIDTH);
  const x = Math.max(0, Math.min((fromMs / totalMs) * WIDTH, WIDTH - width));
  return makeSvg('rect', { class: name, x, width, height: 10 });
}
