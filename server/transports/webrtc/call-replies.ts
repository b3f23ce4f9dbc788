import type { ServerEvent, ServerItem, ServerResponse } from '../../protocol/server-events.ts';
import type { ClientEvent } from '../../protocol/client-events.ts';
import { wireSampleRate } from '../../protocol/limits.ts';
import { interruptsIn } from '../../realtime/interrupts.ts';
import type { OutgoingSpeech } from './outgoing-speech.ts';
import type { CutResponse, PlayoutEvent } from './playout-queue.ts';

interface Ends {
  readonly outgoing: OutgoingSpeech;
  readonly ask: (event: ClientEvent) => void;
  /** The session is informed when a response has been played to its end, for its journal. */
  readonly reportsEnd: boolean;
}

/**
 * Plays the replies of a session to the listener of a call. Only this end knows how much of a reply has been played:
 * whenever audio is cut, the session gets the position, so that the history ends with what was heard.
 */
export class CallReplies {
  readonly #ends: Ends;
  readonly #running = new Map<string, ServerResponse>();
  /** Conversation item of each response that is in progress or still playing. */
  readonly #items = new Map<string, string>();
  /** The response whose playback ended last: it may be played again if nobody has heard its end. */
  #lastStopped: readonly [responseId: string, itemId: string] | undefined;
  #interrupts = true;
  #justEnded: ServerResponse | undefined;

  constructor(ends: Ends) {
    this.#ends = ends;
  }

  play(responseId: string, samples: Float32Array): void {
    if (this.#running.has(responseId)) this.#ends.outgoing.push(responseId, samples);
  }

  /** Takes an event of the session, after it was sent to the client. Events that are only about playback are not sent. */
  take(event: ServerEvent): void {
    this.#interrupts = interruptsIn(event) ?? this.#interrupts;
    switch (event.type) {
      case 'response.created': {
        return void this.#running.set(event.response.id, event.response);
      }
      case 'response.output_item.added':
        return this.#noteItem(event.response_id, event.item);
      case 'conversation.item.deleted':
        for (const [id, itemId] of this.#items) if (itemId === event.item_id) this.#items.delete(id);
        return;
      case 'x_dramatis.hold':
        return this.#hold(event.response_id);
      case 'input_audio_buffer.speech_started':
        // A response still in progress is stopped, or not, by the session itself.
        if (this.#interrupts) this.#tellHeard(this.#ends.outgoing.cut(({ complete }) => complete));
        return;
      case 'response.done':
        this.#justEnded = event.response;
        return;
      case 'rate_limits.updated':
        // It directly follows `response.done`; audio events may only come after it.
        return this.#finish();
      default:
    }
  }

  /** The client asks for immediate silence. Replies in progress are stopped, so that they do not count as heard. */
  clear(): void {
    this.#tellHeard(this.#ends.outgoing.cut());
  }

  /** True while a response is in progress. */
  get isSpeaking(): boolean {
    return this.#running.size > 0;
  }

  /** Takes the playout events for the client. */
  notePlayout({ type, response_id: responseId }: PlayoutEvent, playedSamples: number): void {
    const itemId = this.#items.get(responseId);
    if (type === 'output_audio_buffer.stopped') {
      this.#items.delete(responseId);
      if (itemId !== undefined) this.#lastStopped = [responseId, itemId];
      if (this.#ends.reportsEnd) this.notePlayed({ responseId, playedSamples });
    }
    if (type !== 'output_audio_buffer.started') return;
    const [stopped, itsItem = ''] = this.#lastStopped ?? [];
    if (itemId === undefined && stopped === responseId) this.#items.set(responseId, itsItem);
    // From here on, playback is in real time.
    this.notePlayed({ responseId, playedSamples: Math.max(1, playedSamples) });
  }

  /** Tells the session how much of a response has been played. */
  notePlayed({ responseId, playedSamples: samples }: CutResponse): void {
    this.#ends.ask({ type: 'x_dramatis.heard', response_id: responseId, samples });
  }

  /** Ignores out-of-band responses, whose items are not part of the conversation. */
  #noteItem(responseId: string, { id, type }: ServerItem): void {
    if (type === 'message' && this.#running.get(responseId)?.['conversation_id'] != null)
      this.#items.set(responseId, id);
  }

  /** Pauses a reply until the user's speech has been classified. The session sends the dropped audio again later. */
  #hold(responseId: string): void {
    const samples = this.#ends.outgoing.hold(responseId);
    if (samples !== undefined)
      this.#ends.ask({ type: 'x_dramatis.heard', response_id: responseId, samples, held: true });
  }

  #finish(): void {
    const ended = this.#justEnded;
    this.#justEnded = undefined;
    if (ended === undefined) return;
    const { id, status } = ended;
    const { outgoing } = this.#ends;
    this.#running.delete(id);
    if (status === 'cancelled') this.#tellHeard(outgoing.cut(({ responseId }) => responseId === id));
    if (!outgoing.complete(id)) this.#items.delete(id);
  }

  #tellHeard(cuts: readonly CutResponse[]): void {
    for (const { responseId, playedSamples } of cuts) {
      const itemId = this.#items.get(responseId);
      this.#items.delete(responseId);
      if (itemId !== undefined) {
        const heardMs = Math.round((playedSamples / wireSampleRate) * 1000);
        // This also stops the response, if it is still in progress.
        const truncation = { item_id: itemId, content_index: 0, audio_end_ms: heardMs };
        this.#ends.ask({ type: 'conversation.item.truncate', ...truncation });
      } else if (this.#running.has(responseId)) this.#ends.ask({ type: 'response.cancel', response_id: responseId });
    }
  }
}
