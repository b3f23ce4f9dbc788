import * as fc from '../../../fakes/property.ts';
import { describe, expect, it } from 'vitest';
import { IncomingSpeech } from '../../../../server/transports/webrtc/incoming-speech.ts';
import { OutgoingSpeech } from '../../../../server/transports/webrtc/outgoing-speech.ts';
import { PacketOrder } from '../../../../server/transports/webrtc/packet-order.ts';
import { PlayoutQueue, type PlayoutEvent } from '../../../../server/transports/webrtc/playout-queue.ts';
import type { OutgoingPacket, RtpPacket } from '../../../../server/transports/webrtc/rtp.ts';
import { concatSamples } from '../../../../voices/audio.ts';
import { openOpusDecoder, openOpusEncoder } from '../../../../voices/dsp/opus.ts';
import { ManualClock, settle } from '../../../fakes/clock.ts';
import { tone } from '../../../fakes/vad.ts';
import { loudness } from '../../../rigs/webrtc-rig.ts';

const packet = (count: number, over: Partial<RtpPacket> = {}): RtpPacket => ({
  payloadType: 111,
  sequence: count % 2 ** 16,
  timestamp: (count * 960) % 2 ** 32,
  source: 1,
  payload: new Uint8Array([count % 256]),
  ...over,
});

describe('PacketOrder', () => {
  it('restores the order of packets up to 60 ms late and counts the lost ones', () => {
    const stream = fc.record({
      first: fc.constantFrom(0, 65_530, 30_000),
      // How many places each of the packets comes late; undefined where it is lost.
      fates: fc.array(fc.option(fc.integer({ min: 0, max: 2 }), { nil: undefined, freq: 8 }), { maxLength: 60 }),
    });
    fc.assert(
      fc.property(stream, ({ first, fates }) => {
        const sent = [0, ...fates].map((late, index) => ({ index, late }));
        const arriving = sent
          .filter(({ late }) => late !== undefined)
          .toSorted((a, b) => a.index + 1.1 * (a.late ?? 0) - (b.index + 1.1 * (b.late ?? 0)));
        fc.pre(arriving[0]?.index === 0);
        const order = new PacketOrder();
        const played = arriving.flatMap(({ index }) => order.push(packet(first + index)));
        let expected = first;
        for (const { packet: next, lost, isStart } of played) {
          expect(isStart).toBe(expected === first);
          expect(next.sequence).toBe((expected + lost) % 2 ** 16);
          expected += lost + 1;
        }
        // The last ones may still wait for one that is missing.
        expect(arriving.length - played.length).toBeLessThanOrEqual(3);
        if (arriving.length === sent.length) expect(played).toHaveLength(sent.length);
      }),
    );
  });

  it('starts over with another stream and after a large jump', () => {
    const order = new PacketOrder();
    order.push(packet(10));
    expect(order.push(packet(11)).map(({ isStart }) => isStart)).toEqual([false]);
    expect(order.push(packet(9_000)).map(({ isStart, lost }) => [isStart, lost])).toEqual([[true, 0]]);
    expect(order.push(packet(5, { source: 2 })).map(({ isStart }) => isStart)).toEqual([true]);
    expect(order.push(packet(5, { source: 2 }))).toEqual([]);
  });
});

/** The audio decoded from packets of a tone, 20 ms each; `arrives` gives the order or loss of each. */
async function hear(arrives: readonly (number | undefined)[], after = (index: number): number => index * 960) {
  const encoder = await openOpusEncoder(24_000);
  const decoder = await openOpusDecoder(24_000);
  const blocks: Float32Array[] = [];
  const incoming = new IncomingSpeech({
    payloadType: 111,
    decoder,
    sampleRate: 24_000,
    hear: (samples) => blocks.push(samples),
    now: () => 0,
  });
  const sound = tone(20 * arrives.length);
  for (const [index, place] of arrives.entries()) {
    const payload = encoder.encode(sound.subarray(index * 480, (index + 1) * 480));
    if (place !== undefined) incoming.receive(packet(place, { timestamp: after(index), payload }));
  }
  encoder.close();
  decoder.close();
  return concatSamples(blocks);
}

describe('IncomingSpeech', () => {
  const upTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

  it('conceals lost packets at the same length and level', async () => {
    const whole = await hear(upTo(50));
    expect(whole).toHaveLength(50 * 480);
    const holed = await hear(upTo(50).map((index) => (index % 12 === 5 ? undefined : index)));
    expect(holed).toHaveLength(50 * 480);
    expect(loudness(holed) / loudness(whole)).toBeGreaterThan(0.9);
  });

  it('fills a sender’s pause with at most half a second of silence', async () => {
    const paused = await hear(upTo(20), (index) => (index < 10 ? index : index + 10) * 960);
    expect(paused).toHaveLength(30 * 480);
    expect(loudness(paused.subarray(10 * 480, 20 * 480))).toBe(0);
    const long = await hear(upTo(20), (index) => (index < 10 ? index : index + 1_000) * 960);
    expect(long).toHaveLength(20 * 480 + 12_000);
  });

  it('drops audio that arrives faster than real time', async () => {
    const flood = await hear(upTo(2_000));
    expect(flood.length / 480).toBeLessThan(500);
  });
});

