import { openBuiltInDetector } from '../../../../voices/turn-detectors/built-in.ts';
import { pauseOf } from '../../../../voices/turn-detectors/built-in.ts';
import { endOfTurnProbability } from '../../../../voices/turn-detectors/end-of-turn.ts';
import { summarize, type BenchRow } from '../../kit/stats.ts';

const bench = 'endpointing';
const pauses = 300;
const warmUp = 40;
const text = 'I was going to ask you whether you have seen my sister, who';

/**
 * Work of one pause: on the event loop, asking the detector's thread, and there, judging twelve seconds of a turn. The
 * sound is a hum, as long as real speech: the work depends on the length alone.
 */
export async function* workRows(): AsyncIterable<BenchRow> {
  const sampleRate = 16_000;
  const samples = Float32Array.from(
    { length: 12 * sampleRate },
    (_, index) =>
      0.2 * Math.sin((2 * Math.PI * 140 * index) / sampleRate) * Math.sin((2 * Math.PI * 3 * index) / sampleRate),
  );
  const turn = { samples, sampleRate, atMs: 0 };
  const judging = Array.from({ length: warmUp + pauses }, () => {
    const pause = pauseOf(turn, { text });
    const startMs = performance.now();
    endOfTurnProbability(pause);
    return performance.now() - startMs;
  });
  yield summarize(bench, 'work of a pause: in the worker', 'ms', judging.slice(warmUp));
  const detector = openBuiltInDetector();
  const { signal } = new AbortController();
  await detector.warm(signal);
  const asking: number[] = [];
  for (let count = 0; count < warmUp + pauses; count += 1) {
    const startMs = performance.now();
    const answer = detector.endOfTurnProbability(turn, { signal, text });
    asking.push(performance.now() - startMs);
    await answer;
  }
  await detector.close();
  yield summarize(bench, 'work of a pause: on the event loop', 'ms', asking.slice(warmUp));
}
