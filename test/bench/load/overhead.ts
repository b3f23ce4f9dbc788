import { setTimeout as pause } from 'node:timers/promises';
import { concatSamples } from '../../../voices/audio.ts';
import { silence, tone } from '../../fakes/vad.ts';
import { callInRealTime, framesOf, openCallers, startFakeServer, type Notes } from './callers.ts';
import { summarize, type BenchRow } from '../kit/stats.ts';

const bench = 'overhead';
const sessions = 100;
const warmUpMs = 8_000;
const measuredMs = 60_000;
/** 1.5 seconds of speech in every six; the reply takes three. */
const cycle = framesOf(concatSamples([tone(1_520), silence(4_480)]));

/**
 * The time that Dramatis itself adds to a turn: with engines that answer at once, from the end-of-turn decision to the
 * first audio at a client, over WebSocket, while 100 sessions talk. `--seconds N` sets the duration.
 */
export async function* run(args: readonly string[]): AsyncIterable<BenchRow> {
  const given = args[args.indexOf('--seconds') + 1];
  const forMs = args.includes('--seconds') ? Number(given) * 1_000 : measuredMs;
  const server = await startFakeServer('fake');
  const notes: Notes = { firstAudioMs: [], lateMs: [], dropped: 0 };
  const callers = await openCallers(server, sessions, cycle, notes);
  const stop = callInRealTime(callers);
  await pause(warmUpMs);
  for (const kept of [notes.firstAudioMs, notes.lateMs]) kept.length = 0;
  await server.usage();
  await pause(forMs);
  const { loopDelayMs } = await server.usage();
  stop();
  for (const caller of callers) caller.close();
  server.stop();
  yield summarize(bench, 'first-audio', 'ms', notes.firstAudioMs);
  yield summarize(bench, 'piece of a reply late', 'ms', notes.lateMs);
  yield summarize(bench, 'event loop late, p99', 'ms', [loopDelayMs]);
  yield summarize(bench, 'sessions dropped', 'count', [notes.dropped]);
}
