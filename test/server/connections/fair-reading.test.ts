import { EventEmitter } from 'node:events';
import { describe, expect, it } from 'vitest';
import type { WebSocket } from 'ws';
import { FairReading, socketTransport } from '../../../server/connections/socket-transport.ts';
import { limits } from '../../../server/limits/limits.ts';
import { ManualClock } from '../../fakes/clock.ts';

const pieceBytes = 1_300;

function openReading() {
  const state = { nowMs: 0, busy: true };
  const reading = new FairReading(
    () => state.nowMs,
    () => state.busy,
  );
  return { state, reading };
}

describe('fair reading', () => {
  it('never waits for speech at its own pace, however long the server is busy', () => {
    const { state, reading } = openReading();
    let waitedMs = 0;
    for (let piece = 0; piece < 60_000; piece += 1) {
      state.nowMs += 20;
      reading.took(pieceBytes);
      waitedMs += reading.waitMs;
    }
    expect(waitedMs).toBe(0);
  });

  it('never waits while the server has time, and is even 4 seconds later', () => {
    const { state, reading } = openReading();
    state.busy = false;
    for (let frame = 0; frame < 10_000; frame += 1) reading.took(100_000);
    expect(reading.waitMs).toBe(0);
    state.busy = true;
    expect(reading.waitMs).toBe(500);
    state.nowMs += 4_001;
    expect(reading.waitMs).toBe(0);
  });

  it.each([
    ['bytes', 480_000],
    ['frames', 10],
  ])('takes a burst of %s, then reads no faster than the limit', (_name, size) => {
    const { state, reading } = openReading();
    let read = 0;
    while (state.nowMs < 20_000) {
      while (reading.waitMs > 0) state.nowMs += reading.waitMs;
      reading.took(size);
      read += 1;
    }
    const { readBurstBytes, readBytesASecond, readBurstFrames, readFramesASecond } = limits;
    const most = Math.min(
      (readBurstBytes.value + 21 * readBytesASecond.value) / size + 1,
      readBurstFrames.value + 21 * readFramesASecond.value + 1,
    );
    expect(read).toBeLessThanOrEqual(most);
    expect(read).toBeGreaterThan(most / 2);
  });

  it('an attacker that sends audio a hundred times faster than real time is read again once it has waited', async () => {
    const calls: string[] = [];
    const socket = Object.assign(new EventEmitter(), {
      pause: () => void calls.push('pause'),
      resume: () => void calls.push('resume'),
    });
    const clock = new ManualClock();
    const reading = new FairReading(
      () => clock.now(),
      () => true,
    );
    socketTransport(socket as unknown as WebSocket, clock, reading);
    for (let frame = 0; frame < 9; frame += 1) socket.emit('message', Buffer.alloc(480_000));
    expect(calls).toEqual(['pause']);
    await clock.advance(3_500);
    expect(calls.at(-1)).toBe('pause');
    await clock.advance(1_000);
    expect(calls.at(-1)).toBe('resume');
  });

  it('a flooding client whose session has ended is read until it answers the close frame', async () => {
    const calls: string[] = [];
    const socket = Object.assign(new EventEmitter(), {
      pause: () => void calls.push('pause'),
      resume: () => void calls.push('resume'),
      close: () => void calls.push('close'),
    });
    const clock = new ManualClock();
    const reading = new FairReading(
      () => clock.now(),
      () => true,
    );
    const transport = socketTransport(socket as unknown as WebSocket, clock, reading);
    for (let frame = 0; frame < 9; frame += 1) socket.emit('message', Buffer.alloc(480_000));
    transport.close('ended');
    socket.emit('message', Buffer.alloc(480_000));
    await clock.advance(1_000);
    expect(calls).toEqual(['pause', 'resume', 'close']);
  });
});
