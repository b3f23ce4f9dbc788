import type { ServerEvent } from '../../protocol/server-events.ts';
import { floatsFromG711, g711SampleRate } from '../../../voices/dsp/g711.ts';
import { wireSampleRate } from '../../protocol/limits.ts';
import type { ClientEvent, SessionPatch } from '../../protocol/client-events.ts';
import { interruptsIn } from '../../realtime/interrupts.ts';
import type { Peer } from '../../realtime/peer.ts';
import type { OutgoingAudio } from '../../realtime/encode.ts';
import type { TwilioCommand, TwilioMessage } from './messages.ts';

/** Session settings needed for Twilio: µ-law both ways, so that audio passes through unchanged. */
export const telephoneSession: SessionPatch = {
  audio: { input: { format: { type: 'audio/pcmu' } }, output: { format: { type: 'audio/pcmu' } } },
};

/** 20 ms of µ-law, the block size that Twilio itself sends. */
const pieceBytes = 160;
const bytesPerMs = g711SampleRate / 1000;

/** Playback position of a reply at the caller. */
interface Heard {
  readonly responseId: string;
  readonly itemId: string;
  readonly ms: number;
}

/** A piece of a reply at Twilio that has not been played, as far as is known. */
interface Piece extends Heard {
  readonly sound: Buffer;
}

/** One of Twilio's streams. */
export interface TwilioLine {
  readonly streamSid: string;
  /** Returns false if Twilio has stopped reading. */
  tell(command: TwilioCommand): boolean;
}

interface Ends {
  ask(event: ClientEvent): void;
  /** Sends the caller's audio to the session, at `g711SampleRate`. */
  hear(samples: Float32Array): void;
}

/**
 * One phone call between Twilio Media Streams and a session; over one stream, or over another one if the first one breaks:
 * what had not been played then is sent again. A mark follows each block of a reply; when it comes back,
 * the caller has heard up to there. On a barge-in, Twilio's buffer is cleared, and the history is truncated to what was
 * heard; also while an overlap is being classified: if it was no barge-in, the session speaks the clause again.
 */
export class MediaStream implements Pick<Peer, 'send' | 'sendAudio'> {
  readonly #ends: Ends;
  #line: TwilioLine | undefined;
  /** Marks that Twilio has not returned, oldest first. */
  readonly #marks = new Map<string, Piece>();
  #markCount = 0;
  /** Playback position of the last mark that came back. */
  #heard: Heard | undefined;
  #playing: { readonly responseId: string; readonly itemId: string; sentBytes: number } | undefined;
  /** Start of the next block, not yet full. */
  #held = Buffer.alloc(0);
  /** The item of a held reply: its audio at Twilio was cleared, and no more has been sent since. */
  #silencedItem: string | undefined;
  #interrupts = true;

  constructor(line: TwilioLine, ends: Ends) {
    this.#line = line;
    this.#ends = ends;
  }

