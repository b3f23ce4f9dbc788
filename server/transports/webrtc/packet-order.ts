import type { RtpPacket } from './rtp.ts';

/** A packet in its turn, and how many right before it never came. */
export interface OrderedPacket {
  readonly packet: RtpPacket;
  readonly lost: number;
  /** Nothing is known of what came before: a new stream, or a leap within one. */
  readonly isStart: boolean;
}

/** Later packets that may wait for a missing one before it counts as lost: 60 ms of the usual frames. */
const mostHeld = 3;
/** A leap of more than this is no gap but a new beginning. */
const longestGap = 500;

/** Puts the packets of one stream in order. Without loss nothing waits: the network's jitter is passed on. */
export class PacketOrder {
  readonly #held = new Map<number, RtpPacket>();
  #next: number | undefined;
  #source: number | undefined;

  /** Takes a packet as it came; returns those whose turn has come, in order. Late and repeated ones are dropped. */
  push(packet: RtpPacket): OrderedPacket[] {
    const ahead = this.#next === undefined ? 0 : distance(this.#next, packet.sequence);
    if (this.#next === undefined || packet.source !== this.#source || Math.abs(ahead) > longestGap) {
      this.#held.clear();
      this.#source = packet.source;
      this.#next = next(packet.sequence);
      return [{ packet, lost: 0, isStart: true }, ...this.#ready()];
    }
    if (ahead < 0) return [];
    this.#held.set(packet.sequence, packet);
    const ready = this.#ready();
    return this.#held.size > mostHeld ? [...ready, ...this.#giveUp(this.#next)] : ready;
  }

  #ready(): OrderedPacket[] {
    const ready: OrderedPacket[] = [];
    for (;;) {
      const packet = this.#next === undefined ? undefined : this.#held.get(this.#next);
      if (packet === undefined) return ready;
      this.#held.delete(packet.sequence);
      this.#next = next(packet.sequence);
      ready.push({ packet, lost: 0, isStart: false });
    }
  }

  /** The missing ones are lost: goes on with the first that is there. */
  #giveUp(expected: number): OrderedPacket[] {
    const waiting = [...this.#held.values()].map((packet) => ({ packet, lost: distance(expected, packet.sequence) }));
    const [first] = waiting.toSorted((a, b) => a.lost - b.lost);
    if (first === undefined) return [];
    this.#held.delete(first.packet.sequence);
    this.#next = next(first.packet.sequence);
    return [{ ...first, isStart: false }, ...this.#ready()];
  }
}

function next(sequence: number): number {
  return (sequence + 1) & 0xff_ff;
}

/** How far `to` lies behind `from` in the circle of 2¹⁶; negative where it lies before. */
function distance(from: number, to: number): number {
  return ((to - from + 0x80_00) & 0xff_ff) - 0x80_00;
}
