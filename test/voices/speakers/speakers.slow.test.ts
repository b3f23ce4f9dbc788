import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { kaldiFbank, subtractMean } from '../../../voices/dsp/fbank.ts';
import { centralities, cosine } from '../../../voices/speaker-encoder.ts';
import { openOnnxSpeaker, type OnnxSpeakerOptions } from '../../../voices/speakers/onnx-speaker.ts';
import { speakerEncoderConformance } from '../../conformance/speaker-encoder.ts';
import { alone } from '../../conformance/upstream.ts';
import { smallWeights, writeSmallCampplus, writeSmallP835, writeSmallWavlm } from '../../fakes/models/small-models.ts';
import { scriptedSpeakerEncoder } from '../../fakes/scripted-speaker-encoder.ts';
import { voiceLike } from '../../fakes/voice-like.ts';
import { keptForTests } from '../../rigs/voice-engine-rig.ts';

const { signal } = new AbortController();
const { folder, keep } = await keptForTests();

const open = async (options: Omit<OnnxSpeakerOptions, 'signal'>) => keep(await openOnnxSpeaker({ ...options, signal }));

const frameOf = (samples: Float32Array) => ({ samples, sampleRate: 16_000, atMs: 0 });
const sound = voiceLike(2_000, 16_000);
const campplus = await writeSmallCampplus(join(folder, 'campplus.onnx'));
const wavlm = await writeSmallWavlm(join(folder, 'wavlm.onnx'));

speakerEncoderConformance({
  title: 'the fake',
  open: async () => alone(scriptedSpeakerEncoder()),
});

for (const [title, options] of [
  ['a small CAM++', { modelPath: campplus.modelPath }],
  ['a small WavLM', { modelPath: wavlm.modelPath }],
  ['a small CAM++ in two threads', { modelPath: campplus.modelPath, workers: 2, mostClips: 2 }],
] as const) {
  speakerEncoderConformance({
    title,
    open: async () => {
      const engine = await openOnnxSpeaker({ ...options, signal });
      return { engine, [Symbol.asyncDispose]: () => engine.close() };
    },
  });
}

describe('CAM++', () => {
  it('CAM++ gets 80 mean-free fbank bands of samples in [-1, 1]', async () => {
    const encoder = await open(campplus);
    const { frames, values } = subtractMean(kaldiFbank(sound));
    const means = Array.from({ length: 80 }, (_, band) => {
      const column = Array.from({ length: frames }, (_, frame) => values[frame * 80 + band] as number);
      return column.reduce((sum, value) => sum + value + value * value, 0) / frames;
    });
    const weights = smallWeights(192);
    const expected = Array.from({ length: 192 }, (_, place) =>
      means.reduce((sum, value, band) => sum + value * (weights[band * 192 + place] as number), 0.01),
    );
    expect(encoder).toMatchObject({ dimensions: 192, family: 'campplus', sampleRate: 16_000 });
    expect(cosine(await encoder.embed(frameOf(sound), { signal }), expected)).toBeCloseTo(1, 5);
  });

  it.each([
    ['feature', { input: 'feature' }],
    ['one clip at a time', { batch: 1 }],
    ['512 numbers', { dimensions: 512 }],
  ])('CAM++ runs as an export with %s', async (title, shape) => {
    const model = await writeSmallCampplus(join(folder, `${title}.onnx`), shape);
    const encoder = await open(model);
    const [one, same] = await Promise.all([sound, sound].map((each) => encoder.embed(frameOf(each), { signal })));
    expect(one).toHaveLength('dimensions' in shape ? shape.dimensions : 192);
    expect(cosine(one as Float32Array, same as Float32Array)).toBeCloseTo(1, 5);
  });
});

describe('WavLM-large SV', () => {
  it('WavLM-large SV gets a waveform of mean 0 and variance 1', async () => {
    const encoder = await open(wavlm);
    const raised = sound.map((value) => 0.3 * value + 0.2);
    const mean = raised.reduce((sum, value) => sum + value, 0) / raised.length;
    const variance = raised.reduce((sum, value) => sum + (value - mean) ** 2, 0) / raised.length;
    const expected = raised.subarray(0, 256).map((value) => (value - mean) / Math.sqrt(variance + 1e-5) + 0.01);
    expect(encoder).toMatchObject({ dimensions: 256, family: 'wavlm-large-sv' });
    expect(cosine(await encoder.embed(frameOf(raised), { signal }), expected)).toBeCloseTo(1, 5);
  });
});

describe('opening a speaker model', () => {
  it('a speaker encoder is named by the hash of its weights', async () => {
    const other = await writeSmallCampplus(join(folder, 'other.onnx'), { input: 'feature' });
    const names = [(await open(campplus)).name, (await open(other)).name];
    expect(names[0]).toBe(`campplus-192@${campplus.sha256.slice(0, 12)}`);
    expect(names[1]).not.toBe(names[0]);
  });

  it('a speaker model that is missing, wrong or unknown is reported with what to download', async () => {
    const missing = (detail: string) => ({ code: 'ENGINE_MISSING', message: expect.stringContaining(detail) });
    await expect(open({ modelPath: join(folder, 'nowhere.onnx') })).rejects.toMatchObject(missing('CAM++'));
    const wrong = open({ ...campplus, sha256: '0'.repeat(64) });
    await expect(wrong).rejects.toMatchObject(missing(campplus.sha256));
    const dnsmos = await writeSmallP835(join(folder, 'p835.onnx'));
    await expect(open(dnsmos)).rejects.toMatchObject(missing('input_1'));
    await writeFile(join(folder, 'damaged.onnx'), 'no model at all');
    await expect(open({ modelPath: join(folder, 'damaged.onnx') })).rejects.toMatchObject(missing('cannot be loaded'));
  });
});

describe('cosine similarity', () => {
  it('cosine similarity is refused between embeddings of different encoders, if that can be detected', () => {
    expect(cosine([1, 0], [1, 1])).toBeCloseTo(Math.SQRT1_2, 9);
    expect(cosine([0, 0], [1, 1])).toBe(0);
    expect(() => cosine([1, 0, 0], [1, 0])).toThrow(RangeError);
  });

  it('the clip most like the others is found by cosine similarity', () => {
    const clips = [
      [1, 0.1, 0],
      [2, 0, 0.2],
      [0, 1, 0],
      [1, 0.3, 0.1],
    ];
    const slow = clips.map((one, place) => {
      const others = clips.filter((_, index) => index !== place).map((other) => cosine(one, other));
      return others.reduce((sum, value) => sum + value, 0) / others.length;
    });
    for (const [place, value] of centralities(clips).entries()) expect(value).toBeCloseTo(slow[place] as number, 9);
    expect(centralities([[3, 4]])).toEqual([1]);
    expect(centralities([])).toEqual([]);
  });
});
