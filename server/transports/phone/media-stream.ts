import { g711SampleRate } from '../../../voices/dsp/g711.ts';
import { wireSampleRate } from '../../protocol/limits.ts';
import type { SessionPatch } from '../../protocol/client-events.ts';
import { interruptsIn } from '../../realtime/interrupts.ts';
import type { WireEvent } from '../../realtime/wire-event.ts';
import type { TwilioCommand, TwilioMessage } from './messages.ts';

/** What a session must start with to talk to Twilio: µ-law both ways, so that sound passes through untouched. */
export const telephoneSession: SessionPatch = {
  audio: { input: { format: { type: 'audio/pcmu' } }, output: { format: { type: 'audio/pcmu' } } },
};

/** 20 ms of µ-law, the piece that Twilio itself sends. */
const pieceBytes = 160;
const bytesPerMs = g711SampleRate / 1000;

/** How far the caller has heard a reply. */
interface Heard {
  readonly responseId: string;
  readonly itemId: string;
  readonly ms: number;
}

interface Ends {
  /** Sends to Twilio. Returns false where Twilio has stopped reading. */
  tell(command: TwilioCommand): boolean;
  /** Sends to the session, in the words of OpenAI Realtime (GA). */
  ask(event: Record<string, unknown> & { readonly type: string }): void;
}

/**
 * One phone call, between Twilio Media Streams and a session that speaks OpenAI Realtime (GA). A mark follows each piece
 * of a reply; when it comes back, the caller has heard up to there, and the session is told so. When the caller barges
 * in, what Twilio still holds is thrown away, and the history is cut to what was heard. While it is not known whether a
 * sound is the caller barging in, that is thrown away too, and the session says the clause again if it was not.
 */
export class MediaStream {
  readonly #streamSid: string;
  readonly #ends: Ends;
  /** Marks that Twilio has not given back, oldest first. */
  readonly #marks = new Map<string, Heard>();
  #markCount = 0;
  /** What the last mark to come back told. */
  #heard: Heard | undefined;
  #playing: { readonly responseId: string; readonly itemId: string; sentBytes: number } | undefined;
  /** The beginning of the next piece. */
  #held = Buffer.alloc(0);
  /** The item of a reply that is held: what Twilio had of it was thrown away, and nothing has come since. */
  #silencedItem: string | undefined;
  #interrupts = true;

  constructor(streamSid: string, ends: Ends) {
    this.#streamSid = streamSid;
    this.#ends = ends;
  }

  /** Has the character speak first, as whoever picks up a phone does. */
  greet(): void {
    this.#ends.ask({ type: 'response.create', response: { x_dramatis: { greeting: true } } });
  }

  /** Takes what Twilio says. */
  receive(message: TwilioMessage): void {
    if (message.event === 'media' && message.media.track === 'inbound') {
      this.#ends.ask({ type: 'input_audio_buffer.append', audio: message.media.payload });
    } else if (message.event === 'mark') this.#hear(message.mark.name);
  }

  /** Takes what the session says. Returns false where Twilio has stopped reading. */
  send(event: WireEvent): boolean {
    this.#interrupts = interruptsIn(event) ?? this.#interrupts;
    switch (event.type) {
      case 'response.output_audio.delta':
        return this.#play(event as unknown as AudioDelta);
      case 'response.output_audio.done':
        return this.#playRest();
      case 'x_dramatis.hold':
        return this.#hold(event['response_id'] as string);
      case 'input_audio_buffer.speech_started':
        return this.#interrupts ? this.#interrupt() : true;
      default:
        return true;
    }
  }

  #play({ response_id: responseId, item_id: itemId, delta }: AudioDelta): boolean {
    if (this.#playing?.itemId !== itemId) {
      this.#playing = { responseId, itemId, sentBytes: 0 };
      this.#held = Buffer.alloc(0);
    }
    const sound = Buffer.concat([this.#held, Buffer.from(delta, 'base64')]);
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
    const streamSid = this.#streamSid;
    for (let offset = 0; offset < sound.length; offset += pieceBytes) {
      const payload = sound.subarray(offset, offset + pieceBytes).toString('base64');
      if (!this.#ends.tell({ event: 'media', streamSid, media: { payload } })) return false;
    }
    playing.sentBytes += sound.length;
    this.#markCount += 1;
    const name = String(this.#markCount);
    const { responseId, itemId, sentBytes } = playing;
    this.#marks.set(name, { responseId, itemId, ms: sentBytes / bytesPerMs });
    return this.#ends.tell({ event: 'mark', streamSid, mark: { name } });
  }

  #hear(name: string): void {
    const heard = this.#marks.get(name);
    // What was thrown away comes back too, and was not heard.
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

  /** Silence for a moment. Places in the reply go on counting what came, played or not. */
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

  /** The session has cut the reply by its own reckoning; where marks come back, they know better. */
  #interrupt(): boolean {
    this.#held = Buffer.alloc(0);
    const silenced = this.#silencedItem;
    this.#silencedItem = undefined;
    const isReading = this.#throwAway();
    if (silenced !== undefined) this.#truncate(silenced);
    return isReading;
  }

  /** Has Twilio throw away what it has not played. What it had of all items but `goesOn` will never be heard. */
  #throwAway(goesOn?: string): boolean {
    if (this.#marks.size === 0) return true;
    const unheard = new Set([...this.#marks.values()].map(({ itemId }) => itemId));
    this.#marks.clear();
    const isReading = this.#ends.tell({ event: 'clear', streamSid: this.#streamSid });
    for (const itemId of unheard) if (itemId !== goesOn) this.#truncate(itemId);
    return isReading;
  }

  /** The history is to end where the marks do; where none has come back, the session knows as much as we. */
  #truncate(itemId: string): void {
    const heard = this.#heard;
    if (heard === undefined) return;
    const heardMs = Math.round(heard.itemId === itemId ? heard.ms : 0);
    const truncation = { item_id: itemId, content_index: 0, audio_end_ms: heardMs };
    this.#ends.ask({ type: 'conversation.item.truncate', ...truncation });
  }
}

/** The fields of `response.output_audio.delta` that matter here. */
interface AudioDelta {
  readonly response_id: string;
  readonly item_id: string;
  readonly delta: string;
}
