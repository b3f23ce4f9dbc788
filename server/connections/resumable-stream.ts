import type { ServerEvent } from '../protocol/server-events.ts';
import { pcm16FromFloats } from '../../voices/audio.ts';
import { encodeFrame, type OpusPacket } from '../protocol/binary-frame.ts';
import { systemClock, type Clock } from '../session/contract/clock.ts';
import { audioDelta, newId, type OutgoingAudio } from '../realtime/encode.ts';
import type { SessionOpus, ReplyPacket } from './session-opus.ts';
import type { SessionLog } from '../journal/journal.ts';
import type { SessionPeer } from './open-session.ts';
import type { CloseReason, Transport } from './socket-transport.ts';

interface Kept {
  readonly sequence: number;
  readonly frame: string | Uint8Array;
  /** Position in the log up to which the frame reports events. */
  readonly after: number;
}

export interface ResumableStreamOptions {
  /** Reply audio is sent as binary frames. */
  readonly binary: boolean;
  /** Encodes the binary frames as Opus, if given. */
  readonly opus?: SessionOpus | undefined;
  /** Frames are kept until the client acknowledges them, so that another transport can continue. */
  readonly resumable: boolean;
  /** Most bytes of kept frames. Beyond it the oldest are dropped, and a client that needs them cannot resume. */
  readonly keptBytes: number;
  /** Its time is sent with every event. The system's unless given. */
  readonly clock?: Pick<Clock, 'now'>;
  /** Called with each sequence number before its frame is sent. */
  readonly beforeSend?: ((sequence: number) => void) | undefined;
  /** Called with each event that another process may have to send again, before it is sent. */
  readonly keepEvent?: ((sequence: number, event: ServerEvent, acknowledged: number) => void) | undefined;
  /** The log of the journal, if there is one: frames and marks wait for what it has to write. */
  readonly log?: SessionLog | undefined;
}

/** The numbers that another server process has used for a session, and those that it has taken from the client. */
export interface UsedNumbers {
  readonly sequence: number;
  readonly kept?: number | undefined;
  readonly taken?: ReadonlySet<number>;
}

/**
 * Resumable stream between a session and its transport: numbers the frames of both directions from 1, keeps those not
 * acknowledged, and continues over another transport if the first one breaks.
 */
export class ResumableStream implements SessionPeer {
  readonly #options: ResumableStreamOptions;
  readonly #kept: Kept[] = [];
  readonly #numbers = new Map<string, number>();
  #keptBytes = 0;
  #sequence = 0;
  /** The last number that another server process may have used: frames up to it are not here. */
  readonly #usedBefore: number;
  /** The last frame that the transport has accepted. */
  #handed = 0;
  /** The last frame that the client has. */
  #acknowledged = 0;
  #received: number;
  /** The last message of the client that need not be sent again, even to another server process. */
  #keptMessage: number;
  /** Later messages that count as kept once the log has written up to a position. */
  #keptLater: { message: number; after: number }[] = [];
  readonly #taken: ReadonlySet<number>;
  #carrier: Transport | undefined;

  constructor(
    options: ResumableStreamOptions,
    { sequence, kept = 0, taken = new Set() }: UsedNumbers = { sequence: 0 },
  ) {
    this.#options = options;
    this.#sequence = sequence;
    this.#usedBefore = sequence;
    this.#handed = sequence;
    this.#received = kept;
    this.#keptMessage = kept;
    this.#taken = taken;
    const { log } = options;
    if (log === undefined) return;
    this.kept = (message) => {
      this.#keptLater.push({ message, after: log.position });
      this.#settle();
    };
    log.onWritten = () => {
      this.#settle();
      if (this.#carrier !== undefined) this.#pump(this.#carrier);
    };
  }

  readonly kept: ((message: number) => void) | undefined;

  /** Sequence number of the last client frame processed. */
  get received(): number {
    return this.#received;
  }

  /** Sequence number of the last frame created. */
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
    // The audio still waiting for a full packet goes before the event that says that all has been sent.
    if (opus !== undefined && event.type === 'response.output_audio.done')
      this.#sendPackets(event.response_id, opus.flush(event.response_id));
    this.#sequence += 1;
    const numbered = event.type === 'response.created' ? this.#withNumber(event) : event;
    if (event.type === 'response.done') opus?.end(event.response.id);
    const { clock = systemClock } = this.#options;
    const told = isKept(event) ? numbered : undefined;
    return this.#deliver(JSON.stringify({ ...numbered, x_seq: this.#sequence, x_ms: Math.round(clock.now()) }), told);
  }

  sendAudio(audio: OutgoingAudio): boolean {
    const { binary, opus } = this.#options;
    if (!binary) return this.send({ event_id: newId('event'), ...audioDelta(audio) });
    const { responseId, offsetSamples, samples } = audio;
    if (opus !== undefined) return this.#sendPackets(responseId, opus.push(responseId, samples));
    return this.#sendFrame(responseId, { offsetSamples, pcm16: pcm16FromFloats(samples) });
  }

  /** True if a client that has frames up to this one has none of this process. */
  precedes(sequence: number): boolean {
    return Number.isSafeInteger(sequence) && sequence >= 0 && sequence < this.#usedBefore;
  }

