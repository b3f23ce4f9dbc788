import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { BackOff } from '../../server/client/connection/back-off.js';
import { decodeFrame, encodeFrame } from '../../server/client/connection/binary-frame.js';
import { socketAddress } from '../../server/client/connection/dial.js';
import { EventQueue } from '../../server/client/event-queue.js';
import { PlaybackReporter } from '../../server/client/audio/playback-reporter.js';
import { Heartbeat } from '../../server/client/connection/heartbeat.js';
import { Inbox } from '../../server/client/connection/inbox.js';
import { Outbox } from '../../server/client/connection/outbox.js';
import { Player } from '../../server/client/audio/player.js';

describe('BackOff', () => {
  it('reconnects at once after a sudden loss, then after half a second and doubling up to eight seconds', () => {
    const backOff = new BackOff(() => 0);
    const waits = Array.from({ length: 8 }, () => backOff.next(true));
    expect(waits).toEqual([0, 500, 1_000, 2_000, 4_000, 8_000, 8_000, 8_000]);
    backOff.reset();
    expect([backOff.next(false), backOff.next(false)]).toEqual([500, 1_000]);
  });

  it('randomizes part of each reconnect delay', () => {
    const backOff = new BackOff(() => 0.999_999);
    expect(backOff.next(false)).toBe(350);
  });
});

describe('Inbox', () => {
  it('accepts each server frame number once and none after a gap', () => {
    const inbox = new Inbox();
    expect([1, 2, 2, 1, 3, 5, 4, 5].map((sequence) => inbox.take(sequence))).toEqual([
      'new',
      'new',
      'repeated',
      'repeated',
      'new',
      'gap',
      'new',
      'new',
    ]);
    expect(inbox.last).toBe(5);
  });

  it('accepts one jump of the frame numbers after a server restart', () => {
    const inbox = new Inbox();
    inbox.take(1);
    inbox.restart();
    expect([1_001, 1_002, 1_004].map((sequence) => inbox.take(sequence))).toEqual(['new', 'new', 'gap']);
  });

  it('accepts every frame from a server that does not number its frames', () => {
    const inbox = new Inbox();
    expect([undefined, undefined].map((sequence) => inbox.take(sequence))).toEqual(['new', 'new']);
  });
});

/** All frames that the outbox returns now. */
function drain(outbox: Outbox): unknown[] {
  const frames: unknown[] = [];
  for (let frame = outbox.next(); frame !== undefined; frame = outbox.next()) frames.push(frame);
  return frames;
}

function fill(outbox: Outbox, ...audioMs: number[]): void {
  for (const ms of audioMs) outbox.add(ms, (sequence) => `${ms === 0 ? 'event' : 'sound'} ${sequence}`);
}

describe('Outbox', () => {
  it('sends each frame once, and again from the number the server asks for', () => {
    const outbox = new Outbox(1_000);
    fill(outbox, 40, 0, 40);
    expect(drain(outbox)).toEqual(['sound 1', 'event 2', 'sound 3']);
    fill(outbox, 0);
    expect(outbox.resume(1)).toBe(0);
    expect(drain(outbox)).toEqual(['event 2', 'sound 3', 'event 4']);
    outbox.acknowledge(3);
    expect(outbox.resume(2)).toBe(0);
    expect(drain(outbox)).toEqual(['event 4']);
  });

  it('drops the oldest audio beyond its limit but never an event, and counts the lost audio', () => {
    const outbox = new Outbox(100);
    fill(outbox, 40, 0, 40, 40, 40);
    expect(drain(outbox)).toEqual(['event 2', 'sound 4', 'sound 5']);
    expect(outbox.resume(0)).toBe(80);
    expect(outbox.resume(0)).toBe(0);
  });

  it('does not count dropped audio as lost if it had arrived', () => {
    const outbox = new Outbox(100);
    fill(outbox, 40, 40);
    drain(outbox);
    fill(outbox, 40, 40);
    // Frames 1 and 2 had been sent when they were dropped; the server has the first.
    expect(outbox.resume(1)).toBe(40);
    expect(drain(outbox)).toEqual(['sound 3', 'sound 4']);
  });

  it('keeps audio that the server has heard until it has kept what came of it, and resends it after a kill', () => {
    const outbox = new Outbox(1_000);
    fill(outbox, 40, 40, 40);
    drain(outbox);
    outbox.acknowledge(3, 1);
    // Over another socket, nothing is missing.
    expect([outbox.resume(3), drain(outbox)]).toEqual([0, []]);
    // Another server process has kept the first only.
    expect([outbox.resume(1), drain(outbox)]).toEqual([0, ['sound 2', 'sound 3']]);
    outbox.acknowledge(3, 3);
    expect([outbox.resume(3), drain(outbox)]).toEqual([0, []]);
  });

  it('counts audio beyond its limit as lost only if a killed server had not kept it', () => {
    const outbox = new Outbox(80);
    fill(outbox, 40, 40);
    drain(outbox);
    outbox.acknowledge(2, 0);
    fill(outbox, 40, 40);
    expect(outbox.resume(2)).toBe(0);
    expect(outbox.resume(0)).toBe(80);
  });

  it('does not resend audio that a restarted server may have heard', () => {
    const outbox = new Outbox(1_000);
    fill(outbox, 40, 40);
    drain(outbox);
    fill(outbox, 0, 40);
    expect(outbox.restart()).toBe(80);
    expect(drain(outbox)).toEqual(['event 3', 'sound 4']);
  });

  it('restarts the frame numbers with a new session', () => {
    const outbox = new Outbox(1_000);
    fill(outbox, 40, 40);
    expect(outbox.reset()).toBe(80);
    fill(outbox, 0);
    expect(drain(outbox)).toEqual(['event 1']);
  });

  it('keeps at most a thousand unsent events', () => {
    const outbox = new Outbox(1_000);
    fill(outbox, ...Array.from({ length: 1_005 }, () => 0));
    expect(drain(outbox)).toHaveLength(1_000);
  });
});

