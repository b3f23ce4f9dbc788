import type { RtpPacket } from './rtp.ts';

/** A packet in sequence, and the number of packets lost right before it. */
export interface OrderedPacket {
  readonly packet: RtpPacket;
  readonly lost: number;
  /** True if the previous packet is unknown: a new stream, or a jump within one. */
  readonly isStart: boolean;
}

/** Later packets that may wait for a missing one before it counts as lost: 60 ms with the usual frame length. */
const mostHeld = 3;
/** A larger jump in sequence numbers counts as a new stream. */
const longestGap = 500;

/** Reorders the packets of one stream. Without loss, packets pass through at once, with the network's jitter. */
export class PacketOrder {
  readonly #held = new Map<number, RtpPacket>();
  #next: number | undefined;
  #source: number | undefined;

  /** Takes a packet as it arrived; returns the packets that are now in sequence. Drops late and duplicate ones. */
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

  /** Counts the missing packets as lost and continues with the first one available. */
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

/** Signed distance from `from` to `to` in the circle of 2¹⁶; negative if `to` is earlier. */
function distance(from: number, to: number): number {
  return ((to - from + 0x80_00) & 0xff_ff) - 0x80_00;
}
