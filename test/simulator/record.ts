import type { Item, Response, TalkEvent } from '../../server/client/types/api.d.ts';
import type { RecordedEvent } from '../conformance/realtime-order.ts';

/** Facts about one response, as seen by the client. */
export interface ReplyFacts {
  readonly id: string;
  readonly createdMs: number;
  readonly itemIds: string[];
  doneMs?: number;
  status?: string;
  reason?: string;
  latency?: Readonly<Record<string, unknown>>;
}

/** Records everything that one client receives, with times, and keeps the resulting state. */
export class ClientRecord {
  /** Server events in order; audio without its samples. A new session begins with `session.created`. */
  readonly events: { readonly atMs: number; readonly event: RecordedEvent }[] = [];
  readonly replies = new Map<string, ReplyFacts>();
  /** Transcripts of the person's utterances, by item, in the order received; null if recognition failed. */
  readonly transcripts = new Map<string, string | null>();
  /** Conversation items in order, as reported to the client. */
  readonly items: { readonly id: string; readonly item: Item }[] = [];
  readonly retrieved = new Map<string, Item>();
  /** Time at which each cut item fell silent. */
  readonly cuts = new Map<string, number>();
  readonly errors: string[] = [];
  readonly connection: { readonly atMs: number; readonly type: string }[] = [];
  lostMs = 0;
  /** Utterances in progress without a transcript. */
  readonly #open = new Set<string>();
  /** The VAD reports speech, even if recognition of it has failed. */
  #isSpeaking = false;
  sessions = 0;

  take(event: TalkEvent, atMs: number): void {
    if (event.type.startsWith('connection.')) {
      this.connection.push({ atMs, type: event.type });
      if (event.type !== 'connection.open') return;
      this.lostMs += event.lostMs;
      // Utterances in progress on the previous server are lost with it.
      if (event.isRestarted) this.#forgetOpen();
    } else if (event.type === 'playback.cut') this.cuts.set(event.itemId, atMs);
    else if (!/^(playback|microphone|speaker)\./u.test(event.type)) this.#takeServer(event as ServerEvent, atMs);
  }

  /** Some of what the person said has not been transcribed yet, as far as the client knows. */
  get isHearing(): boolean {
    return this.#open.size > 0 || this.#isSpeaking;
  }

  /**
   * Events of one session, the last by default. Leaves out replies that died with their server, because their ends were
   * never sent.
   */
  eventsOf(session = this.sessions): RecordedEvent[] {
    let count = 0;
    return this.events.flatMap(({ event }) => {
      if (event.type === 'session.created') count += 1;
      return count === session && !this.#isDead(event) ? [event] : [];
    });
  }

  #forgetOpen(): void {
    this.#open.clear();
    this.#isSpeaking = false;
  }

  #isDead(event: RecordedEvent): boolean {
    const about = event['response'] as { readonly id: string } | undefined;
    const id = (event['response_id'] ?? about?.id) as string | undefined;
    return id !== undefined && this.replies.get(id)?.reason === 'server_restarted';
  }

  #takeServer(event: ServerEvent, atMs: number): void {
    this.events.push({ atMs, event: recorded(event) });
    switch (event.type) {
      case 'session.created':
        this.sessions += 1;
        this.items.length = 0;
        this.#forgetOpen();
        break;
      case 'response.created':
        this.replies.set(event.response.id, { id: event.response.id, createdMs: atMs, itemIds: [] });
        break;
      case 'response.output_item.added':
        this.replies.get(event.response_id)?.itemIds.push(event.item.id);
        break;
      case 'response.done':
        this.#end(event.response, atMs);
        break;
      case 'error':
        this.errors.push(event.error.code ?? '');
        break;
      default:
        this.#takeItem(event);
    }
  }

  #end(response: Response, atMs: number): void {
    const facts = this.replies.get(response.id);
    if (facts === undefined) return;
    facts.doneMs = atMs;
    facts.status = response.status ?? '';
    facts.reason = response.status_details?.reason ?? response.status_details?.error?.code ?? '';
    facts.latency = { ...response.x_dramatis?.latency };
  }

  #takeItem(event: ServerEvent): void {
    switch (event.type) {
      case 'conversation.item.added': {
        const before = this.items.findIndex(({ id }) => id === event.previous_item_id);
        this.items.splice(before + 1, 0, { id: event.item.id, item: event.item });
        break;
      }
      case 'conversation.item.deleted': {
        const { item_id: id } = event as unknown as { item_id: string };
        const place = this.items.findIndex((one) => one.id === id);
        if (place >= 0) this.items.splice(place, 1);
        break;
      }
      case 'conversation.item.retrieved':
        this.retrieved.set(event.item.id, event.item);
        break;
      case 'input_audio_buffer.speech_started':
      case 'input_audio_buffer.committed':
        this.#isSpeaking = event.type === 'input_audio_buffer.speech_started';
        if (!this.transcripts.has(event.item_id)) this.#open.add(event.item_id);
        break;
      case 'input_audio_buffer.cleared':
        this.#forgetOpen();
        break;
      case 'conversation.item.input_audio_transcription.completed':
        this.transcripts.set(event.item_id, event.transcript);
        this.#open.delete(event.item_id);
        break;
      case 'conversation.item.input_audio_transcription.failed':
        this.transcripts.set(event.item_id, null);
        this.#open.delete(event.item_id);
        break;
      default:
    }
  }
}

type ServerEvent = Exclude<TalkEvent, { type: `${'connection' | 'playback' | 'microphone' | 'speaker'}.${string}` }>;

function recorded(event: ServerEvent): RecordedEvent {
  if (event.type !== 'response.output_audio.delta') return event as unknown as RecordedEvent;
  const { pcm16, ...facts } = event;
  return { ...facts, event_id: event.event_id ?? `frame_${event.x_seq}`, delta: '', samples: pcm16.length / 2 };
}
