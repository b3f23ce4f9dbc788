/** @import { Latency, LatencyComponent } from '../../client/types/api.d.ts' */

/**
 * Part of the latency of one turn: component, name, start and duration, in milliseconds since the user
 * finished (stopped speaking or sent a text).
 *
 * @typedef {{ name: string, label: string, fromMs: number, ms: number }} Part
 */

/** Components in pipeline order. @type {readonly { component: LatencyComponent, name: string, label: string }[]} */
const COMPONENTS = [
  { component: 'arrival', name: 'uplink', label: 'Uplink' },
  { component: 'silence', name: 'endpointing', label: 'Endpointing' },
  { component: 'vad', name: 'vad', label: 'VAD' },
  { component: 'recognizer', name: 'asr', label: 'ASR' },
  { component: 'client', name: 'client', label: 'Client request' },
  { component: 'mind', name: 'llm', label: 'LLM' },
  { component: 'phrase', name: 'llm-phrase', label: 'LLM, first phrase' },
  { component: 'synthesizer', name: 'tts', label: 'TTS' },
  { component: 'pacing', name: 'pacing', label: 'Pacing' },
  { component: 'delivery', name: 'network', label: 'Network' },
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
  for (const { component, name, label } of COMPONENTS) {
    const ms = latency.owners[component] ?? 0;
    if (ms >= 0.5) found.push({ name, label, fromMs, ms });
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