  /** Continues over another stream. */
  attach(line: TwilioLine): void {
    this.#line = line;
    for (const [name, piece] of this.#marks) this.#pass(name, piece);
  }

  /** The stream has broken; what is said meanwhile waits. */
  detach(line: TwilioLine): void {
    if (this.#line === line) this.#line = undefined;
  }

  /** Makes the character speak first, as a person who answers the phone does. */
  greet(): void {
    this.#ends.ask({ type: 'response.create', response: { x_dramatis: { greeting: true } } });
  }

  receive(message: TwilioMessage): void {
    if (message.event === 'media' && message.media.track === 'inbound') {
      this.#ends.hear(floatsFromG711(Buffer.from(message.media.payload, 'base64'), 'mulaw'));
    } else if (message.event === 'mark') this.#hear(message.mark.name);
  }

  /** Takes an event of the session. Returns false if Twilio has stopped reading. */
  send(event: ServerEvent): boolean {
    this.#interrupts = interruptsIn(event) ?? this.#interrupts;
    switch (event.type) {
      case 'response.output_audio.done':
        return this.#playRest();
      case 'x_dramatis.hold':
        return this.#hold(event.response_id);
      case 'input_audio_buffer.speech_started':
        return this.#interrupts ? this.#interrupt() : true;
      default:
        return true;
    }
  }

  /** Plays audio of the session, which is in µ-law because of `telephoneSession`. */
  sendAudio({ responseId, itemId, encoded = new Uint8Array(0) }: OutgoingAudio): boolean {
    if (this.#playing?.itemId !== itemId) {
      this.#playing = { responseId, itemId, sentBytes: 0 };
      this.#held = Buffer.alloc(0);
    }
    const sound = Buffer.concat([this.#held, encoded]);
    const wholeBytes = sound.length - (sound.length % pieceBytes);
    this.#held = sound.subarray(wholeBytes);
    return this.#sendSound(sound.subarray(0, wholeBytes));
  }

  #playRest(): boolean {
    const rest = this.#held;
    this.#held = Buffer.alloc(0);
    return this.#sendSound(rest);
  }

  #sendSound(sound: Buffer): boolean {
    const playing = this.#playing;
    if (playing === undefined || sound.length === 0) return true;
    this.#silencedItem = undefined;
    playing.sentBytes += sound.length;
    this.#markCount += 1;
    const name = String(this.#markCount);
    const { responseId, itemId, sentBytes } = playing;
    const piece = { responseId, itemId, ms: sentBytes / bytesPerMs, sound };
    this.#marks.set(name, piece);
    return this.#pass(name, piece);
  }

  #pass(name: string, { sound }: Piece): boolean {
    const line = this.#line;
    if (line === undefined) return true;
    const { streamSid } = line;
    for (let offset = 0; offset < sound.length; offset += pieceBytes) {
      const payload = sound.subarray(offset, offset + pieceBytes).toString('base64');
      if (!line.tell({ event: 'media', streamSid, media: { payload } })) return false;
    }
    return line.tell({ event: 'mark', streamSid, mark: { name } });
  }

  #hear(name: string): void {
    const heard = this.#marks.get(name);
    // Marks of cleared audio come back too; that audio was not heard.
    if (heard === undefined) return;
    for (const earlier of this.#marks.keys()) {
      this.#marks.delete(earlier);
      if (earlier === name) break;
    }
    this.#heard = heard;
    this.#tellHeard(heard.responseId, heard.ms);
  }

  #tellHeard(responseId: string, ms: number, mark: { readonly held?: true } = {}): void {
    const samples = Math.round((ms / 1000) * wireSampleRate);
    this.#ends.ask({ type: 'x_dramatis.heard', response_id: responseId, samples, ...mark });
  }

  /** Pauses a reply. Positions in the reply keep counting all audio received, played or not. */
  #hold(responseId: string): boolean {
    const playing = this.#playing;
    if (playing?.responseId !== responseId) return true;
    playing.sentBytes += this.#held.length;
    this.#held = Buffer.alloc(0);
    this.#silencedItem = playing.itemId;
    const isReading = this.#throwAway(playing.itemId);
    const heard = this.#heard;
    if (heard !== undefined)
      this.#tellHeard(responseId, heard.itemId === playing.itemId ? heard.ms : 0, { held: true });
    return isReading;
  }

  /** The session has truncated the reply by its own estimate; marks, if there are any, are more accurate. */
  #interrupt(): boolean {
    this.#held = Buffer.alloc(0);
    const silenced = this.#silencedItem;
    this.#silencedItem = undefined;
    const isReading = this.#throwAway();
    if (silenced !== undefined) this.#truncate(silenced);
    return isReading;
  }

  /** Clears Twilio's buffer, and truncates all items in it except `goesOn`: the rest of them is never heard. */
  #throwAway(goesOn?: string): boolean {
    if (this.#marks.size === 0) return true;
    const unheard = new Set([...this.#marks.values()].map(({ itemId }) => itemId));
    this.#marks.clear();
    const line = this.#line;
    const isReading = line === undefined || line.tell({ event: 'clear', streamSid: line.streamSid });
    for (const itemId of unheard) if (itemId !== goesOn) this.#truncate(itemId);
    return isReading;
  }

  /** Truncates an item in the history at the last mark. Without any mark, the session's estimate is used. */
  #truncate(itemId: string): void {
    const heard = this.#heard;
    if (heard === undefined) return;
    const heardMs = Math.round(heard.itemId === itemId ? heard.ms : 0);
    const truncation = { item_id: itemId, content_index: 0, audio_end_ms: heardMs };
    this.#ends.ask({ type: 'conversation.item.truncate', ...truncation });
  }
}
