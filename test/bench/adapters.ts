import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { adapter as openaiChat } from '../../agents/chats/openai-chat.ts';
import type { AudioFrame } from '../../voices/audio.ts';
import { openContext, type Adapter } from '../../voices/calls/context.ts';
import { adapter as openaiTranscriptions } from '../../voices/recognizers/openai-transcriptions.ts';
import type { SpeechRecognizer } from '../../voices/recognizer.ts';
import { adapter as openaiSpeech } from '../../voices/synthesizers/openai-speech.ts';
import type { SpeechSynthesizer } from '../../voices/synthesizer.ts';
import { adapter as triton } from '../../voices/synthesizers/triton.ts';
import { writeWav } from '../../voices/wav.ts';
import { asHeard } from '../fakes/speech-frames.ts';
import { replyEvents } from '../fakes/chat-server.ts';
import { openEngineServer, type EngineServer } from '../fakes/engine-server.ts';
import { pcmOf } from '../fakes/sound.ts';
import { openTritonServer } from '../fakes/triton-server.ts';
import { tone } from '../fakes/vad.ts';
import { summarize, type BenchRow } from './stats.ts';

const repeats = 40;
/** What the server takes to think, in milliseconds: measured each time, and not counted. */
const thinkingMs = 20;
const signal = new AbortController().signal;

/** A server that answers after a while, and knows how long it took. */
interface Timed extends AsyncDisposable {
  readonly server: EngineServer;
  /** From the last request's arrival to the first byte of its answer. */
  readonly tookMs: number;
}

async function openTimed(route: string, type: string, pieces: readonly (string | Buffer)[]): Promise<Timed> {
  let tookMs = 0;
  async function* body(): AsyncGenerator<string | Buffer> {
    const arrivedMs = performance.now();
    await new Promise((resolve) => setTimeout(resolve, thinkingMs));
    tookMs = performance.now() - arrivedMs;
    yield* pieces;
  }
  const server = await openEngineServer({ [route]: () => ({ headers: { 'content-type': type }, body: body() }) });
  return {
    server,
    get tookMs() {
      return tookMs;
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

function open<Engine, Settings>(adapter: Adapter<Engine, Settings>, server: EngineServer, settings: object): Engine {
  const parsed = adapter.settings.parse({ baseUrl: `${server.url}/v1`, ...settings });
  return adapter.open(parsed, openContext('bench', { care: [adapter.care?.(parsed)] }));
}

/** How long after the call the first result is there, the server's own time left out. One row an adapter. */
export async function* run(): AsyncIterable<BenchRow> {
  yield* measured('openai-speech', 'first sound', {
    server: await openTimed('POST /v1/audio/speech', 'audio/pcm', [pcmOf('one two three four five', 24_000)]),
    engine: (server) => open<SpeechSynthesizer, unknown>(openaiSpeech, server, {}),
    first: (engine) =>
      engine.speak(one({ text: 'one two three four five' }), { signal, voice: { kind: 'preset', id: 'alloy' } }),
  });
  const folder = await mkdtemp(path.join(tmpdir(), 'dramatis-bench-'));
  const wavPath = path.join(folder, 'clip.wav');
  await writeWav(wavPath, tone(4_000, 16_000), 16_000);
  yield* measured('triton', 'first sound, with a clip of 4 s', {
    server: await openTimedTriton(tone(600)),
    engine: (server) => open<SpeechSynthesizer, unknown>(triton, server, {}),
    first: (engine) => {
      const voice = { kind: 'reference', wavPath, transcript: 'Mind the step.', language: 'en' } as const;
      return engine.speak(one({ text: 'one two three four five' }), { signal, voice });
    },
  });
  await rm(folder, { recursive: true });
  yield* measured('openai-transcriptions', 'transcript of 1.6 s', {
    server: await openTimed('POST /v1/audio/transcriptions', 'application/json', ['{"text":"hello there"}']),
    engine: (server) => open<SpeechRecognizer, unknown>(openaiTranscriptions, server, {}),
    first: (engine) => engine.transcribe(frames(), { signal }),
  });
  yield* measured('openai-chat', 'first token', {
    server: await openTimed('POST /v1/chat/completions', 'text/event-stream', replyEvents(['Good ', 'evening.'])),
    engine: (server) => open(openaiChat, server, { model: 'llama' }),
    first: (engine) => engine.chat([{ role: 'user', text: 'Good evening.' }], { signal }),
  });
}

/** A model on Triton that answers after a while. */
async function openTimedTriton(samples: Float32Array): Promise<Timed> {
  let tookMs = 0;
  const server = await openTritonServer(async function* () {
    const arrivedMs = performance.now();
    await new Promise((resolve) => setTimeout(resolve, thinkingMs));
    tookMs = performance.now() - arrivedMs;
    yield { name: 'waveform', datatype: 'FP32', shape: [1, samples.length], raw: Buffer.from(samples.buffer) };
  });
  return {
    server,
    get tookMs() {
      return tookMs;
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

async function* measured<Engine>(
  name: string,
  what: string,
  parts: {
    readonly server: Timed;
    engine(server: EngineServer): Engine;
    first(engine: Engine): AsyncIterable<unknown>;
  },
): AsyncIterable<BenchRow> {
  await using timed = parts.server;
  const engine = parts.engine(timed.server);
  const overheads: number[] = [];
  for (let repeat = -3; repeat < repeats; repeat += 1) {
    const startMs = performance.now();
    let firstMs: number | undefined;
    for await (const _part of parts.first(engine)) firstMs ??= performance.now() - startMs;
    // The first few open the connection and warm the compiler up.
    if (repeat >= 0 && firstMs !== undefined) overheads.push(firstMs - timed.tookMs);
  }
  yield summarize('adapters', `${name}: ${what}, over the server's own time`, 'ms', overheads);
}

async function* one<Item>(item: Item): AsyncIterable<Item> {
  yield item;
}

async function* frames(): AsyncIterable<AudioFrame> {
  yield* asHeard(tone(1_600, 16_000), 16_000);
}
