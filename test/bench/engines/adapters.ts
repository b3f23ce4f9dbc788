import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ChatModel } from '../../../agents/chat.ts';
import { chatKinds } from '../../../agents/actor/open.ts';
import { openContext } from '../../../voices/calls/context.ts';
import type { OmniModel } from '../../../voices/omni.ts';
import type { AdaptersByKind } from '../../../voices/calls/context.ts';
import { omniKinds, recognizerKinds, synthesizerKinds } from '../../../server/engines/voice-kinds.ts';
import type { SpeechRecognizer } from '../../../voices/recognizer.ts';
import type { SpeechSynthesizer, Voice } from '../../../voices/synthesizer.ts';
import { writeWav } from '../../../voices/dsp/wav.ts';
import { exchangeSince, sayAgain } from '../../fakes/network/bare-client.ts';
import type { EngineServer } from '../../fakes/servers/engine-server.ts';
import { engineTable, type TabledEngine } from '../../conformance/engine-table.ts';
import { vadFrames } from '../../fakes/speech-frames.ts';
import { tone } from '../../fakes/vad.ts';
import { summarize, type BenchRow } from '../kit/stats.ts';
import { phrasesOf, streamOf } from '../../fakes/spoken.ts';

const repeats = 40;
/** Number of hang-ups; each waits for the server to notice. */
const hangUps = 20;
/** Calls that open connections and warm up the compiler. */
const warmUps = 20;
const says = 'Good evening, my friend, and welcome.';

/**
 * For every adapter of a remote engine: how much later its first result arrives than that of a bare client (`fetch` or
 * `ws`), which alternates with it, sends the same requests to the same server and ignores the answer; and how long
 * after a barge-in the server sees the connection close. An argument selects adapters by name or part of a name.
 */
export async function* run(args: readonly string[]): AsyncIterable<BenchRow> {
  const folder = await mkdtemp(path.join(tmpdir(), 'dramatis-bench-'));
  const clip = path.join(folder, 'clip.wav');
  await writeWav(clip, tone(4_000, 16_000), 16_000);
  const wanted = args.find((arg) => !arg.startsWith('-')) ?? '';
  try {
    for (const engine of engineTable) if (engine.title.includes(wanted)) yield* measured(engine, clip);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function* measured(engine: TabledEngine, clip: string): AsyncIterable<BenchRow> {
  await using server = await engine.open(says);
  const call = await openCall(engine, server, clip);
  const overheads: number[] = [];
  for (let repeat = -warmUps; repeat < repeats; repeat += 1) {
    const before = server.requests.length;
    const firstMs = await timed(() => untilFirst(call(new AbortController().signal)));
    // A recognizer has made requests for partials too; the final one is what counts.
    const from = engine.role === 'asr' ? server.requests.length - 1 : before;
    const exchange = exchangeSince(from, server);
    const bareMs = engine.ownProtocol === true ? 0 : await timed(() => sayAgain(exchange, server.url));
    if (repeat >= 0) overheads.push(firstMs - bareMs);
  }
  const than = engine.ownProtocol === true ? 'the server’s time included' : 'over a bare client';
  yield summarize('adapters', `${engine.title}: first result, ${than}`, 'ms', overheads);
  const closings: number[] = [];
  server.breaks({ kind: 'silence', after: 0.5 }, { route: engine.route });
  for (let repeat = 0; repeat < hangUps; repeat += 1) closings.push(await hangUp(call, server));
  yield summarize('adapters', `${engine.title}: hung up, until the server sees it`, 'ms', closings);
}

/** The result that is timed: the first, or for a recognizer the last. */
interface Result {
  readonly part: unknown;
  readonly counts: boolean;
}
type Call = (signal: AbortSignal) => AsyncIterable<Result>;

async function untilFirst(results: AsyncIterable<Result>): Promise<number> {
  let atMs = Number.NaN;
  // Reads to the end, so that no call interferes with the next.
  for await (const { counts } of results) if (counts && Number.isNaN(atMs)) atMs = performance.now();
  return atMs;
}

/** Milliseconds until the time that `work` resolves to, or, if it resolves to none, until it resolves. */
async function timed(work: () => Promise<number | void>): Promise<number> {
  const startMs = performance.now();
  const atMs = await work();
  return (typeof atMs === 'number' ? atMs : performance.now()) - startMs;
}

async function hangUp(call: Call, server: EngineServer): Promise<number> {
  const controller = new AbortController();
  while (server.open > 0) await nextTurn();
  const before = server.abandoned;
  const talking = Array.fromAsync(call(controller.signal)).catch(() => undefined);
  while (server.open === 0) await nextTurn();
  // By then, the call is well in progress.
  for (let turn = 0; turn < 200; turn += 1) await nextTurn();
  const startMs = performance.now();
  controller.abort(new Error('the user spoke'));
  while (server.abandoned === before) await nextTurn();
  await talking;
  return (server.abandonedAtMs ?? Number.NaN) - startMs;
}

async function opened<Engine>(kinds: AdaptersByKind<Engine>, engine: TabledEngine, server: EngineServer) {
  const { kind, apiKeyEnv: _key, ...given } = engine.settings(server);
  const load = kinds[String(kind)];
  if (load === undefined) throw new Error(`no engine of the kind ${String(kind)}`);
  const { adapter } = await load();
  const settings = adapter.settings.parse(given);
  const context = openContext('bench', {
    key: 'sk-bench',
    callPolicy: [{ graceMs: 0 }, adapter.callPolicy?.(settings)],
  });
  return { engine: adapter.open(settings, context), clones: adapter.clones?.(settings) ?? false };
}

async function openCall(tabled: TabledEngine, server: EngineServer, clip: string): Promise<Call> {
  switch (tabled.role) {
    case 'asr': {
      const { engine } = await opened<SpeechRecognizer>(recognizerKinds, tabled, server);
      return (signal) =>
        counted(
          engine.transcribe(streamOf(vadFrames(tone(1_600, 16_000), 16_000)), { signal }),
          ({ type }) => type === 'transcript-final',
        );
    }
    case 'llm': {
      const { engine } = await opened<ChatModel>(chatKinds, tabled, server);
      return (signal) => counted(engine.chat([{ role: 'user', text: 'Good evening.' }], { signal }), () => true);
    }
    case 'tts': {
      const { engine, clones } = await opened<SpeechSynthesizer>(synthesizerKinds, tabled, server);
      const transcript = 'I keep the house.';
      const voice: Voice = clones
        ? { kind: 'reference', wavPath: clip, transcript, language: 'en', consent: 'ours' }
        : { kind: 'preset', id: 'longxiaochun_v2' };
      return (signal) => counted(engine.speak(phrasesOf(says), { signal, voice }), () => true);
    }
    case 'omni': {
      const { engine } = await opened<OmniModel>(omniKinds, tabled, server);
      const sound = { samples: tone(1_600, 16_000), sampleRate: 16_000 };
      const messages = [{ role: 'user', text: '', sound }] as const;
      return (signal) => counted(engine.reply(messages, { signal, speaks: true }), ({ type }) => type === 'sound');
    }
  }
}

async function* counted<Part>(parts: AsyncIterable<Part>, counts: (part: Part) => boolean): AsyncGenerator<Result> {
  for await (const part of parts) yield { part, counts: counts(part) };
}
