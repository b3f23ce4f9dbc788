import { setTimeout as sleep } from 'node:timers/promises';
import type { Latency } from '../session/contract/turn-timings.ts';
import type { RealtimeClient, ReceivedEvent } from './client.ts';
import { wireSampleRate } from './limits.ts';

/** Report on the speculative replies before a response. */
interface SpeculationEvent {
  readonly drafts: number;
  readonly used: boolean;
  readonly wasted_tokens: number;
  readonly wasted_speech_ms: number;
}

/** One exchange of a replayed recording: the transcript and the reply. */
export interface ReplayedTurn {
  transcript: string | null;
  /** Error of the transcription, if any. */
  unclear: { readonly code: string; readonly message: string } | null;
  reply: string;
  /** 16-bit PCM at the wire's rate. */
  readonly replyPcm16: Buffer[];
  /** `completed`, `cancelled`, `failed` or `incomplete`; null if there was no reply. */
  status: string | null;
  mind: { readonly name: string; readonly because?: string } | null;
  /** The server's latency breakdown, in milliseconds since the end of speech. */
  latency: Latency | null;
  /** Speculative replies before the end of the turn; null if the server reported none. */
  speculation: SpeculationEvent | null;
  /** Time from the end of the user's speech to the first reply audio, on the client's clock; null if there was none. */
  firstAudioMs: number | null;
}

export interface ReplayResult {
  readonly turns: readonly ReplayedTurn[];
  readonly errors: readonly { readonly code: string; readonly message: string }[];
}

export interface ReplayOptions {
  readonly signal: AbortSignal;
  /** True: the server detects the turns. False: the recording is one turn, committed at its end. */
  readonly serverVad: boolean;
  /** Cancels each reply after its first audio; for measuring latency only. */
  readonly untilFirstAudio?: boolean;
  /** Called with every event, for live output. */
  readonly onEvent?: (event: ReceivedEvent) => void;
}

/** Audio per append event. */
const chunkMs = 40;
const chunkBytes = (wireSampleRate / 1000) * chunkMs * 2;
/** After the recording, silence is sent until there was no activity for this long. */
const quietMs = 1_500;
/** Timeout without any event; a reply that never ends is a fault of the server. */
const patienceMs = 120_000;

/** Streams recordings to a server in real time and collects the replies. One instance per connection. */
export class Replayer {
  readonly #client: RealtimeClient;
  readonly #options: ReplayOptions;
  readonly #reading: Promise<void>;
  #turns: ReplayedTurn[] = [];
  #errors: { code: string; message: string }[] = [];
  #byItem = new Map<string, ReplayedTurn>();
  #replying: { turn: ReplayedTurn; id: string } | undefined;
  #stoppedAtMs = 0;
  #lastActivityMs = 0;
  #open = 0;
  #ended = false;

  constructor(client: RealtimeClient, options: ReplayOptions) {
    this.#client = client;
    this.#options = options;
    if (!options.serverVad) {
      client.send({
        type: 'session.update',
        session: { type: 'realtime', audio: { input: { turn_detection: null } } },
      });
    }
    this.#reading = this.#read();
  }

  /** Streams one recording (16-bit PCM at the wire's rate) and waits for the reply. */
  async play(pcm16: Buffer): Promise<ReplayResult> {
    this.#turns = [];
    this.#errors = [];
    await this.#stream(pcm16);
    if (!this.#options.serverVad) {
      this.#client.send({ type: 'input_audio_buffer.commit' });
      this.#stoppedAtMs = performance.now();
      this.#open += 1;
      this.#client.send({ type: 'response.create' });
    }
    await this.#settle();
    return { turns: this.#turns, errors: this.#errors };
  }

  async close(): Promise<void> {
    this.#client.close();
    await this.#reading;
  }

  async #stream(pcm16: Buffer): Promise<void> {
    const startMs = performance.now();
    for (let offset = 0; offset < pcm16.length && !this.#ended; offset += chunkBytes) {
      this.#client.sendAudio(pcm16.subarray(offset, offset + chunkBytes));
      await this.#pace(startMs, offset / chunkBytes + 1);
    }
    this.#lastActivityMs = performance.now();
  }

