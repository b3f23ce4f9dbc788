import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { smartTurnFeatures } from '../../../voices/dsp/log-mel.ts';
import { openSmartTurn } from '../../../voices/turn-detectors/smart-turn.ts';
import { writeOnnx, type GraphNode } from '../../fakes/models/onnx-file.ts';
import { keptForTests } from '../../rigs/voice-engine-rig.ts';
import { mean } from '../../../voices/dsp/statistics.ts';

const { signal } = new AbortController();
const { folder, keep } = await keptForTests();

/** Stand-in for the real weights: the same names and shapes, but only the mean of the features. */
async function writeModel(file: string, { input = 'input_features', last = 'Sigmoid', scale = 1 } = {}) {
  const node = (operation: string, inputs: string[], outputs: string[], attributes = {}): GraphNode => ({
    operation,
    inputs,
    outputs,
    attributes,
  });
  const bytes = writeOnnx({
    inputs: [{ name: input, sizes: ['batch', 80, 800] }],
    outputs: [{ name: 'logits', sizes: ['batch', 1] }],
    nodes: [
      node('ReduceMean', [input], ['mean'], { axes: [1, 2], keepdims: 0 }),
      node('Unsqueeze', ['mean', 'last'], ['column']),
      node('Mul', ['column', 'scale'], ['scaled']),
      node(last, ['scaled'], ['logits']),
    ],
    constants: { last: [1], scale: { sizes: [1], values: Float32Array.of(scale) } },
  });
  const modelPath = join(folder, file);
  await writeFile(modelPath, bytes);
  return { modelPath, sha256: createHash('sha256').update(bytes).digest('hex') };
}

const open = (options: Parameters<typeof openSmartTurn>[0]) => keep(openSmartTurn(options));

function tone(seconds: number, sampleRate = 16_000): Float32Array {
  return Float32Array.from({ length: seconds * sampleRate }, (_, index) => {
    return 0.2 * Math.sin((2 * Math.PI * 300 * index) / sampleRate) * Math.sin(index / sampleRate);
  });
}

const frameOf = (samples: Float32Array, sampleRate = 16_000) => ({ samples, sampleRate, atMs: 0 });

function expectedOf(samples: Float32Array): number {
  const { values } = smartTurnFeatures(samples);
  return 1 / (1 + Math.exp(-mean(values)));
}

describe('smart-turn', () => {
  it('smart-turn returns the model’s probability for the features of the turn', async () => {
    const detector = open(await writeModel('mean.onnx'));
    await detector.warm(signal);
    for (const seconds of [0, 1, 5]) {
      const turn = tone(seconds);
      expect(await detector.endOfTurnProbability(frameOf(turn), { signal })).toBeCloseTo(expectedOf(turn), 4);
    }
  });

  it('smart-turn reads the last eight seconds', async () => {
    const detector = open(await writeModel('mean.onnx'));
    const turn = tone(12);
    const completeness = await detector.endOfTurnProbability(frameOf(turn), { signal });
    expect(completeness).toBeCloseTo(expectedOf(turn.slice(-128_000)), 4);
    expect(turn.length).toBe(192_000);
  });

  it('smart-turn takes other sample rates', async () => {
    const detector = open(await writeModel('mean.onnx'));
    const completeness = await detector.endOfTurnProbability(frameOf(tone(3, 24_000), 24_000), { signal });
    expect(completeness).toBeCloseTo(expectedOf(tone(3)), 2);
  });

  it('smart-turn says what to download if its weights are missing', async () => {
    const detector = open({ modelPath: join(folder, 'nowhere.onnx') });
    const failure = { code: 'ENGINE_MISSING', message: expect.stringContaining('smart-turn-v3.2-cpu.onnx') };
    await expect(detector.endOfTurnProbability(frameOf(tone(1)), { signal })).rejects.toMatchObject(failure);
    await expect(detector.warm(signal)).rejects.toMatchObject(failure);
  });

  it('smart-turn loads weights that were added after a first failure', async () => {
    const { sha256 } = await writeModel('early.onnx');
    const modelPath = join(folder, 'late.onnx');
    const detector = open({ modelPath, sha256 });
    await expect(detector.warm(signal)).rejects.toMatchObject({ code: 'ENGINE_MISSING' });
    await writeModel('late.onnx');
    await expect(detector.endOfTurnProbability(frameOf(tone(1)), { signal })).resolves.toBeGreaterThan(0);
  });

  it('smart-turn loads no file with another hash', async () => {
    const { modelPath, sha256 } = await writeModel('mean.onnx');
    const failure = { code: 'ENGINE_MISSING', message: expect.stringContaining(sha256) };
    await expect(open({ modelPath }).warm(signal)).rejects.toMatchObject(failure);
    await expect(open({ modelPath, sha256: '0'.repeat(64) }).warm(signal)).rejects.toMatchObject(failure);
    await expect(open({ modelPath, sha256: sha256.toUpperCase() }).warm(signal)).resolves.toBeUndefined();
  });

  it('smart-turn loads no other model, even if its hash is the expected one', async () => {
    const other = open(await writeModel('other.onnx', { input: 'input_values' }));
    await expect(other.warm(signal)).rejects.toMatchObject({ code: 'ENGINE_MISSING' });
    const bytes = Buffer.from('no model at all');
    await writeFile(join(folder, 'damaged.onnx'), bytes);
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    const damaged = open({ modelPath: join(folder, 'damaged.onnx'), sha256 });
    await expect(damaged.warm(signal)).rejects.toMatchObject({ code: 'ENGINE_MISSING' });
  });

  it('smart-turn does not pass on a result that is no probability', async () => {
    const unbounded = open(await writeModel('unbounded.onnx', { last: 'Identity', scale: 1_000 }));
    const failure = unbounded.endOfTurnProbability(frameOf(tone(5)), { signal });
    await expect(failure).rejects.toMatchObject({ code: 'ENGINE_BAD_REPLY' });
  });

  it('smart-turn stops with the reason of an abort', async () => {
    const detector = open(await writeModel('mean.onnx'));
    const reason = new Error('hung up');
    const aborted = detector.endOfTurnProbability(frameOf(tone(1)), { signal: AbortSignal.abort(reason) });
    await expect(aborted).rejects.toBe(reason);
    const controller = new AbortController();
    const running = detector.endOfTurnProbability(frameOf(tone(1)), { signal: controller.signal });
    controller.abort(reason);
    await expect(running).rejects.toBe(reason);
    await expect(detector.endOfTurnProbability(frameOf(tone(1)), { signal })).resolves.toBeGreaterThan(0);
  });
});
