import { openSilero } from '../../voices/vads/silero.ts';
import { summarize, type BenchRow } from './stats.ts';

const ticks = 300;

/** Cost of one 32 ms window for 1, 8 and 32 streams that tick together; one stream alone is the baseline. */
export async function* run(): AsyncIterable<BenchRow> {
  const vad = openSilero();
  for (const count of [1, 8, 32]) {
    const streams = Array.from({ length: count }, () => vad.open());
    const samples: number[] = [];
    for (let tick = -20; tick < ticks; tick += 1) {
      const windows = streams.map(() =>
        Float32Array.from({ length: vad.windowSamples }, () => Math.random() * 0.2 - 0.1),
      );
      const startMs = performance.now();
      await Promise.all(
        streams.map((stream, index) => stream.score(windows[index] ?? new Float32Array(vad.windowSamples))),
      );
      if (tick >= 0) samples.push(((performance.now() - startMs) * 1000) / count);
    }
    for (const stream of streams) stream.close();
    yield summarize('vad', `one window, ${count} streams together`, 'µs', samples);
  }
  await vad.close();
}
