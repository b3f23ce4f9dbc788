import type { FollowUpKind } from '../../characters/card.ts';
import type { Act } from './acts/act-network.ts';
import type { Shape, YesOrNo } from './shapes.ts';
import { chineseLines } from './stock-lines-chinese.ts';
import { englishLines } from './stock-lines-english.ts';

/**
 * Replies to acts for which a card has no line of its own, in words that suit any character. `{…}` is filled in; a line
 * whose slot is unknown is left out.
 */
export interface StockLines {
  readonly acts: Readonly<Partial<Record<Act, readonly string[]>>>;
  /** Answers to messages of these shapes that no line fits; each asks something back. */
  readonly shapes: Readonly<Record<Shape, readonly string[]>>;
  /** The same to what users would or could not do in the character's place. */
  readonly understood: readonly string[];
  /** To "I'm fine, thanks". */
  readonly well: readonly string[];
  /** The same to a reaction of a few words. */
  readonly reactions: readonly string[];
  /** Answers to yes-or-no questions about the character that no line fits, by what they ask for. */
  readonly yesOrNo: Readonly<Record<YesOrNo, readonly string[]>>;
  /** Answers to short questions about the line said last that no line fits, by what they ask for. */
  readonly followUps: Readonly<Record<FollowUpKind, readonly string[]>>;
  /** Said before the card's own line for an introduction. */
  readonly introduced: string;
  readonly introducedAs: string;
  readonly ownFact: readonly string[];
  readonly ownName: readonly string[];
  /** If the user has not said the fact in question, but has said something else. */
  readonly ownFactPartly: readonly string[];
  readonly ownFactUnknown: readonly string[];
  /** Said before a line that was said before. */
  readonly repeats: readonly string[];
  /** Asks what "it" is. */
  readonly clarifies: readonly string[];
  /** Answers to a question about "him" or "it" if the character has no more lines about it. */
  readonly judges: readonly string[];
  /** When the user has explained a thing that the character did not know. */
  readonly explained: readonly string[];
  /** To "I heard that you were a lawyer". */
  readonly hearsay: readonly string[];
  /** After a question about a thing that only the user knows. */
  readonly yoursToTell: readonly string[];
  readonly unknownThings: readonly string[];
  /** Declines a second question in a row, and tells of a subject of the card instead: `{topic}` and its `{line}`. */
  readonly tells: readonly string[];
  readonly returnsQuestion: readonly string[];
}

/** Stock lines in the language of this tag; English if there are none. */
export function stockLines(language: string): StockLines {
  return language.startsWith('zh') ? chineseLines : englishLines;
}
