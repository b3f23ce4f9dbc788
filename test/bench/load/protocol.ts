import { once } from 'node:events';
import type { Socket } from 'node:net';
import { WebSocket } from 'ws';
import { encodeFrame, type OpusPacket } from '../../../server/protocol/binary-frame.ts';
import { pcm16FromFloats } from '../../../voices/audio.ts';
import { openOpusEncoder } from '../../../voices/dsp/opus.ts';
import { silence, tone } from '../../fakes/vad.ts';
import { measureLoads, startLoadedServer, type Load } from './server-load.ts';
import type { BenchRow } from '../kit/stats.ts';

const bench = 'protocol';
const idleSessions = 200;
const talkingSessions = 100;
const frameMs = 40;
/** 1.5 seconds of speech in every six; the reply takes three. */
const turnFrames = 150;
const speechFrames = 38;
/** Acknowledges as often as our client: every two seconds. */
const ackFrames = 50;

type Variant = 'JSON' | 'binary' | 'binary, resumable' | 'Opus';
const extensions: Readonly<Record<Variant, string>> = {
  JSON: '',
  binary: '&x=binary',
  'binary, resumable': '&x=binary,resume',
  Opus: '&x=opus',
};

/**
 * The cost of protocol and session for the server, without engines: CPU and bytes per session and minute, and event
 * loop delay. 200 idle sessions; then 100 that talk and get replies all the time, over stock JSON (the baseline),
 * binary frames, binary frames of a resumable session, and Opus.
 */
export async function* run(): AsyncIterable<BenchRow> {
  const server = await startLoadedServer();
  try {
    const url = `ws://127.0.0.1:${server.port}/v1/realtime?model=alice`;
    const idle = await openLoads(url, idleSessions, 'binary, resumable');
    yield* measureLoads(server, idle, { bench, what: `${idleSessions} idle` });
    for (const variant of Object.keys(extensions) as Variant[]) {
      const talking = await openLoads(url, talkingSessions, variant);
      yield* measureLoads(server, talking, { bench, what: `${talkingSessions} talking, ${variant}`, frameMs });
    }
  } finally {
    server.stop();
  }
}

async function openLoads(url: string, count: number, variant: Variant): Promise<Load[]> {
  const loads: Load[] = [];
  for (let index = 0; index < count; index += 1) {
    // Turns are spread, so that users do not all speak at once.
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

/** Encodes audio into complete packets, including the encoder's delay. */
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
