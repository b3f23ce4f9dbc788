import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { encodeFrame, type OpusPacket } from '../../server/protocol/binary-frame.ts';
import { pcm16FromFloats } from '../../voices/audio.ts';
import { openOpusEncoder } from '../../voices/opus.ts';
import { silence, tone } from '../fakes/vad.ts';
import type { Ready, Usage } from './fake-server.ts';
import { summarize, type BenchRow } from './stats.ts';

const bench = 'protocol';
const idleSessions = 200;
const talkingSessions = 100;
const warmUpSeconds = 8;
const measuredSeconds = 15;
const frameMs = 40;
/** One and a half seconds of speech in six; the reply takes three. */
const turnFrames = 150;
const speechFrames = 38;
/** As often as our client acknowledges: every two seconds. */
const ackFrames = 50;

type Variant = 'JSON' | 'binary' | 'binary, resumable' | 'Opus';
const extensions: Readonly<Record<Variant, string>> = {
  JSON: '',
  binary: '&x=binary',
  'binary, resumable': '&x=binary,resume',
  Opus: '&x=opus',
};

/** A client that costs little, so that what is measured is the server. */
interface Load {
  /** Sends 40 ms of sound, and whatever else is due. */
  tick(): void;
  bytesSent(): number;
  bytesReceived(): number;
  close(): void;
}

/**
 * What the wire and the session cost the server, engines left out: CPU and bytes per session and minute, and how late its
 * event loop gets. 200 sessions that do nothing; then 100 that talk and are answered all the time, over stock JSON (the
 * baseline), binary frames, binary frames of a session that can be resumed, and Opus.
 */
export async function* run(): AsyncIterable<BenchRow> {
  const server = fork(path.join(import.meta.dirname, 'fake-server.ts'));
  try {
    const [{ port }] = (await once(server, 'message')) as [Ready];
    const url = `ws://127.0.0.1:${port}/v1/realtime?model=alice`;
    const idle = await openLoads(url, idleSessions, 'binary, resumable');
    yield* measure(server, `${idleSessions} idle`, idle, false);
    for (const variant of Object.keys(extensions) as Variant[]) {
      const talking = await openLoads(url, talkingSessions, variant);
      yield* measure(server, `${talkingSessions} talking, ${variant}`, talking, true);
    }
  } finally {
    server.disconnect();
  }
}

async function* measure(
  server: ChildProcess,
  what: string,
  loads: readonly Load[],
  talks: boolean,
): AsyncIterable<BenchRow> {
  const stopTalking = talks ? talk(loads) : () => undefined;
  await pause((talks ? warmUpSeconds : 1) * 1000);
  await usageOf(server);
  const sent = total(loads, 'bytesSent');
  const received = total(loads, 'bytesReceived');
  const startMs = performance.now();
  const cpuMs: number[] = [];
  const loopDelayMs: number[] = [];
  for (let lastMs = startMs; lastMs < startMs + measuredSeconds * 1000;) {
    await pause(1_000);
    const usage = await usageOf(server);
    const now = performance.now();
    cpuMs.push((usage.cpuMs / (now - lastMs)) * (60_000 / loads.length));
    loopDelayMs.push(usage.loopDelayMs);
    lastMs = now;
  }
  const sessionMinutes = ((performance.now() - startMs) / 60_000) * loads.length;
  const kibibytes = (bytes: number): number[] => [bytes / 1024 / sessionMinutes];
  yield summarize(bench, `${what}: CPU per session-minute`, 'ms', cpuMs);
  yield summarize(bench, `${what}: event loop late, p99 of each second`, 'ms', loopDelayMs);
  yield summarize(
    bench,
    `${what}: to the server per session-minute`,
    'KiB',
    kibibytes(total(loads, 'bytesSent') - sent),
  );
  yield summarize(
    bench,
    `${what}: from the server per session-minute`,
    'KiB',
    kibibytes(total(loads, 'bytesReceived') - received),
  );
  stopTalking();
  for (const load of loads) load.close();
}

