import { describe, expect, it } from 'vitest';
import { EngineError } from '../../voices/engine.ts';
import { Queue } from '../../voices/runtime/streams.ts';
import { fallbackRecognizer } from '../../voices/recognition/fallback-recognizer.ts';
import type { SpeechRecognizer } from '../../voices/recognizer.ts';
import { fallbackSynthesizer } from '../../voices/synthesis/fallback-synthesizer.ts';
import type { SpeechSynthesizer, Voice } from '../../voices/synthesizer.ts';
import { recognizerConformance } from '../conformance/recognizer.ts';
import { vadFrames } from '../fakes/speech-frames.ts';
import { synthesizerConformance } from '../conformance/synthesizer.ts';
import { alone } from '../conformance/upstream.ts';
import { fakeRecognizer } from '../fakes/recognizer.ts';
import { fakeSynthesizer } from '../fakes/synthesizer.ts';
import { tone } from '../fakes/vad.ts';
import { phrasesOf, streamOf } from '../fakes/spoken.ts';

const { signal } = new AbortController();
const lost = new EngineError('first', 'ENGINE_UNAVAILABLE', 'lost');
const voice: Voice = { kind: 'preset', id: 'fake' };
const fresh = <Engine>(make: () => Engine) => ({
  open: async () => alone(make()),
});

recognizerConformance({
  title: 'a chain whose first engine fails',
  ...fresh(() => fallbackRecognizer([failsAfter(3), fakeRecognizer(['hello there'])])),
  speech: tone(640, 16_000),
  says: /^hello there$/,
  abortsLate: 'as the fake in it',
});
synthesizerConformance({
  title: 'a chain whose first engine fails on the second phrase',
  ...fresh(() =>
    fallbackSynthesizer([
      { synthesizer: fakeSynthesizer({ failOn: 'What brings', error: lost }), voice },
      { synthesizer: fakeSynthesizer(), voice },
    ]),
  ),
  voice,
});

/** Fails after this many frames, or at the end. Returns an empty transcript for silence. */
function failsAfter(frames: number): SpeechRecognizer {
  return {
    name: 'first',
    sampleRate: 16_000,
    languages: ['de'],
    async *transcribe(audio, options) {
      let heard = 0;
      let voiced = false;
      options.signal.throwIfAborted();
      for await (const frame of audio) {
        options.signal.throwIfAborted();
        voiced ||= frame.voiced !== false;
        heard += 1;
        if (voiced && heard === 1) yield { type: 'transcript-partial', text: 'Hal' };
        if (voiced && heard === frames) throw lost;
      }
      yield { type: 'transcript-final', text: '' };
    },
  };
}

describe('recognizer chain', () => {
  const heard = () => streamOf(vadFrames(tone(640, 16_000), 16_000));

  it('the next recognizer of a chain gets the utterance from its beginning', async () => {
    const second = fakeRecognizer(['hello there']);
    const chain = fallbackRecognizer([failsAfter(10), second]);
    const parts = await Array.fromAsync(chain.transcribe(heard(), { signal }));
    expect(parts.map(({ text }) => text)).toEqual(['Hal', 'hello', 'hello there', 'hello there']);
    expect(second.heardMs).toEqual([45 * 32]);
    expect(chain).toMatchObject({ name: 'first, then fake-recognizer', languages: ['de', 'en'] });
  });

  it('a recognizer chain throws the error of its last engine', async () => {
    const last = new EngineError('second', 'ENGINE_TIMEOUT', 'late');
    const listening = fallbackRecognizer([failsAfter(3), fakeRecognizer([last])]).transcribe(heard(), { signal });
    await expect(Array.fromAsync(listening)).rejects.toBe(last);
  });

  it('a recognizer chain does not hide our own bugs', async () => {
    const bug = new TypeError('a bug');
    const chain = fallbackRecognizer([fakeRecognizer([bug]), fakeRecognizer(['hello'])]);
    await expect(Array.fromAsync(chain.transcribe(heard(), { signal }))).rejects.toBe(bug);
  });
});

describe('synthesizer chain', () => {
  it('a synthesizer chain loses no phrase that the failed engine had consumed', async () => {
    const asksAhead: SpeechSynthesizer = {
      ...fakeSynthesizer(),
      // oxlint-disable-next-line require-yield -- it fails before it says anything
      async *speak(phrases) {
        const iterator = phrases[Symbol.asyncIterator]();
        await iterator.next();
        void iterator.next();
        throw lost;
      },
    };
    const source = new Queue<{ text: string }>();
    source.push({ text: 'One. ' });
    setImmediate(() => {
      source.push({ text: 'Two. ' });
      source.push({ text: 'Three.' });
      source.end();
    });
    const second = fakeSynthesizer();
    const chain = fallbackSynthesizer([
      { synthesizer: asksAhead, voice },
      { synthesizer: second, voice },
    ]);
    await Array.fromAsync(chain.speak(source, { signal, voice }));
    expect(second.spoken).toEqual(['One. ', 'Two. ', 'Three.']);
  });

  /** Speaks this many words of a phrase, then fails. */
  function stumbles(words: number): SpeechSynthesizer {
    return {
      ...fakeSynthesizer(),
      async *speak(phrases) {
        for await (const { text } of phrases) {
          const said = text
            .split(/(?<=\s)/u)
            .slice(0, words)
            .join('');
          yield { frame: { samples: new Float32Array(2_400).fill(0.1), sampleRate: 24_000, atMs: 0 }, text: said };
          throw lost;
        }
      },
    };
  }

  it('a synthesizer chain continues with the unspoken words in the voice of the next engine', async () => {
    const second = fakeSynthesizer();
    const voices: Voice[] = [];
    const spy: SpeechSynthesizer = {
      ...second,
      speak(phrases, options) {
        voices.push(options.voice);
        return second.speak(phrases, options);
      },
    };
    const other: Voice = { kind: 'preset', id: 'other' };
    const chain = fallbackSynthesizer([
      { synthesizer: stumbles(2), voice },
      { synthesizer: spy, voice: other },
    ]);
    const chunks = await Array.fromAsync(chain.speak(phrasesOf('One two three. ', 'Four.'), { signal, voice }));
    expect(chunks.map(({ text }) => text)).toEqual(['One two ', 'three. ', 'Four.']);
    expect(chunks.map(({ frame }) => frame.atMs)).toEqual([0, 100, 200]);
    expect(second.spoken).toEqual(['three. ', 'Four.']);
    expect(voices).toEqual([other]);
  });
});
