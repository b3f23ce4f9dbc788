import { describe, expect, it } from 'vitest';
import { openSpeechCache } from '../../../voices/synthesis/speech-cache.ts';
import type { SpeechChunk, SpeechSynthesizer } from '../../../voices/synthesizer.ts';
import { settle } from '../../fakes/clock.ts';
import { fakeSynthesizer } from '../../fakes/synthesizer.ts';
import { phrasesOf } from '../../fakes/spoken.ts';

const { signal } = new AbortController();
const voice = { kind: 'preset', id: 'fake' } as const;
const how = { signal, voice };

async function all(chunks: AsyncIterable<SpeechChunk>): Promise<string> {
  return (await Array.fromAsync(chunks)).map(({ text }) => text).join('');
}

/** A synthesizer that says each text only when it is told to go on. */
function slowSynthesizer() {
  const calls: { readonly signal: AbortSignal; readonly isBackground: () => boolean; goOn(): void }[] = [];
  const speech = fakeSynthesizer();
  const synthesizer: SpeechSynthesizer = {
    ...speech,
    async *speak(phrases, options) {
      const gate = Promise.withResolvers<void>();
      const { isBackground = () => false } = options;
      calls.push({ signal: options.signal, isBackground, goOn: gate.resolve });
      options.signal.addEventListener('abort', () => gate.reject(options.signal.reason));
      await gate.promise;
      yield* speech.speak(phrases, options);
    },
  };
  return { synthesizer, calls };
}

describe('speech cache', () => {
  it('synthesizes a cached line once per voice, speed and synthesizer', async () => {
    const synthesizer = fakeSynthesizer();
    const cache = openSpeechCache();
    const line = () => phrasesOf('Good day. ', 'Who are you?');
    expect(await all(cache.speak(synthesizer, line(), how))).toBe('Good day. Who are you?');
    expect(await all(cache.speak(synthesizer, line(), how))).toBe('Good day. Who are you?');
    expect(synthesizer.spoken).toHaveLength(2);
    await all(cache.speak(synthesizer, line(), { ...how, speed: 1.2 }));
    await all(cache.speak(synthesizer, line(), { signal, voice: { ...voice, id: 'other' } }));
    expect(synthesizer.spoken).toHaveLength(6);
    const other = fakeSynthesizer();
    await all(cache.speak(other, line(), how));
    expect(other.spoken).toHaveLength(2);
  });

  it('holds a line that was prepared in advance', async () => {
    const synthesizer = fakeSynthesizer();
    const cache = openSpeechCache();
    await cache.prepare(synthesizer, ['Good day.'], { ...how, speed: 1 });
    expect(synthesizer.spoken).toEqual(['Good day.']);
    expect(await all(cache.speak(synthesizer, phrasesOf('Good day.'), how))).toBe('Good day.');
    expect(synthesizer.spoken).toHaveLength(1);
  });

  it('does not keep a line that failed, and a failure in advance affects no session', async () => {
    const synthesizer = fakeSynthesizer({ failOn: 'day', error: new Error('no voice') });
    const cache = openSpeechCache();
    await cache.prepare(synthesizer, ['Good day.'], how);
    await expect(all(cache.speak(synthesizer, phrasesOf('Good day.'), how))).rejects.toThrow('no voice');
  });

  it('synthesizes a line once for all sessions that open at the same time', async () => {
    const { synthesizer, calls } = slowSynthesizer();
    const cache = openSpeechCache();
    const sessions = Array.from({ length: 60 }, () => cache.prepare(synthesizer, ['Good day.'], how));
    const spoken = all(cache.speak(synthesizer, phrasesOf('Good day.'), how));
    await settle();
    expect(calls).toHaveLength(1);
    calls[0]?.goOn();
    await Promise.all(sessions);
    expect(await spoken).toBe('Good day.');
  });

  it('stops synthesizing when the last session that waits for a line has left', async () => {
    const { synthesizer, calls } = slowSynthesizer();
    const cache = openSpeechCache();
    const [first, second] = [new AbortController(), new AbortController()];
    const prepared = [first, second].map((life) =>
      cache.prepare(synthesizer, ['Good day.', 'Who are you?'], { voice, signal: life.signal }),
    );
    await settle();
    first.abort();
    await settle();
    expect(calls[0]?.signal.aborted).toBe(false);
    second.abort();
    await Promise.all(prepared);
    expect(calls[0]?.signal.aborted).toBe(true);
    expect(calls).toHaveLength(1);
  });

  it('prepares lines in the background until a session speaks one of them', async () => {
    const { synthesizer, calls } = slowSynthesizer();
    const cache = openSpeechCache();
    const prepared = cache.prepare(synthesizer, ['Good day.'], how);
    await settle();
    expect(calls[0]?.isBackground()).toBe(true);
    const spoken = all(cache.speak(synthesizer, phrasesOf('Good day.'), how));
    await settle();
    expect(calls[0]?.isBackground()).toBe(false);
    calls[0]?.goOn();
    await prepared;
    expect(await spoken).toBe('Good day.');
  });

  it('evicts the least recently spoken lines beyond its bytes', async () => {
    const synthesizer = fakeSynthesizer();
    const bytes = (await Array.fromAsync(synthesizer.speak(phrasesOf('a.'), how)))[0]?.frame.samples.byteLength ?? 0;
    const cache = openSpeechCache({ maxBytes: 2 * bytes });
    synthesizer.spoken.splice(0);
    for (const line of ['a.', 'b.', 'a.', 'c.', 'a.', 'b.']) await all(cache.speak(synthesizer, phrasesOf(line), how));
    expect(synthesizer.spoken).toEqual(['a.', 'b.', 'c.', 'b.']);
  });

  it('speaks a line of over 1,000 characters without keeping it, and prepares none', async () => {
    const synthesizer = fakeSynthesizer();
    const cache = openSpeechCache();
    const line = `${'so '.repeat(400)}.`;
    await cache.prepare(synthesizer, [line], how);
    expect(synthesizer.spoken).toEqual([]);
    for (const _ of [1, 2]) expect(await all(cache.speak(synthesizer, phrasesOf(line), how))).toBe(line);
    expect(synthesizer.spoken).toHaveLength(2);
  });

  it('prepares no more than 16 of a card’s greetings', async () => {
    const synthesizer = fakeSynthesizer();
    await openSpeechCache().prepare(
      synthesizer,
      Array.from({ length: 1_000 }, (_unused, place) => `Greeting ${place}.`),
      how,
    );
    expect(synthesizer.spoken).toHaveLength(16);
  });

  it('refuses to speak for a caller that is gone', async () => {
    const stopped = AbortSignal.abort(new Error('enough'));
    const spoken = openSpeechCache().speak(fakeSynthesizer(), phrasesOf('One.'), { signal: stopped, voice });
    await expect(all(spoken)).rejects.toThrow('enough');
  });
});
