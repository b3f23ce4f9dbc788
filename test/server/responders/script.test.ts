import { describe, expect, it } from 'vitest';
import { openFlite } from '../../../voices/synthesizers/flite.ts';
import type { SpeechChunk } from '../../../voices/synthesizer.ts';
import { openScript } from '../../../server/responders/script.ts';
import type { FeltPhrase, RestOfPhrase } from '../../../server/session/contract/responder.ts';

const texts = ['Down, down, down. ', 'Would the fall never come to an end? ', 'I wonder how many miles.'];

async function* felt(phrases: readonly string[]): AsyncIterable<FeltPhrase> {
  for (const text of phrases) yield { text };
}

/** Speaks phrases with Flite, after the rest of one that was cut. */
async function speak(phrases: readonly string[], before?: { readonly heard: string; readonly rest: RestOfPhrase }) {
  await using engine = Object.assign(openFlite(), {
    async [Symbol.asyncDispose]() {
      await engine.close();
    },
  });
  const { signal } = new AbortController();
  const voice = { kind: 'preset', id: 'slt' } as const;
  const script = openScript(before ?? {});
  const chunks: SpeechChunk[] = [];
  const begun: (RestOfPhrase & { readonly atSamples: number })[] = [];
  let atSamples = 0;
  for await (const { chunk, begins } of script.follow(
    engine.speak(script.phrases(felt(phrases)), { signal, voice, speed: 1 }),
  )) {
    if (begins !== undefined) begun.push({ ...begins, atSamples });
    chunks.push(chunk);
    atSamples += chunk.frame.samples.length;
  }
  return {
    samples: chunks.flatMap(({ frame }) => [...frame.samples]),
    text: chunks.map(({ text }) => text).join(''),
    words: chunks.flatMap(({ words = [] }) => words),
    begun,
  };
}

describe('openScript', () => {
  it('continues in the middle of a phrase with the same samples, in another engine', async () => {
    const whole = await speak(texts);
    expect(whole.begun.map(({ text, before, saidMs }) => [before, text, saidMs])).toEqual(
      texts.map((text, at) => [texts.slice(0, at).join(''), text, 0]),
    );
    const second = whole.begun[1]!;
    for (const cut of [second.atSamples, second.atSamples + 12_345]) {
      const saidMs = (cut - second.atSamples) / 24;
      const { atSamples: _, ...phrase } = second;
      const rest = await speak(texts.slice(2), { heard: texts.slice(0, 2).join(''), rest: { ...phrase, saidMs } });
      expect(rest.samples).toEqual(whole.samples.slice(cut));
      expect(whole.text.endsWith(rest.text)).toBe(true);
      expect(rest.begun.map(({ before, saidMs: said }) => [before, said])).toEqual([
        [texts[0], saidMs],
        [texts.slice(0, 2).join(''), 0],
      ]);
      expect(rest.words.every(({ startMs }) => startMs >= 0)).toBe(true);
    }
  }, 30_000);
});
