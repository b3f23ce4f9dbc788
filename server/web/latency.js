/**
 * Where the time of one turn went. Every number is in milliseconds after the person finished (stopped speaking, or sent a
 * text), null where the stage does not apply. The server measures all but `heard_ms`, which is this page's.
 *
 * `heard_ms` rests on an approximation: a page cannot know when the person stopped speaking, so it takes the moment at which
 * `speech_stopped` arrived, less the server's `endpoint_ms`. That leaves out the time the event took to arrive (half a round
 * trip), and the time the speech took to reach the server.
 *
 * @typedef {object} Latency
 * @property {'speech_end' | 'text'} basis
 * @property {number | null} [endpoint_ms] the server decided that the person had finished
 * @property {number | null} [transcript_ms] the words were final
 * @property {number | null} [first_token_ms] the mind began to answer
 * @property {number | null} [first_phrase_ms] a phrase was ready to be spoken
 * @property {number | null} [first_audio_ms] the server sent sound
 * @property {number | null} [heard_ms] the first audible sample left the loudspeaker
 */

/**
 * One step of a turn. `fromMs` is when the steps before it were over; a step that was done before (because work was begun
 * early) has no length.
 *
 * @typedef {{ key: StageKey, label: string, fromMs: number, atMs: number }} Step
 */

/** @typedef {Exclude<keyof Latency, 'basis'>} StageKey */

/** @type {readonly { key: StageKey, label: string }[]} */
const STAGES = [
  { key: 'endpoint_ms', label: 'End of speech noticed' },
  { key: 'transcript_ms', label: 'Words understood' },
  { key: 'first_token_ms', label: 'First token' },
  { key: 'first_phrase_ms', label: 'First phrase' },
  { key: 'first_audio_ms', label: 'First audio' },
  { key: 'heard_ms', label: 'Heard' },
];

/**
 * @param {Latency} latency
 * @returns {Step[]} in the order of the stages, without those that do not apply
 */
export function steps(latency) {
  /** @type {Step[]} */
  const found = [];
  let reachedMs = 0;
  for (const { key, label } of STAGES) {
    const atMs = latency[key];
    if (typeof atMs !== 'number') continue;
    found.push({ key, label, fromMs: Math.min(reachedMs, atMs), atMs });
    reachedMs = Math.max(reachedMs, atMs);
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
