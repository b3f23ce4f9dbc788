import { pcm16FromFloats } from '../../../voices/audio.ts';
import { encodeFrame, type OpusPacket } from '../../protocol/binary-frame.ts';
import type { Peer, ServerEvent } from '../../realtime/connection.ts';
import { systemClock } from '../../session/contract/clock.ts';
import { audioDelta, type OutgoingAudio } from '../../realtime/wire-event.ts';
import type { OpusSound, ReplyPacket } from './opus-audio.ts';

/** Why a session's connection is closed. */
export type CloseReason = 'ended' | 'client_too_slow' | 'server_stopping' | 'session_expired';

/** One live connection to a client: what carries frames, for as long as it lasts. */
export interface Carrier {
  /** Returns false when it has no room, because the client does not read; then the frame was not taken. */
  send(frame: string | Uint8Array): boolean;
  /** Asks the client for a sign of life, which comes after all it has sent; absent where what is late is lost. */
  probe?(answered: () => void): void;
  /** Called once there is room again after that. Without it, the next frame is the next attempt. */
  onRoom?: () => void;
  /** Ends it because another took its place, or because the session has ended. */
  close(reason: 'replaced' | CloseReason): void;
}

interface Kept {
  readonly sequence: number;
  readonly frame: string | Uint8Array;
}

export interface LinkOptions {
  /** Replies' sound goes out as binary frames. */
  readonly binary: boolean;
  /** Where given, what those binary frames hold is Opus. */
  readonly opus?: OpusSound;
  /** Frames are kept until the client has acknowledged them, so that another carrier can go on. */
  readonly resumable: boolean;
  /** Most bytes that are kept; beyond it the oldest go, and a client that needs them cannot resume. */
  readonly keptBytes: number;
  readonly newEventId: () => string;
  /** Monotonic milliseconds, told with every event; the machine's own unless given. */
  readonly now?: () => number;
  /** Told of each number before its frame is sent. */
  readonly beforeSend?: (sequence: number) => void;
}

/**
 * What lies between a session and whatever carries its frames: numbers every frame in both directions, keeps those the
 * client has not acknowledged, and goes on over another carrier where the first one broke. Numbers start at 1.
 */
export class Link implements Peer {
  readonly #options: LinkOptions;
  readonly #kept: Kept[] = [];
  readonly #numbers = new Map<string, number>();
  #keptBytes = 0;
  #sequence = 0;
  /** The last frame that the carrier has taken. */
  #handed = 0;
  #received = 0;
  #carrier: Carrier | undefined;

  /** `fromSequence`: the last number another server process may have used for this session. */
  constructor(options: LinkOptions, fromSequence = 0) {
    this.#options = options;
    this.#sequence = fromSequence;
    this.#handed = fromSequence;
  }

  /** The last frame of the client that has been taken. */
  get received(): number {
    return this.#received;
  }

  /** The last frame that was made. */
  get sequence(): number {
    return this.#sequence;
  }

  get attached(): boolean {
    return this.#carrier !== undefined;
  }

  async beforeReply(replyId: string): Promise<void> {
    await this.#options.opus?.begin(replyId);
  }

  send(event: ServerEvent): boolean {
    const { opus } = this.#options;
    if (opus !== undefined && event.type === 'response.output_audio.done') this.#sendLast(opus, event);
    this.#sequence += 1;
    const numbered = event.type === 'response.created' ? this.#withNumber(event) : event;
    if (event.type === 'response.done') opus?.end(responseIn(event).id);
    const { now = () => systemClock.now() } = this.#options;
    return this.#deliver(JSON.stringify({ ...numbered, x_seq: this.#sequence, x_ms: Math.round(now()) }));
  }

  sendAudio(audio: OutgoingAudio): boolean {
    const { binary, opus, newEventId } = this.#options;
    if (!binary) return this.send({ event_id: newEventId(), ...audioDelta(audio) });
    const { responseId, offsetSamples, samples } = audio;
    if (opus !== undefined) return this.#sendPackets(responseId, opus.push(responseId, samples));
    return this.#sendFrame(responseId, { offsetSamples, pcm16: pcm16FromFloats(samples) });
  }

