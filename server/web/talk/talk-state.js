/**
 * @typedef {'idle' | 'connecting' | 'listening' | 'hearing' | 'thinking' | 'speaking' | 'muted'
 *   | 'error'} TalkState
 */

/**
 * Facts that determine the state of a conversation.
 *
 * @typedef {object} TalkFacts
 * @property {'closed' | 'connecting' | 'open' | 'lost' | 'refused'} connection
 * @property {'closed' | 'opening' | 'open' | 'muted'} microphone
 * @property {boolean} isHearing the user speaks
 * @property {boolean} isPlaying the character speaks
 * @property {boolean} isAwaiting a reply is expected or in progress
 */

/**
 * @param {TalkFacts} facts
 * @returns {TalkState}
 */
export function talkState(facts) {
  if (facts.connection === 'closed') return 'idle';
  if (facts.connection === 'lost' || facts.connection === 'refused') return 'error';
  if (facts.connection === 'connecting' || facts.microphone === 'opening') return 'connecting';
  if (facts.isHearing) return 'hearing';
  if (facts.isPlaying) return 'speaking';
  if (facts.isAwaiting) return 'thinking';
  return facts.microphone === 'open' ? 'listening' : 'muted';
}
