import type { ContentJudge } from '../../agents/guardrails/content-judge.ts';
import type { ContentCategory } from '../../agents/guardrails/content-words.ts';
import { withRating, type KeptBack } from '../../agents/guardrails/with-rating.ts';
import type { Character } from '../../characters/character.ts';
import { strictest, type Rating } from '../../characters/rating.ts';
import type { Responder } from '../session/contract/responder.ts';

interface Responders {
  responderFor(character: Character): Responder;
}

/**
 * Returns the responders with their words, and those of the user, judged by the stricter of the card's rating and
 * `rating`. A character without either is not judged.
 */
export function rated(
  engines: Responders,
  rating: Rating | undefined,
  { judge, onKeptBack }: { readonly judge: ContentJudge; readonly onKeptBack: (kept: KeptBack) => void },
): Responders {
  return {
    responderFor(character) {
      const responder = engines.responderFor(character);
      const cast = character.stage?.cast ?? [character];
      const present = strictest(rating, ...cast.map((one) => one.rating));
      if (present === undefined) return responder;
      const known = new Map<string, Promise<ContentCategory | undefined>>();
      return {
        ...responder,
        // In a scene all hear each other, so the strictest rating holds for all.
        reply: (history, options) =>
          responder.reply(history, {
            ...options,
            through: (agent) =>
              withRating(options.through?.(agent) ?? agent, { rating: present, judge, onKeptBack, known }),
          }),
      };
    },
  };
}
