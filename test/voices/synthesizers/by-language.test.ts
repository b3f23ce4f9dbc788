import { afterAll, describe, expect, it } from 'vitest';
import type { Phrase, SpeechSynthesizer } from '../../../voices/synthesizer.ts';
import { byLanguage } from '../../../voices/synthesizers/by-language.ts';
import { openEmbeddedVoices } from '../../../voices/synthesizers/embedded.ts';
import { isEspeakInstalled } from '../../../voices/synthesizers/espeak.ts';
import { lengthMs, speakAll } from '../synthesis/speaking.ts';
import { phrasesOf } from '../../fakes/spoken.ts';

/** Speaks 100 ms of silence per phrase, and records the voice. */
function silent(name: string, sampleRate: number, languages: readonly string[], log: string[]): SpeechSynthesizer {
  return {
    name,
    sampleRate,
    languages,
    async *speak(phrases, { signal, voice }) {
      let atMs = 0;
      for await (const { text } of phrases) {
        signal.throwIfAborted();
        log.push(`${name} ${voice.kind === 'preset' ? voice.id : voice.wavPath}: ${text}`);
        yield { frame: { samples: new Float32Array(sampleRate / 10), sampleRate, atMs }, text };
        atMs += 100;
      }
    },
  };
}

function pair(withOther: boolean): { readonly synthesizer: SpeechSynthesizer; readonly log: string[] } {
  const log: string[] = [];
  const english = silent('first', 16_000, ['en'], log);
  const other = withOther ? silent('second', 24_000, ['en', 'fr', 'zh', 'ru'], log) : undefined;
  return { log, synthesizer: byLanguage({ english, other, otherVoice: { kind: 'preset', id: 'b' } }) };
}

const voice = { kind: 'preset', id: 'a' } as const;

describe('synthesizer by language', () => {
  it('each phrase goes to the engine of its script, in that engine’s voice, in order', async () => {
    const { synthesizer, log } = pair(true);
    const texts = ['Hello. ', '1815!', '你好。', 'Привет.', 'My name is 孙悟空.', 'Bye.'];
    const chunks = await speakAll(synthesizer, voice, texts);
    expect(chunks.map(({ text }) => text)).toEqual(texts);
    expect(log.map((line) => line.split(':')[0])).toEqual([
      'first a',
      'first a',
      'second b',
      'second b',
      'second b',
      'first a',
    ]);
  });

  it('all phrases have one sample rate and one clock', async () => {
    const chunks = await speakAll(pair(true).synthesizer, voice, ['Hello.', '你好。', 'Bye.']);
    expect(chunks.map(({ frame }) => [frame.sampleRate, frame.samples.length])).toEqual([
      [16_000, 1600],
      [16_000, 1600],
      [16_000, 1600],
    ]);
    expect(chunks.map(({ frame }) => frame.atMs)).toEqual([0, 100, 200]);
  });

  it('another language in Latin letters goes to the other engine, English in a Chinese session does not', async () => {
    const french = pair(true);
    await speakAll(french.synthesizer, voice, ['Bonjour.'], { language: 'fr-CA' });
    expect(french.log).toEqual(['second b: Bonjour.']);
    const chinese = pair(true);
    await speakAll(chinese.synthesizer, voice, ['Hello.'], { language: 'zh' });
    expect(chinese.log).toEqual(['first a: Hello.']);
  });

  it('without the other engine mostly Latin text is spoken, and the rest is reported as missing', async () => {
    const { synthesizer, log } = pair(false);
    const speech = speakAll(synthesizer, voice, ['Hello.', 'My name is Wukong, 悟空.', '你好，世界。']);
    await expect(speech).rejects.toMatchObject({ code: 'ENGINE_MISSING' });
    expect(log).toEqual(['first a: Hello.', 'first a: My name is Wukong, 悟空.']);
    expect(synthesizer.languages).toEqual(['en']);
  });

  it('the synthesizer by language repeats a phrase if the engine of that phrase does', () => {
    const english = { ...silent('first', 16_000, ['en'], []), isRepeatable: () => true };
    const seeded: SpeechSynthesizer['isRepeatable'] = (_, { seed, voice: { kind } }) =>
      seed !== undefined && kind === 'preset';
    const other = { ...silent('second', 24_000, ['zh'], []), isRepeatable: seeded };
    const synthesizer = byLanguage({ english, other, otherVoice: { kind: 'preset', id: 'b' } });
    const repeats = (text: string, seed?: number): boolean | undefined =>
      synthesizer.isRepeatable?.({ text }, seed === undefined ? { voice } : { voice, seed });
    expect([repeats('Hello.'), repeats('你好。'), repeats('你好。', 7)]).toEqual([true, false, true]);
    const alone = byLanguage({ english, otherVoice: voice });
    expect(alone.isRepeatable?.({ text: '你好。' }, { voice })).toBe(false);
  });

  it('the synthesizer by language closes its source when the reader leaves', async () => {
    let closed = false;
    async function* source(): AsyncGenerator<Phrase> {
      try {
        for (;;) yield { text: 'Hello.' };
      } finally {
        closed = true;
      }
    }
    const { signal } = new AbortController();
    for await (const chunk of pair(true).synthesizer.speak(source(), { signal, voice })) {
      expect(chunk.text).toBe('Hello.');
      break;
    }
    expect(closed).toBe(true);
  });

  it('the synthesizer by language passes on the failure of its source and the reason of an abort', async () => {
    async function* failing(): AsyncGenerator<Phrase> {
      yield { text: 'Hello.' };
      throw new Error('no more text');
    }
    const { signal } = new AbortController();
    await expect(Array.fromAsync(pair(true).synthesizer.speak(failing(), { signal, voice }))).rejects.toThrow(
      'no more text',
    );
    const reason = new Error('hung up');
    const aborted = pair(true).synthesizer.speak(phrasesOf('Hello.'), { signal: AbortSignal.abort(reason), voice });
    await expect(Array.fromAsync(aborted)).rejects.toBe(reason);
  });
});

