import type { SpeechSynthesizer } from '../../../voices/synthesizer.ts';
import { isEspeakInstalled, openEspeak } from '../../../voices/synthesizers/espeak.ts';
import { openFlite } from '../../../voices/synthesizers/flite.ts';
import { visemesOf } from '../../../voices/visemes/visemes-of-phones.ts';
import { summarize, type BenchRow } from '../kit/stats.ts';
import { alignedRows } from './aligned-rows.ts';
import { hearLines } from './by-sound.ts';
import { restAfterBargeInMs, shapeErrorsMs } from './playback.ts';
import { closuresShown, onsetErrorsMs, perMs, restAfterMs, tellLine, type ToldLine } from './told-over-the-wire.ts';
import { linesOfCharacters, speakLines } from './voiced-lines.ts';

const bench = 'visemes';

/**
 * Shapes of the mouth at a client of the server: how far their onset lies from that of the sound, as the engine reports it;
 * what comes late or leaves a gap; what they cost; and whether the mouth rests when nothing sounds. `--lines=N` by each
 * engine, default 40.
 */
export async function* run(args: readonly string[]): AsyncIterable<BenchRow> {
  const count = Number(args.find((arg) => arg.startsWith('--lines='))?.slice(8) ?? 40);
  const lines = await linesOfCharacters(0, count);
  const flite = openFlite();
  const espeak = isEspeakInstalled() ? openEspeak() : undefined;
  try {
    const byFlite = await tell(flite, 'slt', lines);
    yield summarize(bench, 'onset-flite', 'ms', byFlite.flatMap(onsetErrorsMs));
    const byEspeak = espeak === undefined ? [] : await tell(espeak, 'en', lines);
    if (byEspeak.length > 0) yield summarize(bench, 'onset-espeak', 'ms', byEspeak.flatMap(onsetErrorsMs));
    yield* overTheWire([...byFlite, ...byEspeak]);
    yield* cost(flite, byFlite, lines);
    yield* bySound(flite, lines.slice(0, 20));
    yield* alignedRows({ flite, espeak }, lines.slice(0, 20));
  } finally {
    await Promise.all([flite.close(), espeak?.close()]);
  }
  const cuts = Array.from({ length: 100 }, (_, index) => restAfterBargeInMs(500 + 13 * index));
  yield summarize(bench, 'mouth at rest after barge-in', 'ms', cuts);
  yield summarize(bench, 'drift in ten minutes', 'ms', shapeErrorsMs(10));
}

async function tell(engine: SpeechSynthesizer, voice: string, lines: readonly string[]): Promise<ToldLine[]> {
  const told: ToldLine[] = [];
  for (const line of lines) told.push(await tellLine(engine, voice, line));
  return told;
}

function* overTheWire(told: readonly ToldLine[]): Iterable<BenchRow> {
  yield summarize(bench, 'late or with gaps', 'count', [told.reduce((sum, { faults }) => sum + faults, 0)]);
  for (const rate of [30, 60]) {
    const shown = told.flatMap((line) => closuresShown(line, rate));
    yield summarize(bench, `closures shown at ${rate} fps`, '%', [(100 * shown.filter(Boolean).length) / shown.length]);
  }
  yield summarize(
    bench,
    'bytes beside PCM',
    '%',
    told.map(({ bytes, audio }) => (100 * bytes) / audio.byteLength),
  );
  yield summarize(bench, 'mouth at rest after the last sound', 'ms', told.map(restAfterMs));
  yield summarize(bench, 'speech', 's', [told.reduce((sum, { audio }) => sum + audio.length / perMs / 1000, 0)]);
}

/** The shapes of a phrase are made before its first sample is sent, so the first sound waits for them. */
async function* cost(
  engine: SpeechSynthesizer,
  told: readonly ToldLine[],
  lines: readonly string[],
): AsyncIterable<BenchRow> {
  const delays = told.flatMap(({ runs }) =>
    runs.map((run) => {
      const before = performance.now();
      visemesOf(run);
      return performance.now() - before;
    }),
  );
  yield summarize(bench, 'first sound later because of visemes', 'ms', delays);
  const spokenMs = await cpuMs(async () => {
    async function* phrases(): AsyncGenerator<{ text: string }> {
      for (const text of lines) yield { text };
    }
    const voice = { kind: 'preset', id: 'slt' } as const;
    for await (const _ of engine.speak(phrases(), { signal: new AbortController().signal, voice }));
  });
  const convertedMs = await cpuMs(async () => {
    for (let times = 0; times < 10; times += 1) for (const { runs } of told) runs.forEach((run) => visemesOf(run));
  });
  yield summarize(bench, 'CPU beside Flite', '%', [(100 * convertedMs) / 10 / spokenMs]);
}

/** The shapes that are found in the sound alone, of a voice that the network never heard. */
async function* bySound(engine: SpeechSynthesizer, lines: readonly string[]): AsyncIterable<BenchRow> {
  const spoken = await Array.fromAsync(speakLines({ engine, id: 'slt' }, lines));
  const { classes, jaw } = hearLines(spoken);
  yield summarize(bench, 'jaw by sound', 'r', [jaw]);
  yield summarize(bench, '7 classes by sound', '%', [100 * classes]);
}

/** CPU of this process, with its threads. */
async function cpuMs(work: () => Promise<void>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
