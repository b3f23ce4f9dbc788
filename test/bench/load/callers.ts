import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { WebSocket } from 'ws';
import { wireSampleRate } from '../../../server/protocol/limits.ts';
import { pcm16FromFloats } from '../../../voices/audio.ts';
import type { Ready, Usage } from './fake-server.ts';
import { machineClockMs } from '../turns/machine-clock.ts';

/** Length of one microphone frame. */
export const frameMs = 40;
const frameSamples = (wireSampleRate / 1000) * frameMs;
/** Lead over real time with which the server sends audio, and its block length: its defaults. */
const aheadMs = 400;
const pieceMs = 60;

/** The benchmark server in a separate process. */
export interface FakeServer {
  readonly url: string;
  readonly clockFromMs: number;
  /** With `memory`, garbage is collected first. */
  usage(what?: 'memory'): Promise<Usage>;
  stop(): void;
}

/**
 * Starts the server; with `silero`, it uses the real VAD. `job`: it rates voices at the same time, see
 * `judging-job.ts`.
 */
export async function startFakeServer(vad: 'fake' | 'silero', job: readonly string[] = []): Promise<FakeServer> {
  const child: ChildProcess = fork(path.join(import.meta.dirname, 'fake-server.ts'), [vad, ...job], {
    // The other flags are those of `npm start`.
    execArgv: ['--expose-gc', '--max-semi-space-size=8', '--heap-growing-percent=100'],
  });
  const [{ port, clockFromMs }] = (await once(child, 'message')) as [Ready];
  return {
    url: `ws://127.0.0.1:${port}/v1/realtime?model=alice`,
    clockFromMs,
    async usage(what) {
      child.send(what ?? 'usage');
      const [usage] = (await once(child, 'message')) as [Usage];
      return usage;
    },
    stop: () => child.disconnect(),
  };
}

/** Measurements of all callers together. */
export interface Notes {
  /** From the server's end-of-turn decision to the first audio of the reply. */
  readonly firstAudioMs: number[];
  /** Delay of each further block of a reply relative to real-time pacing. */
  readonly lateMs: number[];
  dropped: number;
}

export interface Caller {
  /** Sends one microphone frame. */
  tick(): void;
  close(): void;
}

/** Splits audio at the wire's sample rate into JSON frames. */
export function framesOf(samples: Float32Array): string[] {
  const frames: string[] = [];
  for (let offset = 0; offset < samples.length; offset += frameSamples) {
    const frame = new Float32Array(frameSamples);
    frame.set(samples.subarray(offset, offset + frameSamples));
    const audio = pcm16FromFloats(frame).toString('base64');
    frames.push(JSON.stringify({ type: 'input_audio_buffer.append', audio }));
  }
  return frames;
}

/** Opens callers that loop through `frames`, each from a different offset. Their measurements go into `notes`. */
export async function openCallers(
  server: FakeServer,
  count: number,
  frames: readonly string[],
  notes: Notes,
): Promise<Caller[]> {
  const callers: Caller[] = [];
  for (let index = 0; index < count; index += 1) {
    callers.push(await openCaller(server, frames, Math.round((index * frames.length) / count), notes));
  }
  return callers;
}

async function openCaller(
  { url, clockFromMs }: FakeServer,
  frames: readonly string[],
  fromFrame: number,
  notes: Notes,
): Promise<Caller> {
  const socket = new WebSocket(url, { perMessageDeflate: false });
  await once(socket, 'message');
  const hear = earOf(clockFromMs, notes);
  socket.on('message', (data: Buffer) => hear(data));
  let closing = false;
  socket.once('close', () => (notes.dropped += closing ? 0 : 1));
  let next = fromFrame;
  return {
    tick() {
      socket.send(frames[next % frames.length] ?? '');
      next += 1;
    },
    close() {
      closing = true;
      socket.close(1000);
    },
  };
}

/**
 * Returns a message handler that times the audio of replies. It parses only what it needs, because a caller must be
 * cheap.
 */
function earOf(clockFromMs: number, notes: Notes): (data: Buffer) => void {
  let decidedAtMs: number | undefined;
  let answer: { readonly startMs: number; soundMs: number } | undefined;
  return (data) => {
    const nowMs = machineClockMs();
    const type = /"type":"([a-z_.]+)"/.exec(data.toString('latin1', 0, 160))?.[1];
    if (type === 'input_audio_buffer.speech_stopped') {
      decidedAtMs = clockFromMs + Number(/"x_ms":(\d+)/.exec(data.toString('latin1'))?.[1]);
    } else if (type === 'response.created') answer = undefined;
    else if (type === 'response.output_audio.delta') {
      const { delta } = JSON.parse(data.toString('utf8')) as { delta: string };
      if (answer === undefined) {
        answer = { startMs: nowMs, soundMs: 0 };
        if (decidedAtMs !== undefined) notes.firstAudioMs.push(Math.max(0, nowMs - decidedAtMs));
        decidedAtMs = undefined;
      } else {
        const dueMs = answer.startMs + Math.max(0, answer.soundMs + pieceMs - aheadMs);
        notes.lateMs.push(Math.max(0, nowMs - dueMs));
      }
      answer.soundMs += (delta.length * 3) / 4 / 2 / (wireSampleRate / 1000);
    }
  };
}

/** Makes every caller send a frame every 40 ms, evenly spread over that time. Returns a function that stops it. */
export function callInRealTime(callers: readonly Caller[]): () => void {
  const startMs = performance.now();
  let ticks = 0;
  const timer = setInterval(() => {
    const due = ((performance.now() - startMs) / frameMs) * callers.length;
    for (; ticks < due; ticks += 1) callers[ticks % callers.length]?.tick();
  }, 2);
  return () => clearInterval(timer);
}
