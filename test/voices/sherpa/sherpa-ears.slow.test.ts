import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import llamaTokenizer from 'llama-tokenizer-js';
import { describe, expect, it } from 'vitest';
import { concatSamples, type AudioFrame } from '../../../voices/audio.ts';
import { Queue } from '../../../voices/runtime/streams.ts';
import { findMoonshine } from '../../../voices/recognizers/moonshine.ts';
import { adapter } from '../../../voices/sherpa/recognizer.ts';
import { resample } from '../../../voices/dsp/resampler.ts';
import { languagesOf, recognizerConfig, recognizerSettings } from '../../../voices/sherpa/recognizer-settings.ts';
import { openFlite } from '../../../voices/synthesizers/flite.ts';
import type { SpeechRecognizer, TranscriptPart } from '../../../voices/recognizer.ts';
import { recognizerConformance } from '../../conformance/recognizer.ts';
import { alone } from '../../conformance/upstream.ts';
import { vadFrames } from '../../fakes/speech-frames.ts';
import { isInstalled } from '../../fakes/models/installed.ts';
import { tinyParaformer, tinySenseVoice, tinyWhisper, tinyZipformer } from '../../fakes/models/tiny-recognizers.ts';
import { tinyFiles, type TinyFiles } from '../../fakes/models/tiny-model.ts';
import { tinyCapitals, tinyPunctuation } from '../../fakes/models/tiny-punctuation.ts';
import { tone } from '../../fakes/vad.ts';
import { keptForTests, openEngine, say } from '../../rigs/voice-engine-rig.ts';
import { streamOf } from '../../fakes/spoken.ts';

const { signal } = new AbortController();
const { folder, keep } = await keptForTests();

async function filesIn(name: string): Promise<TinyFiles> {
  await mkdir(path.join(folder, name));
  return tinyFiles(path.join(folder, name));
}

const open = (settings: Record<string, unknown>) => keep(openEngine(adapter, settings));

const kept = (engine: SpeechRecognizer) => ({
  open: async () => alone(engine),
});

async function hear(engine: SpeechRecognizer, speech: Float32Array): Promise<TranscriptPart[]> {
  return Array.fromAsync(engine.transcribe(streamOf(vadFrames(speech, engine.sampleRate)), { signal }));
}

const textOf = (parts: readonly TranscriptPart[]): string => parts.at(-1)?.text ?? '';
const words = ['GOOD', 'EVENING', 'MARTHA'];
const speech = tone(1_600, 16_000);

const zipformer = { family: 'streaming-zipformer', files: await tinyZipformer(await filesIn('zipformer'), words) };
const paraformer = {
  family: 'streaming-paraformer',
  files: await tinyParaformer(await filesIn('paraformer'), ['good', 'evening', 'martha']),
};
const senseVoice = {
  family: 'sense-voice',
  files: await tinySenseVoice(await filesIn('sense-voice'), ['good', 'evening', 'Martha.']),
};
const whisper = {
  family: 'whisper',
  files: await tinyWhisper(await filesIn('whisper'), ['good', 'evening', 'Martha.']),
};

/** Moonshine's real weights come with one of our packages; its tokens are Llama's. */
async function moonshine(): Promise<Record<string, unknown>> {
  const place = findMoonshine();
  const tokens = path.join(folder, 'moonshine-tokens.txt');
  const list = Array.from({ length: 32_768 }, (_, id) => llamaTokenizer.vocabById[id] ?? `<<ST_${id}>>`);
  await writeFile(tokens, list.map((token, id) => `${Buffer.from(token).toString('base64')} ${id}\n`).join(''));
  const pinned = async (file: string) => {
    const hash = createHash('sha256');
    for await (const block of createReadStream(file)) hash.update(block as Buffer);
    return { path: file, sha256: hash.digest('hex') };
  };
  return {
    family: 'moonshine',
    files: {
      encoder: await pinned(path.join(place, 'encoder_model.onnx')),
      decoder: await pinned(path.join(place, 'decoder_model_merged.onnx')),
      tokens: await pinned(tokens),
    },
  };
}

const flite = keep(openFlite());
const chunks = await say(flite, { kind: 'preset', id: 'rms' }, { text: 'The weather is fine today.' });
const spoken = resample(concatSamples(chunks.map(({ frame }) => frame.samples)), flite.sampleRate, 16_000);

