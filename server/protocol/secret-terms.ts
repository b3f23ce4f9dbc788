import { z } from 'zod';
import { ratings } from '../../characters/rating.ts';

/** Terms of a client secret: what its sessions may do, which the client cannot change. */
export const secretTerms = z.object({
  /** Characters that its sessions may change to, besides the one that it was made for; scenes as `scene:ID`. */
  characters: z.array(z.string().min(1).max(256)).max(64).optional(),
  /** Audience for which the words of its sessions must be fit; the stricter of this and the card's holds. */
  rating: z.enum(ratings).optional(),
  /** Most that its sessions may spend together; afterwards characters answer with their own lines. */
  limits: z
    .object({
      replies: z.number().int().min(1).max(1_000_000),
      /** Tokens that LLMs read and write. */
      tokens: z.number().int().min(1).max(1_000_000_000),
      /** Speech of characters, in seconds. */
      audio_s: z.number().min(1).max(10_000_000),
      /** Money, at the prices of the server. */
      cost: z.number().positive().max(1_000_000),
    })
    .partial()
    .optional(),
});

export type SecretTerms = z.infer<typeof secretTerms>;