describe('PlayoutQueue', () => {
  const frame = 480;
  function open() {
    const events: string[] = [];
    const tell = ({ type, response_id: id }: PlayoutEvent): void => void events.push(`${type.split('.')[1]} ${id}`);
    return { events, queue: new PlayoutQueue(frame, tell) };
  }

  it('plays responses one after another completely with one start and one stop each', () => {
    fc.assert(
      fc.property(
        fc.array(fc.array(fc.integer({ min: 0, max: 1_500 }), { maxLength: 5 }), { maxLength: 4 }),
        (sizes) => {
          const { events, queue } = open();
          for (const [index, blocks] of sizes.entries()) {
            for (const size of blocks) queue.push(`r${index}`, new Float32Array(size).fill(index + 1));
            queue.complete(`r${index}`);
          }
          const played: number[] = [];
          for (let next = queue.next(); next !== undefined; next = queue.next()) played.push(...next);
          const sounding = sizes.map((blocks) => blocks.reduce((sum, size) => sum + size, 0));
          for (const [index, size] of sounding.entries()) {
            expect(played.filter((sample) => sample === index + 1)).toHaveLength(size);
          }
          expect(events).toEqual(
            sounding.flatMap((size, index) => (size > 0 ? [`started r${index}`, `stopped r${index}`] : [])),
          );
        },
      ),
    );
  });

  it('plays whole frames and stops only when the response is complete', () => {
    const { events, queue } = open();
    queue.push('r', new Float32Array(700));
    expect(queue.next()).toHaveLength(frame);
    expect(queue.next()).toBeUndefined();
    expect(events).toEqual(['started r']);
    queue.complete('r');
    expect(queue.next()).toHaveLength(frame);
    expect(events).toEqual(['started r', 'stopped r']);
  });

  it('drops a cut response, reports it if it had started and takes no more of it', () => {
    const { events, queue } = open();
    queue.push('a', new Float32Array(2_000));
    queue.push('b', new Float32Array(2_000));
    queue.next();
    expect(queue.cut()).toEqual([
      { responseId: 'a', playedSamples: frame },
      { responseId: 'b', playedSamples: 0 },
    ]);
    queue.push('a', new Float32Array(2_000));
    expect(queue.next()).toBeUndefined();
    queue.complete('a');
    queue.complete('b');
    expect(events).toEqual(['started a', 'cleared a']);
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
});

describe('OutgoingSpeech', () => {
  async function open() {
    const clock = new ManualClock();
    const encoder = await openOpusEncoder(24_000);
    const packets: (OutgoingPacket & { readonly atMs: number })[] = [];
    const events: string[] = [];
    const outgoing = new OutgoingSpeech({
      frameSamples: encoder.frameSamples,
      rewindMs: 0,
      clock,
      tell: ({ type }) => void events.push(type.split('.')[1] ?? ''),
      onFault: (fault) => {
        throw fault;
      },
    });
    outgoing.attach({ encoder, send: (sent) => packets.push({ ...sent, atMs: clock.now() }) });
    return { clock, packets, events, outgoing, encoder };
  }

  it('sends packets of 20 ms at real time and stops after a short silence', async () => {
    const { clock, packets, events, outgoing, encoder } = await open();
    await clock.advance(1_000);
    outgoing.push('r', tone(200));
    outgoing.complete('r');
    await clock.advance(5_000);
    // Ten frames of audio, ten of silence, then nothing.
    expect(packets).toHaveLength(20);
    expect(packets.map(({ atMs }) => atMs)).toEqual(packets.map((_, index) => 1_000 + 20 * index));
    for (const [index, sent] of packets.slice(1).entries()) {
      expect((sent.timestamp - (packets[index]?.timestamp ?? 0) + 2 ** 32) % 2 ** 32).toBe(960);
      expect((sent.sequence - (packets[index]?.sequence ?? 0) + 2 ** 16) % 2 ** 16).toBe(1);
    }
    expect(packets.map(({ marker }) => marker).indexOf(true)).toBe(0);
    expect(events).toEqual(['started', 'stopped']);
    outgoing.close();
    encoder.close();
  });

  it('continues after a pause with a marker and the RTP time that has passed', async () => {
    const { clock, packets, outgoing, encoder } = await open();
    outgoing.push('a', tone(100));
    outgoing.complete('a');
    await clock.advance(3_000);
    const before = packets.length;
    outgoing.push('b', tone(100));
    await clock.advance(20);
    const [last, next] = [packets[before - 1], packets[before]];
    expect(next).toMatchObject({ marker: true, sequence: ((last?.sequence ?? 0) + 1) % 2 ** 16 });
    const ticks = ((next?.timestamp ?? 0) - (last?.timestamp ?? 0) + 2 ** 32) % 2 ** 32;
    expect(ticks).toBe(((next?.atMs ?? 0) - (last?.atMs ?? 0)) * 48);
    outgoing.close();
    encoder.close();
  });

  it('stops sending at once when cut and when the call ends', async () => {
    const { clock, packets, events, outgoing, encoder } = await open();
    const decoder = await openOpusDecoder(24_000);
    outgoing.push('r', tone(2_000));
    await clock.advance(200);
    outgoing.cut(({ responseId }) => responseId === 'r');
    const cut = packets.length;
    await clock.advance(2_000);
    expect(events).toEqual(['started', 'cleared']);
    const sound = packets.map(({ payload }) => decoder.decode(payload));
    expect(loudness(concatSamples(sound.slice(2, cut)))).toBeGreaterThan(0.2);
    expect(loudness(concatSamples(sound.slice(cut + 1)))).toBeLessThan(0.01);
    outgoing.push('s', tone(2_000));
    await settle();
    const ended = packets.length;
    outgoing.close();
    encoder.close();
    await clock.advance(2_000);
    expect(packets).toHaveLength(ended);
    decoder.close();
  });
});
