import { createHash } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { readAudioFile } from '../../../voices/dsp/audio-file.ts';
import { Rechunker } from '../../../voices/audio.ts';
import { createVadHysteresis, type SpeechEdge } from '../../../voices/dsp/vad-hysteresis.ts';
import { openSilero, sileroModelPath } from '../../../voices/vads/silero.ts';
import type { VadStream } from '../../../voices/vad.ts';
import { readWav } from '../../../voices/dsp/wav.ts';
import { writeOnnx } from '../../fakes/models/onnx-file.ts';
import { originalPath, sileroGraph } from './silero-graph.ts';
import { sharedAvailable, sharedPath } from '../../shared.ts';

const silero = openSilero();
afterAll(() => silero.close());

function wave(hertz: number, seconds: number): number {
  return Math.sin(2 * Math.PI * hertz * seconds);
}

/** Audio that Silero takes for a voice: harmonics of a gliding pitch through three moving formants, in syllables. */
function babble(windows: number, pitch: number): Float32Array[] {
  const samples = Float32Array.from({ length: windows * 512 }, (_, index) => {
    const seconds = index / 16_000;
    const glide = 1 + 0.1 * wave(1.3, seconds);
    const phase = 2 * Math.PI * pitch * seconds + (0.1 * pitch * (1 - Math.cos(2 * Math.PI * 1.3 * seconds))) / 1.3;
    const formants = [500 + 200 * wave(3, seconds), 1_200 + 600 * wave(2.1, seconds), 2_500];
    let value = 0;
    for (let harmonic = 1; harmonic * pitch < 4_000; harmonic += 1) {
      const hertz = harmonic * pitch * glide;
      const gain = formants.reduce((sum, formant) => sum + Math.exp(-(((hertz - formant) / 200) ** 2)), 0.02);
      value += gain * Math.sin(harmonic * phase);
    }
    return 0.1 * Math.max(0, wave(4, seconds)) * value;
  });
  return new Rechunker(512).push(samples);
}

/** A window whose last 64 samples are all `value`. */
function endingIn(value: number): Float32Array {
  return new Float32Array(512).fill(value, 448);
}

async function inTurn(stream: VadStream, windows: readonly Float32Array[]): Promise<number[]> {
  const scores: number[] = [];
  for (const window of windows) scores.push(await stream.score(window));
  stream.close();
  return scores;
}

