import { hash } from 'node:crypto';
import { EvalError } from '../../eval-error.ts';
import type { OpenBuild } from './build.ts';
import type { CallKey } from './model.ts';
import type { OnceWork } from './stage.ts';

/** Does work whose result is JSON, or takes the result from the journal. */
export async function once<Value>(
  { part = '', attempt = '0', by, input, isKept, make }: OnceWork<Value>,
  { stage, record }: Pick<CallKey, 'stage' | 'record'>,
  { journal, clock }: Pick<OpenBuild, 'journal' | 'clock'>,
): Promise<Value> {
  const key = { stage, record, part, attempt };
  const asked = hash('sha256', JSON.stringify([by, input]));
  const known = await journal.find(key, asked);
  if (known !== undefined) {
    const value = JSON.parse(known.reply) as Value;
    if (isKept === undefined || (await isKept(value))) return value;
  }
  const startMs = clock.now();
  const value = await make();
  const reply = JSON.stringify(value);
  await journal.append({
    ...key,
    input: asked,
    prompt: '',
    asked: by,
    answered: null,
    sampling: {},
    finish: 'stop',
    reply,
    inputTokens: 0,
    outputTokens: 0,
    cost: 0,
    ms: Math.round(clock.now() - startMs),
  });
  return JSON.parse(reply) as Value;
}

/** Embeds texts, or takes their vectors from the journal, where they are stored as base64. */
export async function embeddings(
  texts: readonly string[],
  place: Pick<CallKey, 'stage' | 'record'>,
  build: OpenBuild,
): Promise<readonly Float32Array[]> {
  const { embedder, signal } = build;
  if (embedder === undefined)
    throw new EvalError('usage', `The stage ${place.stage} compares texts and needs --embedder URL#MODEL.`);
  const make = async (): Promise<readonly string[]> => {
    const vectors = await embedder.embed(texts, { signal });
    return vectors.map(({ buffer, byteOffset, byteLength }) =>
      Buffer.from(buffer, byteOffset, byteLength).toString('base64'),
    );
  };
  return (await once({ part: 'embed', by: embedder.model, input: texts, make }, place, build)).map(vectorOf);
}

function vectorOf(base64: string): Float32Array {
  return new Float32Array(Uint8Array.from(Buffer.from(base64, 'base64')).buffer);
}
