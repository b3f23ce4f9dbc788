import type { TimedWord } from '../../../voices/synthesizer.ts';
import type { SpokenContent } from './item.ts';

/** Sound over a reply: words; backchannel or own echo (aside); or nothing clear, once it ended. */
export type OverlapKind = 'words' | 'aside' | 'unclear';

/** The words of a reply, and the stretch of it that was audible while an overlap was heard. */
export interface Sounded {
  readonly words: readonly TimedWord[];
  readonly fromMs: number;
  readonly toMs: number;
  /** Its audio, as far as it is kept. */
  readonly spoken?: SpokenContent;
}
