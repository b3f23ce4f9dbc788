/** @import { Latency, LatencyComponent } from '../../client/types/api.d.ts' */

/**
 * Part of the latency of one turn: component, start and duration, in milliseconds since the user
 * finished (stopped speaking or sent a text).
 *
 * @typedef {{ owner: LatencyComponent, label: string, fromMs: number, ms: number }} Part
 */

/** Components in pipeline order. @type {readonly { owner: LatencyComponent, label: string }[]} */
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
 * Returns the latency with this page's own measurement of when the reply was heard, which takes
 * precedence over the server's.
 *
 * This is an approximation: a page cannot know when the user stopped speaking, so it uses the
 * arrival of `speech_stopped` minus the server's `endpoint_ms`. That leaves out the time the event
 * took to arrive (half a round trip) and the time the speech took to reach the server.
 *
 * @param {Latency} latency
 * @param {number | null} heardMs when the first audible sample left the loudspeaker; null if none
 *   has
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
 * @returns {Part[]} in order, each starting at the end of the one before; without those below 0.5
 *   ms
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
 * @returns {number | null} null if there are no values
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
