import { describe, expect, it } from 'vitest';
import { openSilero } from '../../../voices/vads/silero.ts';

const quiet = new Float32Array(512);

/** A VAD that returns the number of windows scored together. */
function openCounting() {
  const source = `
    import { parentPort } from 'node:worker_threads';
    parentPort.on('message', ({ id, request: { count, inputs, states } }) => {
      parentPort.postMessage({ id, reply: { probabilities: new Float32Array(count).fill(count), inputs, states } });
    });`;
  return openSilero({ workerUrl: new URL(`data:text/javascript,${encodeURIComponent(source)}`) });
}

describe('Silero with many streams', () => {
  it('windows of many Silero streams are scored in few batches', async () => {
    const [vad, other] = [openCounting(), openCounting()];
    const streams = Array.from({ length: 40 }, () => vad.open());
    const pause = other.open();
    await Promise.all([pause.score(quiet), ...streams.map((stream) => stream.score(quiet))]);
    let [windows, batches] = [0, 0];
    for (let round = 0; round < 200 && (round < 20 || windows < 4 * batches); round += 1) {
      const scores: Promise<number>[] = [];
      for (const stream of streams) {
        scores.push(stream.score(quiet));
        // At least as long as a batch takes: without gathering, nearly every window would be its own batch.
        await pause.score(quiet);
      }
      for (const count of await Promise.all(scores)) batches += 1 / count;
      windows += streams.length;
    }
    expect(windows / batches).toBeGreaterThanOrEqual(4);
    await Promise.all([vad.close(), other.close()]);
  });

  it('each Silero stream is scored in its own order', async () => {
    const vad = openCounting();
    const streams = Array.from({ length: 40 }, () => vad.open());
    const order: string[] = [];
    await Promise.all(
      Array.from({ length: 10 }, (_, window) =>
        streams.map((stream, place) => stream.score(quiet).then(() => order.push(`${place}:${window}`))),
      ).flat(),
    );
    for (let place = 0; place < streams.length; place += 1) {
      const own = order.filter((entry) => entry.startsWith(`${place}:`));
      expect(own).toEqual(Array.from({ length: 10 }, (_, window) => `${place}:${window}`));
    }
    await vad.close();
  });
});