  /** Sends silence, as an open microphone would, until there was no activity for a while. */
  async #settle(): Promise<void> {
    const startMs = performance.now();
    const silence = Buffer.alloc(chunkBytes);
    for (let chunk = 1; !this.#ended; chunk += 1) {
      const now = performance.now();
      const idle = this.#open === 0 && this.#replying === undefined;
      if (idle && (!this.#options.serverVad || now - this.#lastActivityMs > quietMs)) return;
      if (now - this.#lastActivityMs > patienceMs) {
        this.#errors.push({ code: 'no_answer', message: `no response within ${patienceMs / 1000} s` });
        return;
      }
      if (this.#options.serverVad) this.#client.sendAudio(silence);
      await this.#pace(startMs, chunk);
    }
  }

  async #pace(startMs: number, chunks: number): Promise<void> {
    const waitMs = startMs + chunks * chunkMs - performance.now();
    if (waitMs > 0) await sleep(waitMs, undefined, { signal: this.#options.signal });
  }

  async #read(): Promise<void> {
    for await (const event of this.#client.events) {
      this.#options.onEvent?.(event);
      this.#lastActivityMs = event.atMs;
      this.#take(event);
    }
    this.#ended = true;
  }

  #take(event: ReceivedEvent): void {
    const itemId = typeof event['item_id'] === 'string' ? event['item_id'] : '';
    switch (event.type) {
      case 'input_audio_buffer.speech_started':
        this.#open += 1;
        return;
      case 'input_audio_buffer.speech_stopped':
        this.#stoppedAtMs = event.atMs;
        return;
      case 'input_audio_buffer.committed':
        this.#byItem.set(itemId, this.#newTurn());
        return;
      case 'conversation.item.input_audio_transcription.completed':
        return this.#understood(itemId, String(event['transcript']), null);
      case 'conversation.item.input_audio_transcription.failed':
        return this.#understood(itemId, null, event['error'] as ReplayedTurn['unclear']);
      case 'error':
        this.#errors.push(event['error'] as { code: string; message: string });
        return;
      default:
        if (event.type.startsWith('response.')) this.#takeReply(event);
    }
  }

  #understood(itemId: string, transcript: string | null, unclear: ReplayedTurn['unclear']): void {
    this.#open = Math.max(0, this.#open - 1);
    const turn = this.#byItem.get(itemId);
    if (turn === undefined) return;
    turn.transcript = transcript;
    turn.unclear = unclear;
  }

  #takeReply(event: ReceivedEvent): void {
    if (event.type === 'response.created') {
      const last = this.#turns.at(-1);
      const turn = last !== undefined && last.status === null ? last : this.#newTurn();
      this.#replying = { turn, id: (event['response'] as { id: string }).id };
      return;
    }
    const turn = this.#replying?.turn;
    if (turn === undefined) return;
    if (event.type === 'response.output_audio.delta') {
      if (turn.replyPcm16.length === 0) {
        turn.firstAudioMs = event.atMs - this.#stoppedAtMs;
        if (this.#options.untilFirstAudio === true) this.#client.send({ type: 'response.cancel' });
      }
      turn.replyPcm16.push(Buffer.from(String(event['delta']), 'base64'));
    } else if (event.type === 'response.output_audio_transcript.delta') turn.reply += String(event['delta']);
    else if (event.type === 'response.done') this.#finish(turn, event['response'] as FinishedResponse);
  }

  #finish(turn: ReplayedTurn, response: FinishedResponse): void {
    this.#replying = undefined;
    turn.status = response.status;
    turn.mind = response.x_dramatis?.mind ?? null;
    turn.latency = response.x_dramatis?.latency ?? null;
    turn.speculation = response.x_dramatis?.speculation ?? null;
    const endpointMs = turn.latency?.endpoint_ms;
    // Our clock starts at `speech_stopped`; the server reports how long that was after the end of speech.
    if (turn.firstAudioMs !== null && typeof endpointMs === 'number') turn.firstAudioMs += endpointMs;
    if (response.status === 'failed' && response.status_details?.error !== undefined) {
      this.#errors.push(response.status_details.error);
    }
  }

  #newTurn(): ReplayedTurn {
    const turn: ReplayedTurn = {
      transcript: null,
      unclear: null,
      reply: '',
      replyPcm16: [],
      status: null,
      mind: null,
      latency: null,
      speculation: null,
      firstAudioMs: null,
    };
    this.#turns.push(turn);
    return turn;
  }
}

interface FinishedResponse {
  readonly status: string;
  readonly status_details?: { readonly error?: { readonly code: string; readonly message: string } } | null;
  readonly x_dramatis?: {
    readonly mind: ReplayedTurn['mind'];
    readonly latency: ReplayedTurn['latency'];
    readonly speculation?: ReplayedTurn['speculation'];
  };
}
