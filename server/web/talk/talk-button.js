/** @import { TalkState } from './talk-state.js' */

/** Range of the level meter, in dBFS. */
const QUIET_DB = -60;
const LOUD_DB = -15;

/**
 * Texts of the conversation button.
 *
 * @typedef {object} Captions
 * @property {string} action what a tap does; the button's accessible name
 * @property {string} status
 * @property {string} hint
 */

/**
 * @param {TalkState} state
 * @param {{ name: string, hasMicrophone: boolean, isMuted: boolean, isPushToTalk: boolean, scene?: SceneFacts }} about
 * @returns {Captions}
 */
export function captions(state, { name, hasMicrophone, isMuted, isPushToTalk, scene }) {
  if (isPushToTalk && hasMicrophone && scene?.listens !== true) {
    const held = heldCaptions(state, name);
    if (held !== undefined) return held;
  }
  const ofScene = scene === undefined ? undefined : sceneCaptions(state, name, scene);
  if (ofScene !== undefined) return ofScene;
  const action = { action: hasMicrophone ? 'Mute the microphone' : 'Use the microphone' };
  if (hasMicrophone && isMuted) action.action = 'Unmute the microphone';
  return talkCaptions(state, { name, hasMicrophone, isMuted, scene }, action);
}

/**
 * @param {TalkState} state
 * @param {{ name: string, hasMicrophone: boolean, isMuted: boolean, scene: SceneFacts | undefined }} about
 * @param {{ action: string }} action what a tap does during a conversation
 * @returns {Captions}
 */
function talkCaptions(state, { name, hasMicrophone, isMuted, scene }, action) {
  const though = hasMicrophone && isMuted ? ' · you are muted' : '';
  const speakTo = speakHint(hasMicrophone, isMuted);
  switch (state) {
    case 'idle':
      return {
        action: `Start conversation with ${name}`,
        status: 'Start conversation',
        hint: `tap to talk with ${name}`,
      };
    case 'connecting':
      return { ...action, status: 'Connecting…', hint: 'allow the microphone if the browser asks' };
    case 'listening':
      return { ...action, status: 'Listening', hint: 'tap to mute' };
    case 'hearing':
      return { ...action, status: 'Hearing you', hint: 'pause to get a reply' };
    case 'thinking':
      return {
        ...action,
        status: `Thinking${though}`,
        hint: scene ? 'choosing the next speaker' : `waiting for ${name}`,
      };
    case 'speaking':
      return { ...action, status: `${scene?.speaker || 'Speaking'}${though}`, hint: speakTo };
    case 'muted':
      return hasMicrophone
        ? { ...action, status: 'Muted', hint: 'tap to unmute' }
        : { ...action, status: 'Microphone off', hint: 'tap to talk, or type' };
    default:
      return { action: 'Try again', status: 'Not connected', hint: 'tap to try again' };
  }
}

/**
 * Captions while the user speaks by holding the button.
 *
 * @param {TalkState} state
 * @param {string} name
 * @returns {Captions | undefined} undefined if the usual captions apply
 */
function heldCaptions(state, name) {
  const action = 'Hold to talk';
  const hint = 'hold this or the space bar';
  switch (state) {
    case 'muted':
    case 'listening':
      return { action, status: 'Hold to talk', hint };
    case 'hearing':
      return { action, status: 'Hearing you', hint: 'let go to get a reply' };
    case 'thinking':
      return { action, status: 'Thinking', hint: `waiting for ${name}` };
    case 'speaking':
      return { action, status: 'Speaking', hint: `${hint} to interrupt` };
    default:
      return undefined;
  }
}

/**
 * @param {boolean} hasMicrophone
 * @param {boolean} isMuted
 */
function speakHint(hasMicrophone, isMuted) {
  if (!isMuted) return 'speak to interrupt';
  return hasMicrophone ? 'tap to unmute' : 'tap to talk';
}

/**
 * Scene state that the captions depend on: whether the user only listens, who speaks, whether it is
 * the user's turn, and whether the scene is over.
 *
 * @typedef {{ listens: boolean, speaker: string, isYours: boolean, isOver: boolean }} SceneFacts
 */

/**
 * @param {TalkState} state
 * @param {string} name
 * @param {SceneFacts} scene
 * @returns {Captions | undefined} undefined if the usual captions apply
 */
function sceneCaptions(state, name, { listens, speaker, isYours, isOver }) {
  if (isOver && (state === 'muted' || state === 'listening'))
    return { action: `Play ${name} again`, status: 'The end', hint: 'tap to play again' };
  if (isYours && state === 'listening')
    return { action: 'Mute the microphone', status: 'Your turn', hint: 'speak, or let the scene continue' };
  if (!listens) return undefined;
  const pause = { action: 'Pause the scene', hint: 'you listen · tap to pause' };
  switch (state) {
    case 'idle':
      return { action: `Listen to ${name}`, status: 'Start scene', hint: 'tap to listen' };
    case 'connecting':
      return { action: 'Pause the scene', status: 'Connecting…', hint: 'the scene starts in a moment' };
    case 'speaking':
      return { ...pause, status: speaker || 'Playing' };
    case 'thinking':
      return { ...pause, status: 'Playing' };
    case 'muted':
      return { action: 'Continue', status: 'Paused', hint: 'tap to continue' };
    default:
      return undefined;
  }
}

/**
 * Converts a level to the scale of the meter.
 *
 * @param {number} level root mean square, 0 to 1
 * @returns {number} 0 to 1, linear in dB
 */
export function loudness(level) {
  if (level <= 0) return 0;
  const db = 20 * Math.log10(level);
  return Math.max(0, Math.min(1, (db - QUIET_DB) / (LOUD_DB - QUIET_DB)));
}
