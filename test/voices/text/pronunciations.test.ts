import { describe, expect, it } from 'vitest';
import { withSpeakingStyle } from '../../../voices/text/speaking-style.ts';
import type { SpeechChunk } from '../../../voices/synthesizer.ts';
import { fakeSynthesizer } from '../../fakes/synthesizer.ts';

const voice = { kind: 'preset', id: 'fake' } as const;

async function say(text: string, pronunciations: Record<string, string>, pace = 1) {
  const engine = fakeSynthesizer();
  const speeds: (number | undefined)[] = [];
  const watched = {
    ...engine,
    speak(...[phrases, options]: Parameters<typeof engine.speak>) {
      speeds.push(options.speed);
      return engine.speak(phrases, options);
    },
  };
  const chunks: SpeechChunk[] = [];
  const phrases = (async function* () {
    yield { text };
  })();
  const options = { signal: AbortSignal.timeout(5_000), voice };
  for await (const chunk of withSpeakingStyle(watched, { pace, pronunciations }).speak(phrases, options))
    chunks.push(chunk);
  const told = chunks.map((chunk) => chunk.text).join('');
  const words = chunks.flatMap((chunk) => chunk.words ?? []).map((word) => word.text.trim());
  return { spoken: engine.spoken.join(''), told, words, speeds };
}

describe('pronunciations and speaking rate', () => {
  it('pronunciations respell words for the voice, and the transcript keeps the spelling', async () => {
    const said = await say('Captain Nemo and the Nautilus, nautilus-like.', { Nautilus: 'Nawtilus', Nemo: 'Neemoh' });
    expect(said.spoken).toBe('Captain Neemoh and the Nawtilus, Nawtilus-like.');
    expect(said.told).toBe('Captain Nemo and the Nautilus, Nautilus-like.');
    expect(said.words).toContain('Nemo');
  });

  it('pronunciations replace whole words, the longer first, and in Chinese anywhere', async () => {
    expect((await say('Mont and Montague and Montagues', { Mont: 'Mon', Montague: 'Montag' })).spoken).toBe(
      'Mon and Montag and Montagues',
    );
    expect((await say('去长安城吧', { 长安: '常安' })).spoken).toBe('去常安城吧');
  });

  it('the character’s speaking rate multiplies the speed of the session', async () => {
    expect((await say('One.', {}, 0.8)).speeds).toEqual([0.8]);
  });

  it('the synthesizer is returned unchanged if there is nothing to change', () => {
    const engine = fakeSynthesizer();
    expect(withSpeakingStyle(engine, { pace: 1, pronunciations: {} })).toBe(engine);
  });
});