  /**
   * Puts a carrier in place of the one before, and sends it everything after `sequence` that is kept. Returns false where
   * some of that is no longer there; then nothing is sent.
   */
  attach(carrier: Carrier, sequence = this.#sequence, greeting?: (received: number) => string): boolean {
    const firstKept = this.#kept[0]?.sequence ?? this.#sequence + 1;
    if (!Number.isSafeInteger(sequence) || sequence < firstKept - 1 || sequence > this.#sequence) return false;
    this.#carrier?.close('replaced');
    this.#carrier = carrier;
    this.#handed = sequence;
    this.acknowledge(sequence);
    carrier.onRoom = () => this.#pump(carrier);
    if (greeting !== undefined) carrier.send(greeting(this.#received));
    this.#pump(carrier);
    return true;
  }

  /** The carrier broke; unless another has taken its place, frames wait from now on. */
  detach(carrier: Carrier): void {
    if (this.#carrier === carrier) this.#carrier = undefined;
  }

  /** Hangs up. */
  close(reason: CloseReason): void {
    this.#carrier?.close(reason);
    this.#carrier = undefined;
  }

  /** Finds out whether what the client sends comes through; without an answer it does not. */
  probe(answered: () => void): void {
    if (this.#carrier !== undefined && this.#carrier.probe === undefined) return answered();
    this.#carrier?.probe?.(answered);
  }

  /** The client has every frame up to this one. */
  acknowledge(sequence: number): void {
    const had = Math.min(sequence, this.#handed);
    let count = 0;
    for (const { sequence: kept, frame } of this.#kept) {
      if (!(kept <= had)) break;
      this.#keptBytes -= frame.length;
      count += 1;
    }
    this.#kept.splice(0, count);
  }

  /** Tells the client, outside the row of numbers, which of its frames have been taken. */
  tellReceived(): void {
    const event = { type: 'x_dramatis.ack', event_id: this.#options.newEventId(), x_ack: this.#received };
    this.#carrier?.send(JSON.stringify(event));
  }

  /**
   * Whether a frame of the client is new: false for one that was taken before its carrier broke. Frames of clients that
   * do not number them are always new.
   */
  takes(sequence: number | undefined): boolean {
    if (sequence === undefined) return true;
    if (sequence <= this.#received) return false;
    this.#received = sequence;
    return true;
  }

  /** Sound that is held back until a packet is full, before the event that says that it has all been sent. */
  #sendLast(opus: OpusSound, event: ServerEvent): void {
    const responseId = String(event['response_id']);
    this.#sendPackets(responseId, opus.flush(responseId));
  }

  #sendPackets(responseId: string, packets: readonly ReplyPacket[]): boolean {
    return packets.every(({ offsetSamples, ...opus }) => this.#sendFrame(responseId, { offsetSamples, opus }));
  }

  #sendFrame(
    responseId: string,
    sound: { readonly offsetSamples: number } & ({ readonly pcm16: Uint8Array } | { readonly opus: OpusPacket }),
  ): boolean {
    this.#sequence += 1;
    const replyNumber = this.#numbers.get(responseId) ?? 0;
    return this.#deliver(encodeFrame({ kind: 'reply', replyNumber, sequence: this.#sequence, ...sound }));
  }

  #withNumber(event: ServerEvent): ServerEvent {
    const response = responseIn(event);
    const number = (this.#numbers.size + 1) & 0xff_ff;
    this.#numbers.set(response.id, number);
    return { ...event, response: { ...response, x_dramatis: { number } } };
  }

  #deliver(frame: string | Uint8Array): boolean {
    this.#options.beforeSend?.(this.#sequence);
    if (this.#options.resumable) {
      this.#kept.push({ sequence: this.#sequence, frame });
      this.#keptBytes += frame.length;
      while (this.#keptBytes > this.#options.keptBytes) this.#keptBytes -= this.#kept.shift()?.frame.length ?? 0;
    }
    const carrier = this.#carrier;
    if (!this.#options.resumable) return carrier?.send(frame) ?? false;
    if (carrier !== undefined) this.#pump(carrier);
    return true;
  }

  /** Hands the carrier what it has not had, as far as it has room. */
  #pump(carrier: Carrier): void {
    if (carrier !== this.#carrier) return;
    const firstKept = this.#kept[0]?.sequence ?? this.#sequence + 1;
    if (this.#handed < firstKept - 1) {
      // So far behind that it cannot go on: let it go.
      this.detach(carrier);
      carrier.close('client_too_slow');
      return;
    }
    for (const { sequence, frame } of this.#kept.slice(this.#handed - firstKept + 1)) {
      if (!carrier.send(frame)) return;
      this.#handed = sequence;
    }
  }
}

function responseIn(event: ServerEvent): { readonly id: string } {
  return event['response'] as { readonly id: string };
}
