import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { readAudioFile } from '../../../voices/dsp/audio-file.ts';
import { concatSamples, Rechunker, type AudioFrame } from '../../../voices/audio.ts';
import { Queue } from '../../../voices/runtime/streams.ts';
import { openMoonshine } from '../../../voices/recognizers/moonshine.ts';
import type { SpeechRecognizer, TranscriptPart } from '../../../voices/recognizer.ts';
import { openSilero } from '../../../voices/vads/silero.ts';
import { whiteNoise } from '../../fakes/voice-like.ts';
import { sharedAvailable, sharedPath } from '../../shared.ts';

const { signal } = new AbortController();
const moonshine = openMoonshine({ workers: 1 });
const silero = openSilero();
afterAll(() => Promise.all([moonshine.close(), silero.close()]));

type Final = Extract<TranscriptPart, { type: 'transcript-final' }>;

/** Windows of 32 ms with the flag of a VAD; `undefined`: no VAD. */
async function* windows(
  samples: Float32Array,
  voiced: (index: number) => boolean | undefined,
): AsyncGenerator<AudioFrame> {
  for (const [index, window] of new Rechunker(512).push(samples).entries()) {
    const flag = voiced(index);
    const frame = { samples: window, sampleRate: 16_000, atMs: index * 32 };
    yield flag === undefined ? frame : { ...frame, voiced: flag };
  }
}

async function partsOf(
  audio: AsyncIterable<AudioFrame>,
  recognizer: SpeechRecognizer = moonshine,
): Promise<TranscriptPart[]> {
  return Array.fromAsync(recognizer.transcribe(audio, { signal }));
}

/** The final transcript, after checking that there is exactly one, at the end. */
async function finalOf(audio: AsyncIterable<AudioFrame>, recognizer?: SpeechRecognizer): Promise<Final> {
  const parts = await partsOf(audio, recognizer);
  expect(parts.map(({ type }) => type === 'transcript-final')).toEqual(
    parts.map((_, index) => index === parts.length - 1),
  );
  return parts.at(-1) as Final;
}

const unflagged = (): undefined => undefined;
const wronglyVoiced = (): boolean => true;

async function load(file: string): Promise<Float32Array> {
  return (await readAudioFile(sharedPath(`audio/${file}`), { sampleRate: 16_000, signal })).samples;
}

/** The recording between half seconds of silence, flagged by the real VAD as in a session. */
async function asHeard(samples: Float32Array): Promise<AsyncIterable<AudioFrame>> {
  const padded = concatSamples([new Float32Array(8_192), samples, new Float32Array(8_192)]);
  const stream = silero.open();
  const scores = await Promise.all(new Rechunker(512).push(padded).map((window) => stream.score(window)));
  stream.close();
  return windows(padded, (index) => (scores[index] ?? 0) >= 0.5);
}

function louder(samples: Float32Array, decibels: number): Float32Array {
  return samples.map((value) => value * 10 ** (decibels / 20));
}

function plain(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[^a-z' ]+/g, ' ')
    .replaceAll(/ +/g, ' ')
    .trim();
}

const soundless: readonly (readonly [string, Float32Array])[] = [
  ['digital silence', new Float32Array(48_000)],
  ['faint noise', whiteNoise(48_000, 0.002)],
  ['loud noise', whiteNoise(80_000, 0.5)],
  ['a tone', Float32Array.from({ length: 32_000 }, (_, index) => 0.3 * Math.sin((2 * Math.PI * 440 * index) / 16_000))],
  ['clicks', Float32Array.from({ length: 32_000 }, (_, index) => (index % 8_000 < 4 ? 0.9 : 0))],
  ['a tenth of a second', whiteNoise(1_600, 0.1)],
  ['three samples', Float32Array.of(0.5, -0.5, 0.5)],
  ['nothing at all', new Float32Array(0)],
];

describe('Moonshine without speech', () => {
  it.each(soundless)('Moonshine hears nothing in %s without a VAD', async (_name, samples) => {
    expect(await finalOf(windows(samples, unflagged))).toMatchObject({ text: '' });
  });

  it.each(soundless)('Moonshine hears nothing in %s that the VAD took for a voice', async (_name, samples) => {
    expect(await finalOf(windows(samples, wronglyVoiced))).toMatchObject({ text: '' });
  });

  it('Moonshine does not run if the VAD heard no speech', async () => {
    const missing = openMoonshine({ modelDirectory: '/nonexistent' });
    expect(
      await finalOf(
        windows(whiteNoise(80_000, 0.3), () => false),
        missing,
      ),
    ).toEqual({ type: 'transcript-final', text: '' });
    await missing.close();
  });
});

describe('Moonshine and its callers', () => {
  it('Moonshine refuses another language at once and names the model to install', async () => {
    const audio = new Queue<AudioFrame>();
    const parts = await Array.fromAsync(moonshine.transcribe(audio, { signal, language: 'zh' }));
    expect(parts).toMatchObject([{ type: 'transcript-final', text: '', unclear: { code: 'language_not_supported' } }]);
    expect(JSON.stringify(parts)).toContain('sherpa-onnx');
  });

  it.each(['en', 'en-US', 'EN_gb'])('Moonshine takes %s for English', async (language) => {
    const audio = windows(new Float32Array(512), unflagged);
    expect(await Array.fromAsync(moonshine.transcribe(audio, { signal, language }))).toEqual([
      { type: 'transcript-final', text: '' },
    ]);
  });

  it('Moonshine stops with the reason of an abort while the final transcript is decoded', async () => {
    const controller = new AbortController();
    const audio = (async function* () {
      yield* windows(whiteNoise(160_000, 0.3), wronglyVoiced);
      setImmediate(() => controller.abort(new Error('hung up')));
    })();
    await expect(Array.fromAsync(moonshine.transcribe(audio, { signal: controller.signal }))).rejects.toThrow(
      'hung up',
    );
  });

  it('Moonshine refuses frames at another sample rate', async () => {
    const audio = (async function* () {
      yield { samples: new Float32Array(480), sampleRate: 48_000, atMs: 0 };
    })();
    await expect(partsOf(audio)).rejects.toMatchObject({ code: 'ENGINE_REFUSED' });
  });

  it('Moonshine says what to do if the model is missing', async () => {
    const missing = openMoonshine({ modelDirectory: '/nonexistent' });
    const failure = partsOf(windows(whiteNoise(16_000, 0.1), wronglyVoiced), missing);
    await expect(failure).rejects.toMatchObject({ code: 'ENGINE_MISSING', message: expect.stringContaining('npm ci') });
    await expect(missing.warm(signal)).rejects.toMatchObject({ code: 'ENGINE_MISSING' });
    await missing.close();
  });

  it('Moonshine says what to do if the model is damaged', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'dramatis-moonshine-'));
    for (const file of ['encoder_model.onnx', 'decoder_model_merged.onnx']) await writeFile(join(folder, file), 'oops');
    const damaged = openMoonshine({ modelDirectory: folder });
    await expect(damaged.warm(signal)).rejects.toMatchObject({ code: 'ENGINE_MISSING' });
    await damaged.close();
    await rm(folder, { recursive: true });
  });
});

