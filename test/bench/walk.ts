import { once } from 'node:events';
import { Session } from 'node:inspector/promises';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { WebSocket } from 'ws';
import { startServer } from '../../server/app/serve.ts';
import { run as runEvalCommand } from '../../server/cli/eval.ts';
import { readConfig } from '../../server/config/config.ts';
import { openFlite } from '../../voices/synthesizers/flite.ts';
import { makeJudgedSet } from '../eval/judged-set.ts';
import { openScratch } from '../eval/scratch.ts';
import { openJudgeServer } from '../fakes/servers/judge-server.ts';
import { spoken } from '../fakes/spoken.ts';
import { runOf } from '../rigs/eval-rig.ts';
import { sharedAvailable } from '../shared.ts';
import { utterances } from './kit/recordings.ts';
import { summarize, type BenchRow } from './kit/stats.ts';
import { framesOf, frameMs } from './load/callers.ts';

const bench = 'walk';
const root = path.resolve(import.meta.dirname, '../..');
const sourceFile = /^(?:characters|voices|agents|server|eval)\/.*\.[jt]s$/;
const windowMs = 200;
const spokenTurns = 3;
/** Speech before the first window and after the last: the middle of an utterance is neither its start nor its end. */
const marginMs = 600;

/** Names of the functions entered, by source file. */
type Walk = ReadonlyMap<string, readonly string[]>;

interface SpeechWalk {
  readonly walk: Walk;
  /** Partial transcripts that the client received meanwhile: they take the longer way through the server. */
  readonly partials: number;
}

/**
 * Counts the source files and functions that are entered on the main thread (V8 precise coverage, everything warm):
 * by 200 ms of speech in the middle of an utterance, by a whole spoken turn from the last word to the last audio of
 * the reply, and by one evaluation sample of 16 judge questions with stored answers. Embedded engines, no LLM.
 * `--list` prints the files; what worker threads enter is not counted. The goals are those of `walk.slow.test.ts`.
 */
export async function* run(args: readonly string[]): AsyncIterable<BenchRow> {
  const coverage = await openCoverage();
  const { speech, turns } = await walkSpokenTurns(coverage);
  const samples = await walkEvalSamples(coverage);
  const transcribed = speech.flatMap(({ walk, partials }) => (partials > 0 ? [walk] : []));
  yield* rowsOf(
    '200 ms of speech',
    speech.map(({ walk }) => walk),
    args,
  );
  yield* rowsOf('200 ms of speech with a partial transcript', transcribed, args);
  yield* rowsOf('a whole spoken turn', turns, args);
  yield* rowsOf('an eval sample', samples, args);
}

function* rowsOf(what: string, walks: readonly Walk[], args: readonly string[]): Iterable<BenchRow> {
  if (args.includes('--list')) {
    console.log(`\n${what}: times entered of ${walks.length}, file, functions`);
    const files = [...new Set(walks.flatMap((walk) => [...walk.keys()]))].toSorted();
    for (const file of files) {
      const names = new Set(walks.flatMap((walk) => walk.get(file) ?? []));
      console.log(`${walks.filter((walk) => walk.has(file)).length}  ${file}: ${[...names].join(' ')}`);
    }
  }
  const files = walks.map((walk) => walk.size);
  const functions = walks.map((walk) => [...walk.values()].reduce((sum, names) => sum + names.length, 0));
  yield summarize(bench, `files entered by ${what}`, 'count', files);
  yield summarize(bench, `functions entered by ${what}`, 'count', functions);
}

interface Coverage {
  /** Source files and functions entered since the last call. */
  take(): Promise<Walk>;
}

async function openCoverage(): Promise<Coverage> {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  return {
    async take() {
      const { result } = await session.post('Profiler.takePreciseCoverage');
      const walk = new Map<string, string[]>();
      for (const { url, functions } of result) {
        const file = url.startsWith('file:') ? path.relative(root, fileURLToPath(url)) : '';
        // The function without a name at the start of a file is the module itself: loading it enters nothing.
        const entered = functions.filter(
          ({ functionName, ranges: [range] }) =>
            range !== undefined && range.count > 0 && !(functionName === '' && range.startOffset === 0),
        );
        if (!sourceFile.test(file) || entered.length === 0) continue;
        walk.set(
          file,
          entered.map(({ functionName }) => functionName || '(anonymous)'),
        );
      }
      return walk;
    },
  };
}