async function usageOf(server: ChildProcess): Promise<Usage> {
  server.send('usage');
  const [usage] = (await once(server, 'message')) as [Usage];
  return usage;
}

function total(loads: readonly Load[], what: 'bytesSent' | 'bytesReceived'): number {
  return loads.reduce((sum, load) => sum + load[what](), 0);
}

/** Every client sends a frame every 40 ms, the clients spread over that time; returns what stops it. */
function talk(loads: readonly Load[]): () => void {
  const startMs = performance.now();
  let ticks = 0;
  const timer = setInterval(() => {
    const due = ((performance.now() - startMs) / frameMs) * loads.length;
    for (; ticks < due; ticks += 1) loads[ticks % loads.length]?.tick();
  }, 2);
  return () => clearInterval(timer);
}

async function openLoads(url: string, count: number, variant: Variant): Promise<Load[]> {
  const loads: Load[] = [];
  for (let index = 0; index < count; index += 1) {
    // Turns are spread, so that not everybody speaks at once.
    loads.push(await openLoad(`${url}${extensions[variant]}`, variant, Math.round((index * turnFrames) / count)));
  }
  return loads;
}

const soundOf = { speech: pcm16FromFloats(tone(frameMs)), silence: pcm16FromFloats(silence(frameMs)) };
const jsonOf = {
  speech: JSON.stringify({ type: 'input_audio_buffer.append', audio: soundOf.speech.toString('base64') }),
  silence: JSON.stringify({ type: 'input_audio_buffer.append', audio: soundOf.silence.toString('base64') }),
};

const opusOf = { speech: await packetsOf(tone(frameMs)), silence: await packetsOf(silence(frameMs)) };

/** Sound as whole packets, delay and all. */
async function packetsOf(sound: Float32Array): Promise<OpusPacket[]> {
  const encoder = await openOpusEncoder(24_000, { isLossless: true });
  const { frameSamples } = encoder;
  return Array.from({ length: sound.length / frameSamples }, (_, index) => {
    const packet = encoder.encode(sound.subarray(index * frameSamples, (index + 1) * frameSamples));
    return { packet, skipSamples: 0, takeSamples: frameSamples };
  });
}

async function openLoad(url: string, variant: Variant, fromFrame: number): Promise<Load> {
  const socket = new WebSocket(url, { perMessageDeflate: false });
  await once(socket, 'message');
  const { _socket: wire } = socket as unknown as { _socket: Socket };
  const acknowledges = variant === 'binary, resumable';
  let frames = 0;
  let sequence = 0;
  let last = 1;
  socket.on('message', (data: Buffer, isBinary) => {
    if (!acknowledges) return;
    if (isBinary) last = data.readUInt32LE(4);
    else last = Number(/"x_seq":(\d+)/.exec(data.toString('latin1'))?.[1] ?? last);
  });
  return {
    tick() {
      const kind = (fromFrame + frames) % turnFrames < speechFrames ? 'speech' : 'silence';
      frames += 1;
      if (variant === 'JSON') socket.send(jsonOf[kind]);
      else {
        const sounds = variant === 'Opus' ? opusOf[kind].map((opus) => ({ opus })) : [{ pcm16: soundOf[kind] }];
        for (const sound of sounds) {
          sequence += 1;
          socket.send(
            encodeFrame({ kind: 'input', replyNumber: 0, sequence, offsetSamples: (frames - 1) * 960, ...sound }),
          );
        }
      }
      if (acknowledges && frames % ackFrames === 0) {
        socket.send(JSON.stringify({ type: 'x_dramatis.ack', x_ack: last }));
      }
    },
    bytesSent: () => wire.bytesWritten,
    bytesReceived: () => wire.bytesRead,
    close: () => socket.close(1000),
  };
}
