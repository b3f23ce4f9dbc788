import { z } from 'zod';

/** Settings of the embedding server. Without one, retrieval is by keywords only. */
export const embeddingsFields = {
  embeddingsBaseUrl: z.url({ protocol: /^https?$/ }).optional(),
  embeddingsModel: z.string().min(1).optional(),
  embeddingsApiKey: z.string().min(1).optional(),
};

/** Environment variables and help texts of these settings. */
export const embeddingsFacts = {
  embeddingsBaseUrl: {
    env: 'DRAMATIS_EMBEDDINGS_BASE_URL',
    help: 'a server with /embeddings as OpenAI has it, to find lines, lore, experiences and memories by meaning too',
  },
  embeddingsModel: { env: 'DRAMATIS_EMBEDDINGS_MODEL', help: 'the embedding model there' },
  embeddingsApiKey: { env: 'DRAMATIS_EMBEDDINGS_API_KEY', help: 'its key, if it wants one', secret: true },
} as const;

/** Describes a problem with these settings. Undefined if there is none. */
export function embeddingsProblemOf(chosen: {
  readonly embeddingsBaseUrl?: string | undefined;
  readonly embeddingsModel?: string | undefined;
}): string | undefined {
  const { embeddingsBaseUrl, embeddingsModel } = chosen;
  if (embeddingsBaseUrl === undefined) return undefined;
  if (embeddingsModel === undefined)
    return 'DRAMATIS_EMBEDDINGS_BASE_URL is set but DRAMATIS_EMBEDDINGS_MODEL is not: name the model to use.';
  const { username, password } = new URL(embeddingsBaseUrl);
  if (username === '' && password === '') return undefined;
  return 'DRAMATIS_EMBEDDINGS_BASE_URL holds a user or a password: put the key into DRAMATIS_EMBEDDINGS_API_KEY.';
}