describe('embedded voices', () => {
  const voices = openEmbeddedVoices();
  afterAll(() => voices.close());

  it('the embedded voices speak as any character, with any card', async () => {
    await voices.warm(new AbortController().signal);
    const alice = voices.forCharacter({ gender: 'female', flite: { id: 'slt', pitch: 1.4, rate: 1 } });
    const nobody = voices.forCharacter({ gender: 'female' });
    expect(alice.voice).toEqual({ kind: 'preset', id: 'slt', pitch: 1.4, rate: 1 });
    expect(nobody.voice).toEqual({ kind: 'preset', id: 'slt', pitch: 1, rate: 1 });
    const chunks = await speakAll(alice.synthesizer, alice.voice, ['Oh dear!']);
    expect(chunks[0]?.frame.sampleRate).toBe(voices.sampleRate);
    expect(lengthMs(chunks)).toBeGreaterThan(300);
  });

  it('warming up the embedded voices stops when aborted', async () => {
    const reason = new Error('stopped');
    await expect(voices.warm(AbortSignal.abort(reason))).rejects.toBe(reason);
  });

  it.skipIf(!isEspeakInstalled())('the embedded voices speak English and Chinese in turn', async () => {
    const { synthesizer, voice: own } = voices.forCharacter({
      flite: { id: 'awb' },
      espeak: { id: 'cmn+m3', pitch: 1.2 },
    });
    const chunks = await speakAll(synthesizer, own, ['I am the Monkey King. ', '俺老孙来也！', 'Ha!']);
    expect(chunks.map(({ text }) => text).join('')).toBe('I am the Monkey King. 俺老孙来也！Ha!');
    expect(new Set(chunks.map(({ frame }) => frame.sampleRate))).toEqual(new Set([24_000]));
    expect(chunks[2]?.frame.atMs).toBeCloseTo(lengthMs(chunks.slice(0, 2)), 6);
  });
});
