import { describe, expect, it } from 'vitest';
import { concatSamples } from '../../../voices/audio.ts';
import { speakerEncoderKinds } from '../../../server/engines/voice-kinds.ts';
import { diarizerSettings, openDiarizer } from '../../../voices/sherpa/diarizer.ts';
import { cosine } from '../../../voices/speaker-encoder.ts';
import { isInstalled } from '../../fakes/models/installed.ts';
import { tinyFiles } from '../../fakes/models/tiny-model.ts';
import { tinyDimensions, tinyEncoder, tinySegmentation } from '../../fakes/models/tiny-speakers.ts';
import { keptForTests, openEngine } from '../../rigs/voice-engine-rig.ts';

const { signal } = new AbortController();
const { folder, keep } = await keptForTests();

const files = tinyFiles(folder);
const embedding = await tinyEncoder(files);
const segmentation = await tinySegmentation(files);
const { adapter } = (await speakerEncoderKinds['sherpa-onnx']?.()) ?? {};
if (adapter === undefined) throw new Error('no encoder of this kind');

const open = (settings: Record<string, unknown>) => keep(openEngine(adapter, settings));

function hum(pitch: number, seconds: number, sampleRate = 16_000): Float32Array {
  return Float32Array.from({ length: seconds * sampleRate }, (_, index) => {
    return 0.3 * Math.sin((2 * Math.PI * pitch * index) / sampleRate);
  });
}
const clip = (samples: Float32Array, sampleRate = 16_000) => ({ samples, sampleRate, atMs: 0 });

describe.skipIf(!isInstalled('sherpa-onnx-node'))('with the optional package sherpa-onnx-node', async () => {
  describe('sherpa-onnx speaker encoder', () => {
    const encoder = open({ files: { embedding }, dimensions: tinyDimensions });

    it('the sherpa-onnx speaker encoder separates voices at any sample rate, with unit vectors', async () => {
      const [low, lowAgain, high] = await Promise.all([
        encoder.embed(clip(hum(250, 2)), { signal }),
        encoder.embed(clip(hum(250, 3, 24_000), 24_000), { signal }),
        encoder.embed(clip(hum(2_500, 2)), { signal }),
      ]);
      expect(low.length).toBe(encoder.dimensions);
      expect(Math.hypot(...low)).toBeCloseTo(1, 5);
      expect(cosine(low, lowAgain)).toBeGreaterThan(0.95);
      expect(cosine(low, high)).toBeLessThan(0.7);
    });

    it('the sherpa-onnx speaker encoder refuses a clip that is too short', async () => {
      const failure = { code: 'ENGINE_REFUSED', detail: expect.stringContaining('shorter') };
      await expect(encoder.embed(clip(hum(250, 0.3)), { signal })).rejects.toMatchObject(failure);
    });

    it('the sherpa-onnx speaker encoder says what to set if the model has another dimension', async () => {
      const wrong = open({ files: { embedding } });
      const detail = expect.stringContaining(`set "dimensions" to ${tinyDimensions}`);
      await expect(wrong.embed(clip(hum(250, 2)), { signal })).rejects.toMatchObject({
        code: 'ENGINE_MISSING',
        detail,
      });
      await expect(wrong.check?.({ signal })).rejects.toMatchObject({ code: 'ENGINE_MISSING', detail });
    });

    it('the sherpa-onnx speaker encoder can be inspected, is named by its weights, and stops on an abort', async () => {
      expect(await encoder.check?.({ signal })).toContain(`${tinyDimensions} dimensions`);
      expect(encoder.name).toContain(embedding.sha256.slice(0, 8));
      const reason = new Error('enough');
      await expect(encoder.embed(clip(hum(250, 2)), { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    });
  });

  describe('diarizer', () => {
    const diarizer = keep(openDiarizer(diarizerSettings.parse({ files: { segmentation, embedding } })));
    const silence = new Float32Array(16_000);
    const talk = clip(concatSamples([hum(250, 3), silence, hum(2_500, 3)]));

    it('the diarizer reports who speaks when', async () => {
      for (const known of [{}, { speakers: 2 }]) {
        const segments = await diarizer.diarize(talk, { signal, ...known });
        expect(segments.map(({ speaker }) => speaker)).toEqual([0, 1]);
        const [first, second] = segments;
        for (const [ms, expected] of [
          [first?.startMs, 0],
          [first?.endMs, 3_000],
          [second?.startMs, 4_000],
          [second?.endMs, 7_000],
        ] as const) {
          expect(Math.abs((ms ?? Number.NaN) - expected)).toBeLessThan(150);
        }
      }
    });

    it('the diarizer finds no speaker in silence or without audio', async () => {
      expect(await diarizer.diarize(clip(concatSamples([silence, silence])), { signal })).toEqual([]);
      expect(await diarizer.diarize(clip(new Float32Array(0)), { signal })).toEqual([]);
    });

    it('the diarizer finds one speaker if the number is given as one', async () => {
      const segments = await diarizer.diarize(talk, { signal, speakers: 1 });
      expect(new Set(segments.map(({ speaker }) => speaker))).toEqual(new Set([0]));
    });
  });
});