/** Speaks to a warm server on this thread; the client is a plain `ws` socket, so that it enters no source file. */
async function walkSpokenTurns(coverage: Coverage): Promise<{ speech: SpeechWalk[]; turns: Walk[] }> {
  const frames = framesOf(await sentence());
  const [silence = ''] = framesOf(new Float32Array(1));
  const server = await startServer(readConfig({ flags: { port: '0', logLevel: 'error' }, environment: {} }));
  const socket = new WebSocket(`${server.url.replace('http', 'ws')}/v1/realtime?model=abraham-lincoln`);
  const speech: SpeechWalk[] = [];
  const turns: Walk[] = [];
  try {
    await once(socket, 'message');
    for (let turn = 0; turn <= spokenTurns; turn += 1) {
      const walks = await speak(socket, frames, coverage);
      const walk = await hearReply(socket, silence, coverage);
      // The first turn warms up.
      if (turn === 0) continue;
      speech.push(...walks);
      turns.push(walk);
    }
  } finally {
    socket.terminate();
    await server.close();
  }
  return { speech, turns };
}

/** Sends an utterance in real time, and returns what each 200 ms in its middle entered. */
async function speak(socket: WebSocket, frames: readonly string[], coverage: Coverage): Promise<SpeechWalk[]> {
  const walks: SpeechWalk[] = [];
  const partials = countEvents(socket, 'conversation.item.input_audio_transcription.delta');
  let partialsBefore = 0;
  const startMs = performance.now();
  for (const [index, frame] of frames.entries()) {
    const atMs = index * frameMs;
    if (atMs >= marginMs && (atMs - marginMs) % windowMs === 0) {
      const walk = await coverage.take();
      const isInside = atMs > marginMs && atMs <= frames.length * frameMs - marginMs;
      if (isInside) walks.push({ walk, partials: partials.count - partialsBefore });
      partialsBefore = partials.count;
    }
    socket.send(frame);
    await pause(Math.max(0, startMs + atMs + frameMs - performance.now()));
  }
  partials.stop();
  await coverage.take();
  return walks;
}

/** Sends silence until the reply has ended, and returns what was entered meanwhile. */
async function hearReply(socket: WebSocket, silence: string, coverage: Coverage): Promise<Walk> {
  const done = countEvents(socket, 'response.done');
  for (const startMs = performance.now(); done.count === 0; await pause(frameMs)) {
    if (performance.now() - startMs > 60_000) throw new Error('the server did not reply within 60 s');
    socket.send(silence);
  }
  done.stop();
  return coverage.take();
}

function countEvents(socket: WebSocket, type: string): { count: number; stop(): void } {
  const counter = { count: 0, stop: () => void socket.off('message', onMessage) };
  const onMessage = (data: Buffer): void => {
    if (data.toString('latin1', 0, 200).includes(`"type":"${type}"`)) counter.count += 1;
  };
  socket.on('message', onMessage);
  return counter;
}

/** A few seconds of English at the wire's sample rate: a recording, or Flite's voice if there are no recordings. */
async function sentence(): Promise<Float32Array> {
  const [clip] = sharedAvailable ? await utterances(160, { minMs: 2_500, maxMs: 6_000 }) : [];
  if (clip !== undefined) return clip.samples;
  const flite = openFlite();
  try {
    const voice = { kind: 'preset', id: 'rms' } as const;
    return await spoken('Tell me what you thought of the war when it had begun.', { synthesizer: flite, voice });
  } finally {
    await flite.close();
  }
}

/** Evaluates one stored dialogue by the `dramatis` protocol (8 metrics in both orders) against a judge on loopback. */
async function walkEvalSamples(coverage: Coverage): Promise<Walk[]> {
  await using scratch = await openScratch();
  await using judge = await openJudgeServer();
  const set = await makeJudgedSet(scratch.path, 1);
  const print = console.log;
  const walks: Walk[] = [];
  try {
    console.log = () => undefined;
    for (let repeat = 0; repeat <= 2; repeat += 1) {
      const more = ['--protocol', 'dramatis', '--mode', 'single', '--limit', '1'];
      const args = runOf(set, judge.url, path.join(scratch.path, `run-${repeat}`), more);
      await coverage.take();
      const status = await runEvalCommand(args);
      const walk = await coverage.take();
      if (status !== 0) throw new Error(`dramatis eval ended with status ${status}`);
      // The first run warms up.
      if (repeat > 0) walks.push(walk);
    }
  } finally {
    console.log = print;
  }
  return walks;
}
