import { isBackchannel } from './backchannels.ts';
import { isEcho } from './echo.ts';
import type { Utterance } from './utterance.ts';

/** Whether it is the character's own voice, come back through the user's microphone; notes that in the utterance. */
export function isOwnVoice(utterance: Utterance, text: string): boolean {
  utterance.isOwnVoice = utterance.over !== undefined && (utterance.hasOwnVoice || isEcho(text, utterance.over()));
  return utterance.isOwnVoice;
}

/** Whether it is a nod to the last words of a reply, which asked for nothing. */
export function isNod(utterance: Utterance, text: string): boolean {
  if (utterance.interrupts) return false;
  const said = utterance.over?.().words.at(-1)?.text.trim() ?? '?';
  return !/[?？]["'”’]?$/u.test(said) && isBackchannel(text);
}
