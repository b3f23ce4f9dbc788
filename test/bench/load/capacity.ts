import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { concatSamples } from '../../../voices/audio.ts';
import { openEmbeddedVoices } from '../../../voices/synthesizers/embedded.ts';
import { silence } from '../../fakes/vad.ts';
import { callInRealTime, framesOf, openCallers, startFakeServer, type FakeServer, type Notes } from './callers.ts';
import { summarize, type BenchRow } from '../kit/stats.ts';
import { spoken } from '../../fakes/spoken.ts';

const bench = 'capacity';
const warmUpMs = 8_000;
const measuredMs = 30_000;
const rate = 24_000;
/** Limits that a level of load must keep to count. */
const bounds = { lateMs: 40, loopDelayMs: 20 };
const loopResolutionMs = 10;

/** Result of one level of load. */
interface Level {
  readonly sessions: number;
  readonly loopDelayMs: readonly number[];
  /** Worst delay of VAD scores and of reply blocks. */
  readonly lateMs: number;
  readonly firstAudioMs: readonly number[];
  /** Per session: of the process, and the part that is not garbage. */
  readonly memoryMib: number;
  readonly heldMib: number;
  readonly cpuPercent: number;
  readonly dropped: number;
  /** Delay of the clients' own event loop, to judge whether the figures can be trusted. */
  readonly clientDelayMs: number;
}

/**
 * Number of sessions that one process can serve, with microphones in real time, the real VAD and scripted engines:
 * first sessions that only listen (to a quiet room), then sessions that talk (a question in a synthetic voice every
 * eight seconds, with a reply of three). `--listening N --talking N` set the number of sessions, 300 and 150 unless
 * given; `--seconds N` the duration.
 */
export async function* run(args: readonly string[]): AsyncIterable<BenchRow> {
  const option = (name: string, fallback: number): number =>
    args.includes(`--${name}`) ? Number(args[args.indexOf(`--${name}`) + 1]) : fallback;
  const forMs = option('seconds', measuredMs / 1_000) * 1_000;
  const room = Float32Array.from({ length: rate * 2 }, () => (Math.random() - 0.5) * 0.002);
  const listening = await load(option('listening', 300), framesOf(room), forMs);
  yield* rowsOf('listening', listening);
  const question = await speak('Good evening. What are you most afraid of?');
  const cycle = framesOf(concatSamples([question, silence(8_000 - (question.length / rate) * 1_000)]));
  yield* rowsOf('talking', await load(option('talking', 150), cycle, forMs));
}

async function load(sessions: number, frames: readonly string[], forMs: number): Promise<Level> {
  const server = await startFakeServer('silero');
  const notes: Notes = { firstAudioMs: [], lateMs: [], dropped: 0 };
  // Loads the model and compiles code before memory is measured.
  const [first] = await openCallers(server, 1, frames, notes);
  const stopFirst = callInRealTime(first === undefined ? [] : [first]);
  await pause(warmUpMs);
  stopFirst();
  first?.close();
  const before = await server.usage('memory');
  const callers = await openCallers(server, sessions, frames, notes);
  const stop = callInRealTime(callers);
  await pause(warmUpMs);
  for (const kept of [notes.firstAudioMs, notes.lateMs]) kept.length = 0;
  await server.usage();
  const level = await watch(server, forMs, notes);
  const after = await server.usage('memory');
  stop();
  for (const caller of callers) caller.close();
  server.stop();
  const memoryMib = (after.memoryMib - before.memoryMib) / sessions;
  const heldMib = (after.heldMib - before.heldMib) / sessions;
  return { ...level, sessions, memoryMib, heldMib, firstAudioMs: notes.firstAudioMs, dropped: notes.dropped };
}

async function watch(server: FakeServer, forMs: number, notes: Notes) {
  const own = monitorEventLoopDelay({ resolution: loopResolutionMs });
  own.enable();
  const loopDelayMs: number[] = [];
  let vadMs = 0;
  let cpuMs = 0;
  const startMs = performance.now();
  while (performance.now() - startMs < forMs) {
    await pause(1_000);
    const usage = await server.usage();
    loopDelayMs.push(usage.loopDelayMs);
    vadMs = Math.max(vadMs, usage.vadMs);
    cpuMs += usage.cpuMs;
  }
  own.disable();
  const lateMs = notes.lateMs.reduce((most, late) => Math.max(most, late), vadMs);
  const cpuPercent = (cpuMs / (performance.now() - startMs)) * 100;
  const clientDelayMs = Math.max(0, own.percentile(99) / 1e6 - loopResolutionMs);
  return { loopDelayMs, lateMs, cpuPercent, clientDelayMs };
}

function* rowsOf(what: string, level: Level): Iterable<BenchRow> {
  const delays = summarize(bench, `${what}: event loop late, p99 of each second`, 'ms', level.loopDelayMs);
  const holds = level.lateMs <= bounds.lateMs && delays.p99 <= bounds.loopDelayMs && level.dropped === 0;
  yield summarize(bench, what, 'sessions', [holds ? level.sessions : 0]);
  yield delays;
  yield summarize(bench, `${what}: latest audio frame`, 'ms', [level.lateMs]);
  yield summarize(bench, `${what}: memory per session`, 'MiB', [level.memoryMib]);
  yield summarize(bench, `${what}: of that held, without garbage`, 'MiB', [level.heldMib]);
  yield summarize(bench, `${what}: CPU of the server`, '%', [level.cpuPercent]);
  if (level.firstAudioMs.length > 0)
    yield summarize(bench, `${what}: decision → first audio`, 'ms', level.firstAudioMs);
  yield summarize(bench, `${what}: event loop of the clients late, p99`, 'ms', [level.clientDelayMs]);
  yield summarize(bench, `${what}: sessions dropped`, 'count', [level.dropped]);
}

async function speak(text: string): Promise<Float32Array> {
  const voices = openEmbeddedVoices({ workers: 1, sampleRate: rate });
  const { synthesizer, voice } = voices.forCharacter({ gender: 'female' });
  const samples = await spoken(text, { synthesizer, voice, sampleRate: rate });
  await voices.close();
  return samples;
}