  /** Replaces the transport, and sends the new one all after `after`; returns false if some was dropped. */
  attach(carrier: Transport, after = this.#sequence, greeting?: (received: number) => string): boolean {
    const firstKept = this.#kept[0]?.sequence ?? this.#sequence + 1;
    const sequence = this.precedes(after) ? this.#usedBefore : after;
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

  /** Removes a broken transport, unless another has replaced it. Frames are kept from now on. */
  detach(carrier: Transport): void {
    if (this.#carrier === carrier) this.#carrier = undefined;
  }

  close(reason: CloseReason): void {
    // What waited for the log goes out.
    if (this.#carrier !== undefined && this.#options.log !== undefined) this.#pump(this.#carrier, true);
    this.#carrier?.close(reason);
    this.#carrier = undefined;
  }

  /** Leaves the client to another process that has taken the session over: it gets nothing more from here. */
  abandon(): void {
    this.#carrier?.close('replaced');
    this.#carrier = undefined;
  }

  /** Checks that data from the client still arrives. `answered` is never called if it does not. */
  probe(answered: () => void): void {
    this.#carrier?.probe(answered);
  }

  /** Handles the sequence fields of a message: drops duplicates, releases acknowledged frames, answers acks. */
  admits(message: unknown): boolean {
    if (typeof message !== 'object' || message === null) return true;
    const { type, x_seq: sequence, x_ack: acknowledged } = message as Record<string, unknown>;
    if (typeof acknowledged === 'number') this.acknowledge(acknowledged);
    if (!this.takes(typeof sequence === 'number' ? sequence : undefined)) return false;
    if (type !== 'x_dramatis.ack') return true;
    this.#settle();
    const kept = this.kept === undefined ? {} : { x_kept: this.#keptMessage };
    const ack = { type, event_id: newId('event'), x_ack: this.#received, ...kept };
    this.#carrier?.send(JSON.stringify(ack));
    return false;
  }

  /** Drops the frames that the client has received: all up to this one. */
  acknowledge(sequence: number): void {
    const had = Math.min(sequence, this.#handed);
    this.#acknowledged = Math.max(this.#acknowledged, had);
    let count = 0;
    for (const { sequence: kept, frame } of this.#kept) {
      if (!(kept <= had)) break;
      this.#keptBytes -= frame.length;
      count += 1;
    }
    this.#kept.splice(0, count);
  }

  /** Returns false for a frame that was processed before its transport broke. Frames without a number are new. */
  takes(sequence: number | undefined): boolean {
    if (sequence === undefined) return true;
    if (sequence <= this.#received) return false;
    this.#received = sequence;
    return !this.#taken.has(sequence);
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

  #withNumber(event: Extract<ServerEvent, { readonly type: 'response.created' }>): ServerEvent {
    const { response } = event;
    const number = (this.#numbers.size + 1) & 0xff_ff;
    this.#numbers.set(response.id, number);
    return { ...event, response: { ...response, x_dramatis: { number } } };
  }

  /** `told`: the event, if another process is to send it again. */
  #deliver(frame: string | Uint8Array, told?: ServerEvent): boolean {
    this.#options.beforeSend?.(this.#sequence);
    if (told !== undefined) this.#options.keepEvent?.(this.#sequence, told, this.#acknowledged);
    if (this.#options.resumable) {
      this.#kept.push({ sequence: this.#sequence, frame, after: this.#options.log?.position ?? 0 });
      this.#keptBytes += frame.length;
      while (this.#keptBytes > this.#options.keptBytes) this.#keptBytes -= this.#kept.shift()?.frame.length ?? 0;
    }
    const carrier = this.#carrier;
    if (!this.#options.resumable) return carrier?.send(frame) ?? false;
    if (carrier !== undefined) this.#pump(carrier);
    return true;
  }

  /** Takes the marks whose lines have been written. */
  #settle(): void {
    const { writtenTo = 0 } = this.#options.log ?? {};
    const written = this.#keptLater.filter(({ after }) => after <= writtenTo);
    this.#keptLater.splice(0, written.length);
    this.#keptMessage = written.at(-1)?.message ?? this.#keptMessage;
  }

  /** Passes frames to the transport that it has not had, as long as it accepts them and the log is not behind. */
  #pump(carrier: Transport, isLast = false): void {
    if (carrier !== this.#carrier) return;
    const firstKept = this.#kept[0]?.sequence ?? this.#sequence + 1;
    if (this.#handed < firstKept - 1) {
      // The frames it needs have been dropped, so it cannot continue.
      this.detach(carrier);
      carrier.close('client_too_slow');
      return;
    }
    const { log } = this.#options;
    const toldTo = log?.holdsFrames === true && !isLast ? log.writtenTo : Number.POSITIVE_INFINITY;
    for (const { sequence, frame, after } of this.#kept.slice(this.#handed - firstKept + 1)) {
      if (after > toldTo || !carrier.send(frame)) return;
      this.#handed = sequence;
    }
  }
}

/**
 * Returns whether another process sends an event again to a client that has not got it. Not the pieces of what is told
 * whole later, or said again; nor the resume token.
 */
function isKept({ type }: ServerEvent): boolean {
  return !type.endsWith('.delta') && type !== 'x_dramatis.visemes' && type !== 'session.created';
}