describe('Silero', () => {
  it('Silero hears nothing in silence', async () => {
    const scores = await inTurn(
      silero.open(),
      Array.from({ length: 10 }, () => new Float32Array(512)),
    );
    expect(Math.max(...scores)).toBeLessThan(0.05);
  });

  it('Silero hears a voice', async () => {
    const scores = await inTurn(silero.open(), babble(40, 120));
    expect(scores.filter((score) => score >= 0.5).length).toBeGreaterThan(30);
  });

  it('the model gets each window after the end of the one before', async () => {
    // Returns the sum of the first 64 samples that the model would get.
    const source = `
      import { parentPort } from 'node:worker_threads';
      parentPort.on('message', ({ id, request: { count, inputs, states } }) => {
        const sums = Array.from({ length: count }, (_, place) =>
          inputs.subarray(place * 576, place * 576 + 64).reduce((sum, value) => sum + value, 0));
        parentPort.postMessage({ id, reply: { probabilities: Float32Array.from(sums), inputs, states } });
      });`;
    const summing = openSilero({ workerUrl: new URL(`data:text/javascript,${encodeURIComponent(source)}`) });
    const [one, other] = [summing.open(), summing.open()];
    const scores = [one.score(endingIn(1)), other.score(endingIn(5)), one.score(endingIn(2)), other.score(endingIn(6))];
    expect(await Promise.all(scores)).toEqual([0, 0, 64, 320]);
    expect(await Promise.all([one.score(endingIn(3)), one.score(endingIn(4))])).toEqual([128, 192]);
    await summing.close();
  });

  it('scores in one batch with other streams equal those alone', async () => {
    const inputs = [90, 120, 150, 180, 210, 240, 270].map((pitch) => babble(20, pitch));
    const alone: number[][] = [];
    for (const windows of inputs) alone.push(await inTurn(silero.open(), windows));
    const together = await Promise.all(inputs.map((windows) => inTurn(silero.open(), windows)));
    expect(together).toEqual(alone);
    expect(new Set(alone.map(String)).size).toBe(inputs.length);
  });

  it('Silero serves more streams at once than fit in a batch', async () => {
    const windows = babble(3, 130);
    const alone = await inTurn(silero.open(), windows);
    const together = await Promise.all(Array.from({ length: 150 }, () => inTurn(silero.open(), windows)));
    for (const scores of together) expect(scores).toEqual(alone);
  });

  it('a window of another length is refused, and the stream continues', async () => {
    const stream = silero.open();
    await expect(stream.score(new Float32Array(480))).rejects.toMatchObject({ code: 'ENGINE_REFUSED' });
    await expect(stream.score(new Float32Array(512))).resolves.toBeLessThan(0.05);
  });

  it('a window of NaN does not make Silero deaf for good', async () => {
    for (const poison of [Number.NaN, Number.POSITIVE_INFINITY, 3e38]) {
      const stream = silero.open();
      await Promise.allSettled([stream.score(new Float32Array(512).fill(poison))]);
      const scores = await inTurn(stream, babble(20, 120));
      expect(scores.filter((score) => score >= 0.5).length).toBeGreaterThan(10);
    }
  });

  it('closing a stream rejects its windows and disturbs no other', async () => {
    const [closing, other] = [silero.open(), silero.open()];
    const lost = [closing.score(new Float32Array(512)), closing.score(new Float32Array(512))];
    const kept = other.score(new Float32Array(512));
    closing.close();
    const outcomes = await Promise.allSettled([...lost, closing.score(new Float32Array(512))]);
    for (const outcome of outcomes) expect(outcome).toMatchObject({ reason: { code: 'ENGINE_UNAVAILABLE' } });
    expect(await kept).toBeLessThan(0.05);
  });

  it('a missing model is reported as missing', async () => {
    const broken = openSilero({ modelPath: '/nowhere/silero.onnx' });
    await expect(broken.open().score(new Float32Array(512))).rejects.toMatchObject({ code: 'ENGINE_MISSING' });
    await broken.close();
  });

  it('closing Silero rejects the windows in progress', async () => {
    const closing = openSilero();
    const stream = closing.open();
    await stream.score(new Float32Array(512));
    const lost = Promise.allSettled([stream.score(new Float32Array(512)), stream.score(new Float32Array(512))]);
    await closing.close();
    for (const outcome of await lost) expect(outcome).toMatchObject({ reason: { code: 'ENGINE_UNAVAILABLE' } });
    await expect(stream.score(new Float32Array(512))).rejects.toMatchObject({ code: 'ENGINE_UNAVAILABLE' });
  });

  it('a dying worker loses only its own windows, and the stream continues with a fresh state', async () => {
    // Counts the windows of each stream in its state, returns the count, and crashes on a window that begins with 9.
    const source = `
      import { parentPort } from 'node:worker_threads';
      parentPort.on('message', ({ id, request: { count, inputs, states } }) => {
        const probabilities = new Float32Array(count);
        for (let place = 0; place < count; place += 1) {
          if (inputs[place * 576 + 64] === 9) process.exit(1);
          probabilities[place] = states[place * 128] += 1;
        }
        parentPort.postMessage({ id, reply: { probabilities, inputs, states } });
      });`;
    const counting = openSilero({ workerUrl: new URL(`data:text/javascript,${encodeURIComponent(source)}`) });
    const [one, other] = [counting.open(), counting.open()];
    const quiet = new Float32Array(512);
    const deadly = new Float32Array(512).fill(9);
    expect(await Promise.all([one.score(quiet), one.score(quiet), other.score(quiet)])).toEqual([1, 2, 1]);
    const outcomes = await Promise.allSettled([one.score(deadly), other.score(quiet), one.score(quiet)]);
    expect(outcomes[0]).toMatchObject({ reason: { code: 'ENGINE_UNAVAILABLE', retryable: true } });
    expect(outcomes[1]).toMatchObject({ reason: { code: 'ENGINE_UNAVAILABLE', retryable: true } });
    expect(outcomes[2]).toEqual({ status: 'fulfilled', value: 1 });
    expect(await Promise.all([one.score(quiet), other.score(quiet)])).toEqual([2, 1]);
    await counting.close();
  });

  it.skipIf(!sharedAvailable)('Silero hears speech in more than half of a real recording', async () => {
    const { samples } = await readWav(sharedPath('audio/jfk.wav'));
    const stream = silero.open();
    const scores = await Promise.all(new Rechunker(512).push(samples).map((window) => stream.score(window)));
    expect(scores.filter((score) => score >= 0.5).length / scores.length).toBeGreaterThan(0.5);
  });
});

