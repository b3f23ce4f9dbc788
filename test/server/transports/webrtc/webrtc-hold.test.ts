import { afterEach, describe, expect, it } from 'vitest';
import { openConnection } from '../../../../server/realtime/connection.ts';
import { Call } from '../../../../server/transports/webrtc/call.ts';
import type { PeerConnection } from '../../../../server/transports/webrtc/peer.ts';
import { PlayoutQueue } from '../../../../server/transports/webrtc/playout-queue.ts';
import type { OutgoingPacket } from '../../../../server/transports/webrtc/rtp.ts';
import { openOpusDecoder, openOpusEncoder } from '../../../../voices/dsp/opus.ts';
import type { RecordedEvent } from '../../../conformance/realtime-order.ts';
import { fakeSynthesizer } from '../../../fakes/synthesizer.ts';
import { silence, tone } from '../../../fakes/vad.ts';
import { recordConnection } from '../../../rigs/connection-rig.ts';
import { loudness } from '../../../rigs/webrtc-rig.ts';

const words = Array.from({ length: 30 }, (_, index) => `w${index + 1}`);
/** A clause of 400 ms, then one of 2.6 s. */
const line = `${words.slice(0, 4).join(' ')}, ${words.slice(4).join(' ')}.`;

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0)) await close();
});

/** A call whose other end is the test, in which the character is speaking; `hears`: what the sounds over it are. */
async function speaking(hears: readonly string[], turnDetection: Record<string, unknown> = {}) {
  const [encoder, decoder, ear] = await Promise.all([
    openOpusEncoder(24_000),
    openOpusDecoder(24_000),
    openOpusDecoder(24_000),
  ]);
  const told: RecordedEvent[] = [];
  const packets: (OutgoingPacket & { readonly atMs: number })[] = [];
  const peer = {
    mostBytes: 256 * 1024,
    sendText: (text: string) => told.push(JSON.parse(text) as RecordedEvent) > 0,
    sendPacket: (packet: OutgoingPacket) => void packets.push({ ...packet, atMs: rig.clock.now() }),
    endSoon: () => undefined,
  };
  let call: Call | undefined;
  const rig = recordConnection(
    { hears, says: [line, 'Yes?'], synthesizer: fakeSynthesizer({ sings: true }) },
    {
      client: { holds: true },
      startWith: { audio: { input: { turn_detection: { type: 'server_vad', ...turnDetection } } } },
      open(parts, recorder) {
        call = new Call({
          offer: { sdp: '', audio: { payloadType: 111 }, hasEvents: false } as never,
          encoder,
          decoder,
          clock: parts.ports.clock,
          openPeer: () => peer as unknown as PeerConnection,
          onFault: parts.ports.onFault,
          onEnd: () => undefined,
        });
        const answered = call;
        const connection = openConnection(parts, {
          send: (event) => recorder.send(event) && answered.send(event),
          sendAudio: (audio) => answered.sendAudio(audio),
        });
        answered.connect(connection);
        return connection;
      },
    },
  );
  open.push(async () => {
    await rig.hangUp();
    call?.close('ended');
    for (const codec of [encoder, decoder, ear]) codec.close();
  });
  rig.send({ type: 'response.create' });
  await rig.clock.advance(20);
  return {
    ...rig,
    told,
    types: () => told.map(({ type }) => type),
    /** How long it was loud so far, to one packet, in which a codec dies away; asked once. */
    heardMs: () => packets.filter(({ payload }) => loudness(ear.decode(payload)) > 0.05).length * 20,
    speak: (ms: number) => rig.stream(tone(ms)),
    wait: (ms: number) => rig.stream(silence(ms)),
    said: (): string => rig.engines.agent.histories.at(-1)?.find(({ role }) => role === 'assistant')?.text ?? 'nothing',
  };
}

describe('WebRTC reply', () => {
  it('includes the delivery over WebRTC in the latency breakdown', async () => {
    const call = await speaking([]);
    await call.wait(4_000);
    const { latency } = call.last('response.done').response.x_dramatis;
    expect(latency.heard_ms).toBeGreaterThanOrEqual(latency.first_audio_ms);
    expect(latency.owners.delivery).toBe(latency.heard_ms - latency.first_audio_ms);
  });
});

