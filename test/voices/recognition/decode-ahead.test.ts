import { describe, expect, it } from 'vitest';
import type { AudioFrame } from '../../../voices/audio.ts';
import { EngineError } from '../../../voices/engine.ts';
import { DecodeAhead, type Urgency } from '../../../voices/recognition/decode-ahead.ts';
import { judge, type Hypothesis } from '../../../voices/recognition/hypothesis.ts';

interface Call {
  readonly windows: number;
  readonly urgency: Urgency;
  readonly signal: AbortSignal;
  answer(text: string): Promise<void>;
  fail(): void;
}

function heard(text: string, seconds = 1): Hypothesis {
  return { text, logProbabilities: [-0.1, -0.1], silenceLogProbability: -8, forced: false, seconds };
}

/** A decoder that waits for the test, or returns the number of windows it got. */
function listen(options: { readonly busy?: boolean; readonly atOnce?: boolean } = {}): {
  readonly listener: DecodeAhead<Hypothesis>;
  readonly calls: Call[];
  readonly say: (windows: number, voiced: boolean | undefined, level?: number) => Promise<void>;
} {
  const calls: Call[] = [];
  const listener = new DecodeAhead({
    signal: new AbortController().signal,
    busy: () => options.busy ?? false,
    believes: (hypothesis: Hypothesis) => judge(hypothesis) === 'words',
    decode: (samples, urgency, signal) => {
      const windows = samples.length / 512;
      const { promise, resolve, reject } = Promise.withResolvers<Hypothesis>();
      const answer = async (text: string): Promise<void> => {
        resolve(heard(text));
        await promise;
        await Promise.resolve();
      };
      const fail = (): void => reject(new EngineError('test', 'ENGINE_UNAVAILABLE', 'lost'));
      calls.push({ windows, urgency, signal, answer, fail });
      if (options.atOnce === true) resolve(heard(`${windows}`, windows * 0.032));
      return promise;
    },
  });
  const say = async (windows: number, voiced: boolean | undefined, level = 0.1): Promise<void> => {
    for (let index = 0; index < windows; index += 1) {
      const frame = { samples: new Float32Array(512).fill(level), sampleRate: 16_000, atMs: 0 } satisfies AudioFrame;
      await listener.push(voiced === undefined ? frame : { ...frame, voiced });
    }
  };
  return { listener, calls, say };
}

describe('DecodeAhead', () => {
  it('nothing is decoded if the VAD heard no speech', async () => {
    const { listener, calls, say } = listen();
    await say(100, false);
    expect(await listener.finish()).toEqual([]);
    expect(calls).toEqual([]);
  });

  it('nothing is decoded after a mere click', async () => {
    const { listener, calls, say } = listen();
    await say(2, true);
    await say(20, false);
    expect(await listener.finish()).toEqual([]);
    expect(calls).toEqual([]);
  });

  it('decoding starts with a pause, and becomes the final transcript if the pause is the end', async () => {
    const { listener, calls, say } = listen();
    await say(10, true);
    expect(calls).toHaveLength(0);
    await say(2, false);
    expect(calls).toMatchObject([{ urgency: 'final', windows: 12 }]);
    await say(10, false);
    await calls[0]?.answer('Yes.');
    expect(await listener.finish()).toMatchObject([{ text: 'Yes.' }]);
    expect(calls).toHaveLength(1);
  });

  it('a decoding made ahead is dropped when the speech continues, and the whole is decoded', async () => {
    const { listener, calls, say } = listen();
    await say(10, true);
    await say(3, false);
    await say(5, true);
    await say(3, false);
    expect(calls).toMatchObject([{ windows: 12 }, { windows: 20 }]);
    expect(calls[0]?.signal.aborted).toBe(true);
    await calls[0]?.answer('Yes');
    await calls[1]?.answer('Yes, Sir.');
    expect(await listener.finish()).toMatchObject([{ text: 'Yes, Sir.' }]);
  });

  it('speech cut off by the end of the audio is decoded at the end', async () => {
    const { listener, calls, say } = listen();
    await say(10, true);
    const final = listener.finish();
    await calls[0]?.answer('Ye');
    expect(await final).toMatchObject([{ text: 'Ye' }]);
  });

  it('a failed decoding is tried again', async () => {
    const { listener, calls, say } = listen();
    await say(10, true);
    await say(3, false);
    calls[0]?.fail();
    const final = listener.finish();
    await Promise.resolve();
    await Promise.resolve();
    await calls[1]?.answer('Yes.');
    expect(await final).toMatchObject([{ text: 'Yes.' }]);
  });

  it('a decoding that fails twice fails the transcription', async () => {
    const { listener, calls, say } = listen();
    await say(10, true);
    await say(3, false);
    calls[0]?.fail();
    const final = listener.finish();
    await Promise.resolve();
    await Promise.resolve();
    calls[1]?.fail();
    await expect(final).rejects.toThrow('lost');
  });

  it('a partial transcript comes every half second of speech, one decoding at a time', async () => {
    const { listener, calls, say } = listen();
    await say(40, true);
    expect(calls).toMatchObject([{ urgency: 'partial', windows: 16 }]);
    expect(listener.takePartial()).toBeUndefined();
    await calls[0]?.answer('To be');
    expect(listener.takePartial()).toBe('To be');
    expect(listener.takePartial()).toBeUndefined();
    await say(1, true);
    expect(calls).toMatchObject([{}, { urgency: 'partial', windows: 41 }]);
  });

  it('babble is not shown as a partial transcript', async () => {
    const { listener, calls, say } = listen();
    await say(40, true);
    await calls[0]?.answer('我们来听听');
    expect(listener.takePartial()).toBeUndefined();
  });

  it('under load partial transcripts are skipped and only longer pauses are decoded ahead', async () => {
    const { calls, say } = listen({ busy: true });
    await say(60, true);
    await say(5, false);
    expect(calls).toHaveLength(0);
    await say(1, false);
    expect(calls).toMatchObject([{ urgency: 'final' }]);
  });

  it('a long pause starts a new speech piece', async () => {
    const { listener, say } = listen({ atOnce: true });
    await say(10, true);
    await say(200, false);
    expect(listener.takePartial()).toBe('12');
    await say(10, true);
    await say(5, false);
    await Promise.resolve();
    expect(listener.takePartial()).toBe('12 21');
    expect(await listener.finish()).toMatchObject([{ text: '12' }, { text: '21' }]);
  });

  it('long speech is cut at a breath', async () => {
    const { listener, say } = listen({ atOnce: true });
    await say(700, true);
    await say(12, false);
    await say(100, true);
    const pieces = await listener.finish();
    expect(pieces).toHaveLength(2);
    expect(pieces[0]?.seconds).toBeCloseTo(702 * 0.032);
  });

  it('at most 28 seconds are decoded at once, however long the speech, and no audio is lost', async () => {
    const { listener, calls, say } = listen({ atOnce: true });
    await say(5_000, true);
    const pieces = await listener.finish();
    expect(Math.max(...calls.map(({ windows }) => windows))).toBeLessThanOrEqual(875);
    expect(pieces.reduce((sum, { seconds }) => sum + seconds, 0)).toBeCloseTo(5_000 * 0.032);
  });

  it('a whole recording in one frame is decoded', async () => {
    const { listener } = listen({ atOnce: true });
    await listener.push({ samples: new Float32Array(16_000 * 60).fill(0.1), sampleRate: 16_000, atMs: 0 });
    const pieces = await listener.finish();
    expect(pieces.length).toBeGreaterThan(1);
    expect(pieces.reduce((sum, { seconds }) => sum + seconds, 0)).toBeCloseTo(60);
  });
});