/** Speech starts and ends as a session derives them from scores. */
function eventsOf(scores: readonly number[]): SpeechEdge[] {
  const edges = createVadHysteresis({ minSpeechMs: 96, minSilenceMs: 96, windowMs: 32 });
  return scores.map((score) => edges.push(score)).filter((edge) => edge !== undefined);
}

describe('Silero v6’s fused graph', () => {
  const plain = openSilero({ modelPath: originalPath });
  afterAll(() => plain.close());

  const expectEqual = async (windows: readonly Float32Array[]): Promise<void> => {
    const [found = [], expected = []] = await Promise.all(
      [silero, plain].map((vad) => {
        const stream = vad.open();
        return Promise.all(windows.map((window) => stream.score(window)));
      }),
    );
    for (const [index, score] of found.entries()) {
      expect(Math.abs(score - (expected[index] as number))).toBeLessThan(1e-4);
    }
    expect(eventsOf(found)).toEqual(eventsOf(expected));
  };

  it('the fused graph is the committed file, which silero-graph.ts makes of the package @ricky0123/vad-web', () => {
    const committed = readFileSync(sileroModelPath);
    expect(createHash('sha256').update(committed).digest('hex')).toBe(
      '3e0bc2434b8132e422b3dd5aa1fc9c8e51bd9240ea66e2c3cc3b3e5b6d5388a8',
    );
    expect(committed.equals(sileroGraph(readFileSync(originalPath)))).toBe(true);
  });

  it('the fused graph scores synthetic voices, silence and full scale as the original does', async () => {
    expect.hasAssertions();
    const full = [...babble(10, 200), new Float32Array(512).fill(1), new Float32Array(512).fill(-1)];
    await expectEqual([...babble(40, 110), ...Array.from({ length: 20 }, () => new Float32Array(512)), ...full]);
  });

  it.skipIf(!sharedAvailable)('the fused graph gives the same speech starts and ends on every recording', async () => {
    expect.hasAssertions();
    const { signal } = new AbortController();
    for (const file of readdirSync(sharedPath('audio')).filter((name) => /\.(wav|flac)$/.test(name))) {
      const { samples } = await readAudioFile(sharedPath(`audio/${file}`), { sampleRate: 16_000, signal });
      await expectEqual(new Rechunker(512).push(samples));
    }
  });

  it('the fused graph is made of no other model', () => {
    const other = writeOnnx({ inputs: [], outputs: [], nodes: [], constants: {} });
    expect(() => sileroGraph(other)).toThrow('no weights of a Silero model');
  });

  it('a damaged model file is reported by name', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'dramatis-silero-'));
    for (const [name, bytes] of [
      ['text.onnx', Buffer.from('not a model, but a letter')],
      ['half.onnx', readFileSync(sileroModelPath).subarray(0, 9_999)],
    ] as const) {
      const modelPath = join(folder, name);
      await writeFile(modelPath, bytes);
      const damaged = openSilero({ modelPath });
      const failure = { code: 'ENGINE_MISSING', message: expect.stringContaining(name) };
      await expect(damaged.open().score(new Float32Array(512))).rejects.toMatchObject(failure);
      await damaged.close();
    }
    await rm(folder, { recursive: true });
  });
});
