import { describe, expect, it } from 'vitest';
import { openSpeechCache } from '../../../voices/synthesis/speech-cache.ts';
import type { SpeechChunk } from '../../../voices/synthesizer.ts';
import { fakeSynthesizer } from '../../fakes/synthesizer.ts';
import { phrasesOf } from '../../fakes/spoken.ts';

const { signal } = new AbortController();
const voice = { kind: 'preset', id: 'fake' } as const;

async function all(chunks: AsyncIterable<SpeechChunk>): Promise<string> {
  return (await Array.fromAsync(chunks)).map(({ text }) => text).join('');
}

describe('speech cache', () => {
  it('a cached line is synthesized once per voice and speed', async () => {
    const synthesizer = fakeSynthesizer();
    const said = openSpeechCache(synthesizer);
    expect(await all(said.speak(phrasesOf('Good day. ', 'Who are you?'), { signal, voice }))).toBe(
      'Good day. Who are you?',
    );
    expect(await all(said.speak(phrasesOf('Good day. ', 'Who are you?'), { signal, voice }))).toBe(
      'Good day. Who are you?',
    );
    expect(synthesizer.spoken).toHaveLength(2);
    await all(said.speak(phrasesOf('Good day. ', 'Who are you?'), { signal, voice, speed: 1.2 }));
    await all(said.speak(phrasesOf('Good day. ', 'Who are you?'), { signal, voice: { ...voice, id: 'other' } }));
    expect(synthesizer.spoken).toHaveLength(6);
  });

  it('a line prepared in advance is in the speech cache', async () => {
    const synthesizer = fakeSynthesizer();
    const said = openSpeechCache(synthesizer);
    await said.prepare('Good day.', { signal, voice, speed: 1 });
    expect(synthesizer.spoken).toEqual(['Good day.']);
    expect(await all(said.speak(phrasesOf('Good day.'), { signal, voice }))).toBe('Good day.');
    expect(synthesizer.spoken).toHaveLength(1);
  });

  it('a failed line is not cached, and a failure in advance affects nobody', async () => {
    const synthesizer = fakeSynthesizer({ failOn: 'day', error: new Error('no voice') });
    const said = openSpeechCache(synthesizer);
    await said.prepare('Good day.', { signal, voice });
    await expect(all(said.speak(phrasesOf('Good day.'), { signal, voice }))).rejects.toThrow('no voice');
  });

  it('a line that nobody heard to its end is not cached', async () => {
    const synthesizer = fakeSynthesizer();
    const said = openSpeechCache(synthesizer);
    for await (const _ of said.speak(phrasesOf('One. ', 'Two.'), { signal, voice })) break;
    expect(await all(said.speak(phrasesOf('One. ', 'Two.'), { signal, voice }))).toBe('One. Two.');
  });

  it('the speech cache evicts the oldest lines when it is full', async () => {
    const synthesizer = fakeSynthesizer();
    const said = openSpeechCache(synthesizer);
    const long = (name: string): string => Array.from({ length: 300 }, () => name).join(' ');
    for (const name of ['a', 'b', 'c']) await all(said.speak(phrasesOf(long(name)), { signal, voice }));
    await all(said.speak(phrasesOf(long('c')), { signal, voice }));
    await all(said.speak(phrasesOf(long('a')), { signal, voice }));
    expect(synthesizer.spoken.map((text) => text[0])).toEqual(['a', 'b', 'c', 'a']);
  });

  it('preparing a line stops when nobody wants it any more', async () => {
    const said = openSpeechCache(fakeSynthesizer());
    const stopped = AbortSignal.abort(new Error('enough'));
    await expect(all(said.speak(phrasesOf('One.'), { signal: stopped, voice }))).rejects.toThrow('enough');
  });
});
