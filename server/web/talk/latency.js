/** @import { Latency, LatencyOwner } from '../../client/types/api.d.ts' */

/**
 * Where the time of one turn went: who was waited for, from when, and for how long, in milliseconds after the person finished
 * (stopped speaking, or sent a text).
 *
 * @typedef {{ owner: LatencyOwner, label: string, fromMs: number, ms: number }} Part
 */

/** In the order in which they are waited for. @type {readonly { owner: LatencyOwner, label: string }[]} */
const OWNERS = [
  { owner: 'arrival', label: 'Your sound, under way' },
  { owner: 'silence', label: 'Silence, to be sure' },
  { owner: 'vad', label: 'Voice detector' },
  { owner: 'recognizer', label: 'Understanding' },
  { owner: 'client', label: 'Not asked yet' },
  { owner: 'mind', label: 'Thinking' },
  { owner: 'phrase', label: 'Wording a phrase' },
  { owner: 'synthesizer', label: 'Making sound' },
  { owner: 'pacing', label: 'Sending' },
  { owner: 'delivery', label: 'Network and buffer' },
];

/**
 * A ledger with this page's own figure for when the answer was heard, which outranks what the server makes of its reports.
 *
 * It rests on an approximation: a page cannot know when the person stopped speaking, so it takes the moment at which
 * `speech_stopped` arrived, less the server's `endpoint_ms`. That leaves out the time the event took to arrive (half a round
 * trip), and the time the speech took to reach the server.
 *
 * @param {Latency} latency
 * @param {number | null} heardMs when the first audible sample left the loudspeaker; null where none has
 * @returns {Latency}
 */
export function withHeard(latency, heardMs) {
  const { first_audio_ms: sentMs } = latency;
  if (typeof sentMs !== 'number') return { ...latency, heard_ms: null };
  const delivery = heardMs === null ? null : Math.max(0, heardMs - sentMs);
  const owners = { ...latency.owners, delivery };
  return { ...latency, heard_ms: heardMs, owners, total_ms: Math.max(0, sentMs) + (delivery ?? 0) };
}

/**
 * @param {Latency} latency
 * @returns {Part[]} in order, each from where the one before ends; without those who took next to no time
 */
export function parts(latency) {
  /** @type {Part[]} */
  const found = [];
  let fromMs = 0;
  for (const { owner, label } of OWNERS) {
    const ms = latency.owners[owner] ?? 0;
    if (ms >= 0.5) found.push({ owner, label, fromMs, ms });
    fromMs += ms;
  }
  return found;
}

/**
 * @param {readonly number[]} values
 * @returns {number | null} null of nothing
 */
export function median(values) {
  const sorted = values.toSorted((a, b) => a - b);
  const upper = sorted[sorted.length >> 1];
  const lower = sorted[(sorted.length - 1) >> 1];
  return upper === undefined || lower === undefined ? null : (lower + upper) / 2;
}

/**
 * @param {number} ms
 * @returns {string} such as `640 ms` or `1.24 s`
 */
export function spell(ms) {
  return Math.abs(ms) < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(2)} s`;
}
