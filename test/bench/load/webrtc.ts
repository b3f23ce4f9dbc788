import { MediaStreamTrack, RtpHeader, RtpPacket, type RTCPeerConnection, type RTCRtpSender } from 'werift';
import { openEngines } from '../../../server/engines/engines.ts';
import { readCharacters } from '../../../server/cast/cast.ts';
import { openOpusDecoder, openOpusEncoder, opusFrameMs, type OpusDecoder } from '../../../voices/dsp/opus.ts';
import { openLoopbackPeer } from '../../fakes/network/loopback-peer.ts';
import { spoken } from '../../fakes/spoken.ts';
import { silence, tone } from '../../fakes/vad.ts';
import { measureLoads, startLoadedServer, type Load } from './server-load.ts';
import { summarize, type BenchRow } from '../kit/stats.ts';

const bench = 'webrtc';
const calls = 20;
const sampleRate = 24_000;
const frameTicks = 960;
/** 1.5 seconds of speech in every six; the reply takes three. */
const turnFrames = 300;
const speechFrames = 75;
/** A silent sender with discontinuous transmission sends one packet in this many frames. */
const discontinuousFrames = 20;
/** Frames timed together: one alone is too short for the clock. */
const blockFrames = 50;

/**
 * The cost of a call. Opus alone, by the kind of audio; then the server, without engines, with calls that wait, that
 * talk and get replies all the time, and that send nothing but comfort noise while silent (DTX). The baseline is the
 * bench `protocol`: the same conversation over WebSockets.
 */
export async function* run(): AsyncIterable<BenchRow> {
  yield* measureOpus();
  const server = await startLoadedServer({ sings: true });
  try {
    const url = `http://127.0.0.1:${server.port}/v1/realtime/calls?model=alice`;
    yield* measureLoads(server, await openCalls(url, 'continuous'), { bench, what: `${calls} waiting` });
    for (const kind of ['continuous', 'DTX'] as const) {
      const talking = await openCalls(url, kind);
      yield* measureLoads(server, talking, { bench, what: `${calls} talking, ${kind}`, frameMs: opusFrameMs });
    }
  } finally {
    server.stop();
  }
}

async function* measureOpus(): AsyncIterable<BenchRow> {
  const [encoder, decoder] = await Promise.all([openOpusEncoder(sampleRate), openOpusDecoder(sampleRate)]);
  const { frameSamples } = encoder;
  const frames = (sound: Float32Array): Float32Array[] =>
    Array.from({ length: Math.floor(sound.length / frameSamples) }, (_, index) =>
      sound.subarray(index * frameSamples, (index + 1) * frameSamples),
    );
  const speech = frames(await speechOf());
  const quiet = frames(silence(10_000));
  const time = (what: string, times: number, work: (index: number) => unknown): BenchRow => {
    const microseconds: number[] = [];
    for (let index = 0; index < times;) {
      const startMs = performance.now();
      for (let count = 0; count < blockFrames; count += 1, index += 1) work(index % times);
      microseconds.push(((performance.now() - startMs) * 1000) / blockFrames);
    }
    return summarize(bench, `Opus, 20 ms: ${what}`, 'µs', microseconds);
  };
  const packets = speech.map((frame) => encoder.encode(frame));
  yield time('encode speech', speech.length, (index) => encoder.encode(speech[index] ?? quiet[0]!));
  yield time('encode silence', quiet.length, (index) => encoder.encode(quiet[index]!));
  const quietPackets = quiet.map((frame) => encoder.encode(frame));
  // A packet without content, as sent by discontinuous transmission, has only its first byte.
  const noise = packets[0]!.slice(0, 1);
  const decode = (of: readonly Uint8Array[]) => (index: number) => decoder.decode(of[index % of.length]!);
  for (const _warm of [1, 2]) for (const packet of packets) decoder.decode(packet);
  yield time('decode speech', packets.length, decode(packets));
  yield time('decode silence', quietPackets.length, decode(quietPackets));
  yield time('decode comfort noise (DTX)', quietPackets.length, decode([noise]));
  yield time('conceal a loss', quietPackets.length, concealing(decoder));
  encoder.close();
  decoder.close();
}

function concealing(decoder: OpusDecoder): () => unknown {
  return () => decoder.conceal();
}

/** Ten seconds or more in one of our own voices. */
async function speechOf(): Promise<Float32Array> {
  const engines = await openEngines({ workers: 1 });
  const holmes = (await readCharacters({})).get('sherlock-holmes');
  if (holmes === undefined) throw new Error('the pack of Sherlock Holmes is missing');
  const text = holmes.lines
    .slice(0, 4)
    .map(({ reply }) => reply)
    .join(' ');
  const sound = await spoken(text, engines.voiceOf(holmes));
  await engines.close();
  return sound;
}

async function openCalls(url: string, kind: 'continuous' | 'DTX'): Promise<Load[]> {
  const encoder = await openOpusEncoder(sampleRate);
  const payloads = { speech: Buffer.from(encoder.encode(tone(opusFrameMs))), silence: Buffer.from('') };
  for (let count = 0; count < 10; count += 1) payloads.silence = Buffer.from(encoder.encode(silence(opusFrameMs)));
  encoder.close();
  const loads: Load[] = [];
  for (let index = 0; index < calls; index += 1) {
    // Turns are spread, so that users do not all speak at once.
    loads.push(await openCall(url, payloads, kind, Math.round((index * turnFrames) / calls)));
  }
  return loads;
}

async function openCall(
  url: string,
  payloads: Readonly<Record<'speech' | 'silence', Buffer>>,
  kind: 'continuous' | 'DTX',
  fromFrame: number,
): Promise<Load> {
  const connection = openLoopbackPeer();
  const { sender } = connection.addTransceiver(new MediaStreamTrack({ kind: 'audio' }), { direction: 'sendrecv' });
  const channel = connection.createDataChannel('oai-events');
  const offer = await connection.createOffer();
  for (const { iceTransport } of connection.dtlsTransports) delete iceTransport.connection.stunServer;
  await connection.setLocalDescription(offer);
  const body = connection.localDescription?.sdp ?? '';
  const response = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/sdp' }, body });
  const isOpen = channel.stateChange.watch((state) => state === 'open');
  await connection.setRemoteDescription({ type: 'answer', sdp: await response.text() });
  await isOpen;
  return loadOf(connection, sender, payloads, kind, fromFrame);
}

function loadOf(
  connection: RTCPeerConnection,
  sender: RTCRtpSender,
  payloads: Readonly<Record<'speech' | 'silence', Buffer>>,
  kind: 'continuous' | 'DTX',
  fromFrame: number,
): Load {
  let frames = 0;
  let packets = 0;
  const pair = () =>
    connection.iceTransports.flatMap(({ connection: ice }) => ice.candidatePairs).find(({ nominated }) => nominated);
  return {
    tick() {
      const place = (fromFrame + frames) % turnFrames;
      const isSpeech = place < speechFrames;
      frames += 1;
      if (!isSpeech && kind === 'DTX' && (place - speechFrames) % discontinuousFrames !== 0) return;
      packets += 1;
      const header = new RtpHeader({ sequenceNumber: packets & 0xff_ff, timestamp: frames * frameTicks });
      void sender.sendRtp(new RtpPacket(header, isSpeech ? payloads.speech : payloads.silence));
    },
    bytesSent: () => pair()?.bytesSent ?? 0,
    bytesReceived: () => pair()?.bytesReceived ?? 0,
    close: () => void connection.close(),
  };
}
