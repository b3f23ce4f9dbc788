import { z } from 'zod';

/** Terms of a client secret: what its sessions may do, which the client cannot change. */
export const secretTerms = z.object({
  /** Characters that its sessions may change to, besides the one that it was made for; scenes as `scene:ID`. */
  characters: z.array(z.string().min(1).max(256)).max(64).optional(),
});

export type SecretTerms = z.infer<typeof secretTerms>;
