import * as fc from '../fakes/property.ts';
import { describe, expect, it } from 'vitest';
import { decodeFrame, encodeFrame } from '../../server/client/connection/binary-frame.js';
import { OrderedQueue } from '../../server/client/connection/ordered-queue.js';
import { FrameWriter } from '../../server/client/connection/frame-writer.js';
import { OpusFrames } from '../../server/client/audio/opus-frames.js';
import { openOpusDecoder, openOpusEncoder } from '../../voices/dsp/opus.ts';
import { concatSamples } from '../../voices/audio.ts';
import { signalToNoise, voiceLike } from '../fakes/voice-like.ts';

type Frames = ReturnType<OpusFrames['push']>;

/** The output of a lossless codec: the frames, delayed by `delaySamples`. */
function taken(frames: Frames, delaySamples: number): number[] {
  const through = [...new Float32Array(delaySamples), ...frames.flatMap(({ samples }) => [...samples])];
  return frames.flatMap(({ skipSamples, takeSamples }, index) =>
    through.slice(index * 480 + skipSamples, index * 480 + skipSamples + takeSamples),
  );
}

describe('OpusFrames', () => {
  it('returns every sample once and in order, however the audio was split and paused', () => {
    const pieces = fc.array(fc.oneof(fc.nat({ max: 2_000 }), fc.constant<'pause'>('pause')), { maxLength: 12 });
    fc.assert(
      fc.property(pieces, fc.nat({ max: 1_000 }), (script, delaySamples) => {
        const cutter = new OpusFrames(delaySamples);
        const frames: Frames = [];
        let count = 0;
        for (const piece of [...script, 'pause'] as const) {
          if (piece === 'pause') frames.push(...cutter.flush());
          else frames.push(...cutter.push(Float32Array.from({ length: piece }, () => (count += 1))));
        }
        expect(frames.every(({ samples }) => samples.length === 480)).toBe(true);
        expect(taken(frames, delaySamples)).toEqual(Array.from({ length: count }, (_, index) => index + 1));
      }),
    );
  });

  it('passes a voice through the real Opus codec without shifting it by a sample', async () => {
    const sound = voiceLike(1_234, 24_000);
    const encoder = await openOpusEncoder(24_000, { isLossless: true });
    const decoder = await openOpusDecoder(24_000);
    const cutter = new OpusFrames(encoder.delaySamples);
    const frames = [
      ...cutter.push(sound.subarray(0, 10_007)),
      ...cutter.push(sound.subarray(10_007)),
      ...cutter.flush(),
    ];
    const decoded = concatSamples(
      frames.map(({ samples, skipSamples, takeSamples }) =>
        decoder.decode(encoder.encode(samples)).subarray(skipSamples, skipSamples + takeSamples),
      ),
    );
    expect(decoded).toHaveLength(sound.length);
    expect(signalToNoise(sound, decoded, 1)).toBeGreaterThan(15);
    encoder.close();
    decoder.close();
  });
});

describe('binary-frame with Opus', () => {
  const opus = { packet: Uint8Array.from([1, 2, 3]), skipSamples: 156, takeSamples: 324 };
  const frame = { kind: 'reply', replyNumber: 3, sequence: 2 ** 31, offsetSamples: 9, opus } as const;

  it('decodes a binary frame with an Opus packet as it was encoded', () => {
    expect(decodeFrame(encodeFrame(frame))).toEqual(frame);
  });

  it('rejects an Opus frame that is cut off in its header', () => {
    expect(decodeFrame(encodeFrame(frame).subarray(0, 15))).toBeUndefined();
  });
});

describe('FrameWriter', () => {
  it('continues the user’s audio as PCM and in order if the Opus encoder breaks', async () => {
    const sent: string[] = [];
    const outgoing = new FrameWriter((_audioMs, write) => {
      const frame = write({ x_seq: 1 });
      if (typeof frame === 'string') return void sent.push(frame);
      const read = decodeFrame(frame);
      sent.push(read !== undefined && 'opus' in read ? 'opus' : 'pcm');
    });
    let left = 2;
    const encode = async (): Promise<Uint8Array> => {
      if ((left -= 1) < 0) throw new Error('broken');
      return new Uint8Array(3);
    };
    outgoing.use(true, { delaySamples: 156, encode, close: () => undefined });
    outgoing.sound(new Uint8Array(3 * 960));
    outgoing.event({ type: 'x' });
    expect(sent).toEqual([]);
    await expect.poll(() => sent).toEqual(['opus', 'opus', '{"type":"x","x_seq":1}']);
    outgoing.sound(new Uint8Array(960));
    expect(sent.at(-1)).toBe('pcm');
  });
});

describe('OrderedQueue', () => {
  it('runs queued tasks in order, lets each fail alone and runs at once if nothing waits', async () => {
    const order = new OrderedQueue();
    const done: string[] = [];
    const note = (what: string) => () => void done.push(what);
    order.do(note('at once'));
    expect(done).toEqual(['at once']);
    const slow = Promise.withResolvers<void>();
    order.after(slow.promise, note('slow'));
    order.after(Promise.resolve(), note('fast'));
    order.after(Promise.reject(new Error('broken')), note('broken'));
    order.do(note('last'));
    slow.resolve();
    await expect.poll(() => done).toEqual(['at once', 'slow', 'fast', 'last']);
    await expect
      .poll(() => {
        order.do(note('at once again'));
        return done.at(-1);
      })
      .toBe('at once again');
  });
});
