import { describe, expect, it } from 'vitest';
import { ResumableStream } from '../../server/connections/resumable-stream.ts';
import type { Transport } from '../../server/connections/socket-transport.ts';

/** A transport with room for this many frames; `drain` makes room again. */
function narrowCarrier(room: number) {
  const taken: string[] = [];
  const closed: string[] = [];
  let left = room;
  const carrier: Transport = {
    send(frame) {
      if (left === 0) return false;
      left -= 1;
      taken.push(String(frame));
      return true;
    },
    probe: () => undefined,
    close: (reason) => void closed.push(reason),
  };
  const numbers = (): unknown[] => taken.map((frame) => (JSON.parse(frame) as Record<string, unknown>)['x_seq']);
  const drain = (): void => {
    left = room;
    carrier.onRoom?.();
  };
  return { carrier, closed, numbers, drain };
}

function openLink(keptBytes = 100_000): { link: ResumableStream; say: (count: number) => void } {
  let events = 0;
  const link = new ResumableStream({
    binary: false,
    resumable: true,
    keptBytes,
  });
  const say = (count: number): void => {
    for (let index = 0; index < count; index += 1)
      link.send({ type: 'input_audio_buffer.cleared', event_id: `event_${(events += 1)}` });
  };
  return { link, say };
}

describe('ResumableStream', () => {
  it('sends a slow client everything it missed in order, including later speech', () => {
    const { link, say } = openLink();
    const narrow = narrowCarrier(4);
    say(10);
    expect(link.attach(narrow.carrier, 0)).toBe(true);
    expect(narrow.numbers()).toEqual([1, 2, 3, 4]);
    say(2);
    narrow.drain();
    narrow.drain();
    narrow.drain();
    say(1);
    expect(narrow.numbers()).toEqual(Array.from({ length: 13 }, (_, index) => index + 1));
    expect(narrow.closed).toEqual([]);
  });

  it('closes the connection of a client that is too slow once the next frame it needs is no longer kept', () => {
    const { link, say } = openLink(500);
    const narrow = narrowCarrier(2);
    link.attach(narrow.carrier);
    say(30);
    expect(narrow.closed).toEqual(['client_too_slow']);
    expect(narrow.numbers()).toEqual([1, 2]);
    expect(link.attached).toBe(false);
    expect(link.attach(narrowCarrier(9).carrier, 2)).toBe(false);
  });

  it('keeps frames that were never sent, even if the client acknowledges them', () => {
    const { link, say } = openLink();
    const narrow = narrowCarrier(2);
    link.attach(narrow.carrier);
    say(4);
    link.acknowledge(99);
    narrow.drain();
    expect(narrow.numbers()).toEqual([1, 2, 3, 4]);
  });
});