describe('Heartbeat', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('gives up a server that answered before and has been silent for three beats', () => {
    const onSilence = vi.fn<() => void>();
    const onBeat = vi.fn<() => void>();
    const heartbeat = new Heartbeat({ onBeat, onSilence });
    heartbeat.start();
    heartbeat.answered();
    vi.advanceTimersByTime(6_000);
    expect([onBeat.mock.calls.length, onSilence.mock.calls.length]).toEqual([4, 0]);
    vi.advanceTimersByTime(2_000);
    expect(onSilence).toHaveBeenCalledOnce();
    vi.advanceTimersByTime(60_000);
    expect(onSilence).toHaveBeenCalledOnce();
  });

  it('takes any message as a sign of life and never gives up a server that does not answer heartbeats', () => {
    const onSilence = vi.fn<() => void>();
    const lively = new Heartbeat({ onBeat: () => lively.heard(), onSilence });
    const mute = new Heartbeat({ onBeat: () => undefined, onSilence });
    lively.start();
    lively.answered();
    mute.start();
    vi.advanceTimersByTime(600_000);
    expect(onSilence).not.toHaveBeenCalled();
    lively.stop();
    mute.stop();
  });
});

describe('PlaybackReporter', () => {
  it('reports the start of playback, then every 150 ms, then the end', () => {
    const told: (string | number | boolean | undefined)[][] = [];
    const cursor = new PlaybackReporter((...what) => told.push(what));
    for (let samples = 960; samples <= 9_600; samples += 960) cursor.played('first', samples);
    cursor.played('first', 9_700, true);
    cursor.played('second', 0);
    cursor.played('second', 960);
    cursor.stopped('second', 1_000);
    cursor.stopped('second', 1_000, true);
    expect(told).toEqual([
      ['first', 960, false],
      ['first', 4_800, false],
      ['first', 8_640, false],
      // The last report must arrive, because none follows it.
      ['first', 9_700, true],
      ['second', 960, false],
      ['second', 1_000, true],
      ['second', 1_000, true, true],
    ]);
  });
});

describe('Player', () => {
  it('tells the speaker how late the server itself was, so that it does not count as network jitter', () => {
    const late: number[] = [];
    const player = new Player({ send: () => {}, mention: () => {}, isActive: () => true, onEvent: () => {} });
    player.speaker = {
      isRunning: true,
      isPlaying: true,
      play: (_itemId, _samples, sentLateMs) => void late.push(sentLateMs),
      complete: () => {},
      flush: async () => new Map(),
      close: () => {},
    };
    const place = { response_id: 'r', item_id: 'i', output_index: 0, content_index: 0 };
    const piece = { offset_samples: 0, pcm16: new Uint8Array(4_800) };
    const words = (sentMs: number) =>
      player.take({ type: 'response.output_audio_transcript.delta', ...place, delta: 'a', x_ms: sentMs });
    const sound = () => player.take({ type: 'response.output_audio.delta', ...place, ...piece });
    player.take({ type: 'response.output_item.added', response_id: 'r', item: { id: 'i', type: 'message' } });
    words(1_000);
    sound();
    sound();
    words(1_050);
    sound();
    words(1_700);
    sound();
    words(1_700);
    sound();
    expect(late).toEqual([0, 0, 0, 400, 400]);
  });
});

describe('binary-frame', () => {
  it('decodes a binary PCM frame as it was encoded', () => {
    const pcm16 = Uint8Array.from([1, 2, 3, 4]);
    const frame = { kind: 'input', replyNumber: 65_535, sequence: 2 ** 32 - 1, offsetSamples: 7, pcm16 } as const;
    expect(decodeFrame(encodeFrame(frame))).toEqual(frame);
  });

  it('rejects a binary frame that is too short, of an unknown kind or codec, or ends in half a sample', () => {
    const good = encodeFrame({
      kind: 'reply',
      replyNumber: 1,
      sequence: 2,
      offsetSamples: 3,
      pcm16: new Uint8Array(2),
    });
    const changed = (index: number, value: number): Uint8Array => good.with(index, value);
    for (const bad of [good.subarray(0, 11), good.subarray(0, 13), changed(0, 0), changed(0, 3), changed(1, 1)]) {
      expect(decodeFrame(bad)).toBeUndefined();
    }
  });
});

describe('socketAddress', () => {
  for (const [given, address] of [
    ['http://localhost:8080', 'ws://localhost:8080/v1/realtime'],
    ['https://example.com/', 'wss://example.com/v1/realtime'],
    ['wss://example.com/speech/v1/realtime', 'wss://example.com/speech/v1/realtime'],
  ] as const) {
    it(`turns the URL ${given} into the socket address ${address}`, () => {
      expect(socketAddress(given).href).toBe(address);
    });
  }
});

describe('EventQueue', () => {
  it('yields every event once and in order, including events pushed while it is read, until it ends', async () => {
    const queue = new EventQueue<number>();
    queue.push(1);
    queue.push(2);
    const read: number[] = [];
    for await (const event of queue) {
      read.push(event);
      if (event === 2) queueMicrotask(() => queue.push(3));
      if (event === 3) {
        queue.push(4);
        queue.end();
        queue.push(5);
      }
    }
    expect(read).toEqual([1, 2, 3, 4]);
  });
});
