import type { Rating } from '../../characters/rating.ts';
import { EngineError, type CallOptions } from '../../voices/engine.ts';
import { isBeyond, wordsBeyond, type AllowedFrom, type ContentCategory } from './content-words.ts';

/** A model that returns the categories of a text. Throws `EngineError`. */
export interface Moderation {
  readonly name: string;
  categoriesOf(text: string, options: CallOptions): Promise<readonly ContentCategory[]>;
}

/** Judges a text: the category that the rating keeps back; undefined if it may be said. */
export type ContentJudge = (text: string, rating: Rating, options: CallOptions) => Promise<ContentCategory | undefined>;

/** The mildest rating under which a category may be said, if a model has found it. */
const allowedFrom: Readonly<Record<ContentCategory, AllowedFrom>> = {
  sexual: 'never',
  sexual_minors: 'never',
  hate: 'never',
  harassment: 'teen',
  self_harm: 'mature',
  violence: 'teen',
  illicit: 'mature',
  drugs: 'teen',
  profanity: 'teen',
};

/** Judges by our word list, then by a model if there is one. If that fails, only the word list decides. */
export function contentJudge(
  moderation?: Moderation,
  onFault: (fault: EngineError) => void = () => undefined,
): ContentJudge {
  return async (text, rating, options) => {
    const found = wordsBeyond(text, rating);
    if (found !== undefined || moderation === undefined || !/[\p{L}\p{N}]/u.test(text)) return found;
    try {
      const categories = await moderation.categoriesOf(text, options);
      return categories.find((category) => isBeyond(allowedFrom[category], rating));
    } catch (fault) {
      options.signal.throwIfAborted();
      if (!(fault instanceof EngineError)) throw fault;
      onFault(fault);
      return undefined;
    }
  };
}