describe('sound over a WebRTC reply', () => {
  it('silences a WebRTC reply at a cough and resumes it from the start of the clause without events', async () => {
    const call = await speaking(['']);
    await call.wait(600);
    await call.speak(200);
    expect(call.events.map(({ type }) => type)).toContain('x_dramatis.hold');
    await call.wait(4_000);
    expect(call.last('response.done').response).toMatchObject({
      status: 'completed',
      output: [{ content: [{ transcript: line }] }],
    });
    expect(call.types().filter((type) => /^x_dramatis|output_audio_buffer|speech_started/.test(type))).toEqual([
      'output_audio_buffer.started',
      'output_audio_buffer.stopped',
    ]);
    // All of it, and "w5 w6 w7" of the clause once more.
    const againMs = call.heardMs() - 3_000;
    expect(againMs).toBeGreaterThan(200);
    expect(againMs).toBeLessThan(600);
    // It was sent 1.1 to 1.2 s of the reply, of which the second clause begins at 400 ms.
    expect(call.last('x_dramatis.resume')['later_ms']).toBeGreaterThanOrEqual(againMs);
    expect(call.last('x_dramatis.resume')['later_ms']).toBeLessThan(1_000);
  });

  it('stops a held WebRTC reply in the middle of a word', async () => {
    const call = await speaking(['']);
    await call.wait(600);
    await call.speak(160);
    // Held after 96 ms and what the detector's windows take.
    expect(call.events.map(({ type }) => type)).not.toContain('x_dramatis.resume');
    const heardMs = call.heardMs();
    expect(heardMs).toBeGreaterThan(640);
    expect(heardMs).toBeLessThan(780);
  });

  it('cancels a WebRTC reply for words over it where it was held', async () => {
    const call = await speaking(['wait a moment']);
    await call.wait(600);
    await call.speak(400);
    expect(call.last('response.done').response).toMatchObject({
      status: 'cancelled',
      status_details: { reason: 'turn_detected' },
    });
    expect(call.types()).toContain('output_audio_buffer.cleared');
    const { audio_end_ms: endMs } = call.last('conversation.item.truncated');
    expect(Math.abs(endMs - call.heardMs())).toBeLessThanOrEqual(20);
    await call.wait(1_500);
    expect(call.said()).toBe(`w1 w2 w3 w4, ${words.slice(4, Math.ceil(endMs / 100)).join(' ')}`);
  });

  it('ends the history of a WebRTC reply at the last heard word after it was resumed', async () => {
    const call = await speaking(['', 'stop it please']);
    await call.wait(600);
    await call.speak(200);
    await call.wait(1_000);
    await call.speak(400);
    expect(call.last('response.done').response.status).toBe('cancelled');
    // All that was heard, less the words that were heard twice: "w5 w6 w7" or one more.
    const heard = Math.ceil(call.heardMs() / 100);
    await call.wait(1_500);
    const last = Number(/w(\d+)$/.exec(call.said())?.[1]);
    expect(last).toBeGreaterThanOrEqual(heard - 4);
    expect(last).toBeLessThanOrEqual(heard - 2);
    expect(last).toBeGreaterThan(9);
    // The first of the two that are done.
    const { response } = call.events.find(({ type }) => type === 'response.done') as Record<string, any>;
    const { heard_ms: firstMs, first_audio_ms: sentMs } = response.x_dramatis.latency;
    expect(firstMs).toBeGreaterThanOrEqual(sentMs);
  });

  it('keeps a WebRTC reply playing if speech does not interrupt', async () => {
    const call = await speaking(['wait a moment'], { interrupt_response: false, create_response: false });
    await call.wait(600);
    await call.speak(400);
    await call.wait(3_500);
    expect(call.types()).not.toContain('output_audio_buffer.cleared');
    expect(Math.abs(call.heardMs() - 3_000)).toBeLessThanOrEqual(20);
  });
});

it('counts the position of a held response in the playout queue on from the end of the received audio', () => {
  const told: string[] = [];
  const queue = new PlayoutQueue(480, ({ type }) => void told.push(type));
  queue.push('r', new Float32Array(2_000));
  queue.next();
  expect([queue.hold('r'), queue.hold('r'), queue.hold('other')]).toEqual([480, 480, undefined]);
  expect(queue.next()).toBeUndefined();
  queue.push('r', new Float32Array(1_000));
  queue.next();
  expect(queue.cut()).toEqual([{ responseId: 'r', playedSamples: 2_480 }]);
  expect(told).toEqual(['output_audio_buffer.started', 'output_audio_buffer.cleared']);
});