const trueMoonshine = await moonshine();
const says = /good evening martha/i;
describe.skipIf(!isInstalled('sherpa-onnx-node'))('with the optional package sherpa-onnx-node', async () => {
  recognizerConformance({ title: 'sherpa-onnx, streaming Zipformer', ...kept(open(zipformer)), speech, says });
  recognizerConformance({
    title: 'sherpa-onnx, streaming Paraformer',
    ...kept(open(paraformer)),
    speech: tone(1_900, 16_000),
    says,
  });
  recognizerConformance({ title: 'sherpa-onnx, SenseVoice', ...kept(open(senseVoice)), speech, says });
  recognizerConformance({ title: 'sherpa-onnx, Whisper', ...kept(open(whisper)), speech, says });
  recognizerConformance({
    title: 'sherpa-onnx, Moonshine with its true weights',
    ...kept(open(trueMoonshine)),
    speech: spoken,
    says: /is fine/i,
  });

  describe('sherpa-onnx recognizer', () => {
    it('the sherpa-onnx recognizer shows the words of a streaming model as they come, in lower case', async () => {
      const frames = new Queue<AudioFrame>();
      const windows = [...vadFrames(speech, 16_000)];
      const speak = (count: number): void => windows.splice(0, count).forEach((frame) => frames.push(frame));
      const texts: string[] = [];
      speak(20);
      for await (const { text } of open(zipformer).transcribe(frames, { signal })) {
        texts.push(text);
        speak(10);
        if (texts.length === 3) frames.end();
      }
      expect(texts).toEqual(['good', 'good evening', 'good evening martha', 'good evening martha']);
    });

    it('the sherpa-onnx recognizer reports the language that the model detected', async () => {
      expect((await hear(open(senseVoice), speech)).at(-1)).toMatchObject({ language: 'en' });
      expect((await hear(open(whisper), speech)).at(-1)).toMatchObject({ language: 'en' });
    });

    it('the sherpa-onnx recognizer adds punctuation if the model writes none', async () => {
      const known = { words: ['good', 'evening', 'martha'], commaAfter: 'evening' };
      const punctuation = { family: 'ct-transformer', files: await tinyPunctuation(tinyFiles(folder), known) };
      expect(textOf(await hear(open({ ...zipformer, punctuation }), speech))).toBe('good evening，martha。');
      const capitals = { family: 'cnn-bilstm', files: await tinyCapitals(tinyFiles(folder)) };
      expect(textOf(await hear(open({ ...zipformer, punctuation: capitals }), speech))).toBe('Good Evening Martha');
    });
  });

  describe('sherpa-onnx weights', () => {
    const failure = (engine: SpeechRecognizer): Promise<unknown> =>
      hear(engine, speech).catch((cause: unknown) => cause);

    it('sherpa-onnx does not load unpinned weights', async () => {
      const { model, tokens } = senseVoice.files;
      const engine = open({ ...senseVoice, files: { model: { path: model?.path }, tokens } });
      const detail = expect.stringContaining(`"model": ${model?.sha256}`);
      expect(await failure(engine)).toMatchObject({ code: 'ENGINE_MISSING', detail });
    });

    it('damaged weights that were trusted fail the sherpa-onnx engine and not the server', async () => {
      const damaged = await tinyFiles(folder).write('damaged.onnx', 'no model at all');
      for (const settings of [zipformer, senseVoice, whisper]) {
        const files = Object.fromEntries(
          Object.entries(settings.files).map(([part, file]) => [part, part === 'tokens' ? file : damaged]),
        );
        expect(await failure(open({ ...settings, files }))).toMatchObject({ code: 'ENGINE_MISSING' });
      }
    });

    it('sherpa-onnx weights of another family are reported as such', async () => {
      const { model, tokens } = senseVoice.files;
      const engine = open({
        family: 'streaming-zipformer',
        files: { encoder: model, decoder: model, joiner: model, tokens },
      });
      const detail = expect.stringContaining('do not match the kind in the settings');
      expect(await failure(engine)).toMatchObject({ code: 'ENGINE_MISSING', detail });
    });

    it('sherpa-onnx can be inspected by doctor and warmed up', async () => {
      const engine = open(senseVoice);
      await engine.warm?.({ signal });
      expect(await engine.check?.({ signal })).toContain('sense-voice');
      await expect(engine.check?.({ signal: AbortSignal.abort(new Error('enough')) })).rejects.toThrow('enough');
    });
  });
});

describe('sherpa-onnx recognizer settings', () => {
  const { encoder, ...others } = zipformer.files;
  it.each([
    ['an unknown family', { ...zipformer, family: 'zipformer-9' }, 'family'],
    ['a file that is missing', { ...zipformer, files: others }, 'files.encoder'],
    ['a file of another family', { ...zipformer, files: { ...zipformer.files, model: encoder } }, 'files'],
    ['a hash that is none', { ...zipformer, files: { ...others, encoder: { ...encoder, sha256: 'beef' } } }, 'sha256'],
    ['a language that the family does not ask for', { ...zipformer, language: 'en' }, 'language'],
  ])('the sherpa-onnx recognizer settings refuse %s', (_name, settings, where) => {
    const parsed = adapter.settings.safeParse(settings);
    expect(parsed.success).toBe(false);
    expect(JSON.stringify(parsed.error?.issues)).toContain(where.split('.').at(-1));
  });

  it('the settings pass on all that sherpa-onnx needs for a streaming Paraformer', () => {
    const { encoder, decoder, tokens } = zipformer.files;
    const settings = recognizerSettings.parse({
      family: 'streaming-paraformer',
      files: { encoder, decoder, tokens },
      threads: 4,
      provider: 'cuda',
    });
    expect(recognizerConfig(settings, { encoder: 'e', decoder: 'd', tokens: 't' })).toMatchObject({
      modelConfig: { paraformer: { encoder: 'e', decoder: 'd' }, tokens: 't', numThreads: 4, provider: 'cuda' },
    });
    expect(languagesOf(settings)).toEqual(['zh', 'en']);
  });
});
