import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readAudioFile } from '../../../voices/dsp/audio-file.ts';
import { openDnsmos, type DnsmosOptions } from '../../../voices/quality/dnsmos.ts';
import { dnsmosMel, dnsmosWindows } from '../../../voices/quality/dnsmos-features.ts';
import { writeSmallCampplus, writeSmallP808, writeSmallP835 } from '../../fakes/models/small-models.ts';
import { voiceLike } from '../../fakes/voice-like.ts';
import { sharedAvailable, sharedPath } from '../../shared.ts';
import { keptForTests } from '../../rigs/voice-engine-rig.ts';
import { mean } from '../../../voices/dsp/statistics.ts';

const { signal } = new AbortController();
const { folder, keep } = await keptForTests();

const open = async (options: Omit<DnsmosOptions, 'signal'>) => keep(await openDnsmos({ ...options, signal }));

const small = await writeSmallP835(join(folder, 'p835.onnx'));
const smallP808 = await writeSmallP808(join(folder, 'p808.onnx'));
const both = { ...small, p808Path: smallP808.modelPath, p808Sha256: smallP808.sha256 };

/** 11 seconds: two windows. */
const sound = voiceLike(11_000, 16_000);
const frameOf = (samples: Float32Array, sampleRate = 16_000) => ({ samples, sampleRate, atMs: 0 });
const fitted = (raw: number): number => -0.06766283 * raw ** 2 + 1.11546468 * raw + 0.04602535;

describe('DNSMOS', () => {
  it.each([1, 4])(
    'DNSMOS maps each window to the listeners’ scale before averaging; %i at a time',
    async (mostWindows) => {
      const meter = await open({ ...both, mostWindows });
      const quality = await meter.rate(frameOf(sound), { signal });
      const windows = dnsmosWindows(sound);
      expect(quality.overall).toBeCloseTo(mean(windows.map((window) => fitted(3 + (window[2] as number)))), 5);
      expect(quality.p808).toBeCloseTo(mean(windows.map((window) => mean([...dnsmosMel(window)]))), 3);
    },
  );

  it('DNSMOS has no P.808 score without its file, and takes any rate and several recordings at a time', async () => {
    const meter = await open({ ...small, mostWindows: 3, workers: 2 });
    const clips = [frameOf(voiceLike(3_000, 48_000), 48_000), frameOf(voiceLike(500, 8_000), 8_000), frameOf(sound)];
    const alone = [];
    for (const clip of clips) alone.push(await meter.rate(clip, { signal }));
    expect(await Promise.all(clips.map((clip) => meter.rate(clip, { signal })))).toEqual(alone);
    expect(alone[0]).not.toHaveProperty('p808');
  });

  it('DNSMOS rejects empty audio and stops with the reason of an abort', async () => {
    const meter = await open(small);
    await expect(meter.rate(frameOf(new Float32Array(0)), { signal })).rejects.toMatchObject({
      code: 'ENGINE_REFUSED',
    });
    const reason = new Error('hung up');
    await expect(meter.rate(frameOf(sound), { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  });

  it('DNSMOS says what to download if its file is missing, unknown or another model', async () => {
    const missing = (detail: string) => ({ code: 'ENGINE_MISSING', message: expect.stringContaining(detail) });
    await expect(open({ modelPath: join(folder, 'none.onnx') })).rejects.toMatchObject(missing('sig_bak_ovr.onnx'));
    await expect(open({ modelPath: small.modelPath })).rejects.toMatchObject(missing(small.sha256));
    const p808 = open({ ...small, p808Path: smallP808.modelPath });
    await expect(p808).rejects.toMatchObject(missing('model_v8.onnx'));
    const other = await open(await writeSmallCampplus(join(folder, 'campplus.onnx')));
    await expect(other.rate(frameOf(sound), { signal })).rejects.toMatchObject(missing('a different model'));
  });
});

const weights = {
  modelPath: sharedPath('models/dnsmos_sig_bak_ovr.onnx'),
  p808Path: sharedPath('models/dnsmos_p808_model_v8.onnx'),
};
const weightsAvailable = sharedAvailable && existsSync(weights.modelPath) && existsSync(weights.p808Path);
if (!weightsAvailable) console.warn('DNSMOS is not tested with its weights: they are not in ../shared/models.');

describe.skipIf(!weightsAvailable)('DNSMOS with its weights', () => {
  it('DNSMOS scores equal those of Microsoft’s script', { timeout: 120_000 }, async () => {
    const meter = await open(weights);
    const scoresOf = async (file: string): Promise<readonly number[]> => {
      const clip = await readAudioFile(sharedPath(`audio/${file}`), { sampleRate: 16_000, signal });
      const { signal: speech, background, overall, p808 = NaN } = await meter.rate(clip, { signal });
      return [speech, background, overall, p808];
    };
    const expected = {
      'jfk.wav': [3.4758, 2.9892, 2.715, 3.0984],
      'aishell-BAC009S0724W0121.wav': [3.088, 3.9671, 2.7695, 3.6257],
    };
    for (const [file, values] of Object.entries(expected)) {
      const scores = await scoresOf(file);
      for (const [place, value] of values.entries()) expect(scores[place]).toBeCloseTo(value, 3);
    }
    expect((await scoresOf('noise2.wav'))[2]).toBeLessThan(1.5);
  });
});
