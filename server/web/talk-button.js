/** @import { TalkState } from './talk-state.js' */

/** What the meter shows at its two ends, in dB of full scale. */
const QUIET_DB = -60;
const LOUD_DB = -15;

/**
 * The words beside the talk button.
 *
 * @typedef {object} Captions
 * @property {string} action what a tap does, as the button's name
 * @property {string} status
 * @property {string} hint
 */

/**
 * @param {TalkState} state
 * @param {{ name: string, hasMicrophone: boolean, isMuted: boolean }} about
 * @returns {Captions}
 */
export function captions(state, { name, hasMicrophone, isMuted }) {
  const action = { action: hasMicrophone ? 'Mute the microphone' : 'Use the microphone' };
  if (hasMicrophone && isMuted) action.action = 'Unmute the microphone';
  const though = hasMicrophone && isMuted ? ' · you are muted' : '';
  const speakTo = isMuted ? 'tap to be heard' : 'speak to interrupt';
  switch (state) {
    case 'idle':
      return { action: `Begin talking with ${name}`, status: 'Raise the curtain', hint: `tap, and talk with ${name}` };
    case 'connecting':
      return { ...action, status: 'Connecting…', hint: 'allow the microphone if you are asked' };
    case 'listening':
      return { ...action, status: 'Listening', hint: 'tap to mute' };
    case 'hearing':
      return { ...action, status: 'Hearing you', hint: 'pause, and you are answered' };
    case 'thinking':
      return { ...action, status: `Thinking${though}`, hint: `${name} has the next word` };
    case 'speaking':
      return { ...action, status: `Speaking${though}`, hint: speakTo };
    case 'muted':
      return hasMicrophone
        ? { ...action, status: 'Muted', hint: 'tap to be heard again' }
        : { ...action, status: 'Microphone off', hint: 'tap to talk, or type' };
    default:
      return { action: 'Try again', status: 'Not connected', hint: 'tap to try again' };
  }
}

/**
 * Loudness for the eye.
 *
 * @param {number} level root mean square, 0 to 1
 * @returns {number} 0 to 1, even in dB
 */
export function loudness(level) {
  if (level <= 0) return 0;
  const db = 20 * Math.log10(level);
  return Math.max(0, Math.min(1, (db - QUIET_DB) / (LOUD_DB - QUIET_DB)));
}