describe.skipIf(!sharedAvailable)('Moonshine on recordings', () => {
  it.each([
    [
      'jfk.wav',
      'and so my fellow americans ask not what your country can do for you ask what you can do for your country',
    ],
    ['LJ001-0002.wav', 'in being comparatively modern'],
    ['LJ001-0004.wav', 'produced the block books which were the immediate predecessors of the true printed book'],
  ])('Moonshine hears every word of %s, with and without a VAD', async (file, text) => {
    const samples = await load(file);
    for (const audio of [await asHeard(samples), windows(samples, unflagged)]) {
      const final = await finalOf(audio);
      expect(plain(final.text)).toBe(text);
      expect(final.confidence).toBeGreaterThan(0.6);
      expect(final.language).toBe('en');
    }
  });

  it('Moonshine shows partial transcripts while the speaker continues', async () => {
    const audio = new Queue<AudioFrame>();
    const parts = moonshine.transcribe(audio, { signal })[Symbol.asyncIterator]();
    const frames = await Array.fromAsync(await asHeard(await load('jfk.wav')));
    for (const frame of frames.slice(0, 150)) audio.push(frame);
    const next = parts.next();
    const hush = setInterval(() => audio.push({ samples: new Float32Array(512), sampleRate: 16_000, atMs: 0 }), 5);
    const { value } = await next;
    clearInterval(hush);
    expect(value).toMatchObject({ type: 'transcript-partial', text: expect.stringMatching(/^and so/i) });
    await parts.return?.();
  });

  it('Moonshine understands English at a tenth of the loudness, in noise, and after a second of silence', async () => {
    const samples = await load('libri-2412-153948-0001.flac');
    const hiss = whiteNoise(samples.length, 0.006);
    const variants = [
      louder(samples, -20),
      samples.map((value, index) => value + (hiss[index] ?? 0)),
      concatSamples([whiteNoise(24_000, 0.0004), samples]),
    ];
    for (const variant of variants) {
      const { text } = await finalOf(await asHeard(variant));
      expect(plain(text)).toContain('it will be seen that i did not succeed in my design');
    }
  });

  it.each(['libri-1998-15444-0001.flac', 'libri-2412-153948-0000.flac', 'vad-labelled.wav'])(
    'Moonshine believes what it hears in %s',
    async (file) => {
      const samples = await load(file);
      expect((await finalOf(await asHeard(samples))).text).not.toBe('');
      expect((await finalOf(windows(samples, unflagged))).text).not.toBe('');
    },
  );

  it.each(['aishell-BAC009S0724W0121.wav', 'zh-speaker1-a.wav', 'zh-speaker1-b.wav', 'zh-speaker2-a.wav'])(
    'Moonshine rejects what it hears in the Chinese of %s, and says why',
    async (file) => {
      const samples = await load(file);
      for (const audio of [await asHeard(samples), windows(samples, unflagged)]) {
        const final = await finalOf(audio);
        expect(final.text).toBe('');
        expect(final.unclear?.code).toMatch(/^language_not_supported$|^low_confidence$/);
        expect(final.unclear?.message).toContain('sherpa-onnx');
      }
    },
  );

  it.each(['noise2.wav', 'background-music.wav'])('Moonshine hears nothing in %s', async (file) => {
    const samples = await load(file);
    for (const seconds of [3, 5, 10, 31]) {
      const cut = samples.subarray(-seconds * 16_000);
      expect(await finalOf(windows(cut, wronglyVoiced))).toEqual({
        type: 'transcript-final',
        text: '',
      });
    }
  });

  it('Moonshine transcribes all of a long speech, piece by piece', async () => {
    const [first, second, third] = await Promise.all([
      load('libri-2412-153948-0000.flac'),
      load('libri-2412-153948-0001.flac'),
      load('jfk.wav'),
    ]);
    const speech = concatSamples([first, second, third, first]);
    const text = plain((await finalOf(await asHeard(speech))).text);
    expect(text).toContain('i will say nothing of my antecedents');
    expect(text).toContain('succeed in my design');
    expect(text).toContain('what you can do for your country');
    expect(text.indexOf('my antecedents', 100)).toBeGreaterThan(text.indexOf('country'));
  });
});
