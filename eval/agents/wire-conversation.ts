import {
  connectRealtime,
  RealtimeClientError,
  type RealtimeClient,
  type ReceivedEvent,
} from '../../server/protocol/client.ts';
import { wireSampleRate } from '../../server/protocol/limits.ts';
import { floatsFromPcm16 } from '../../voices/audio.ts';
import { EngineError, type CallOptions } from '../../voices/engine.ts';
import type { EvalClock } from '../limits.ts';

/** Everything received for one reply. */
export interface WireReply {
  readonly samples: Float32Array;
  readonly sampleRate: number;
  readonly text: string;
  readonly heard: string | null;
  readonly firstAudioMs: number | null;
  readonly latency: unknown;
  readonly mind: string | null;
  /** See `Answer`. */
  readonly fallback: string | null;
  /** Conversation items of the assistant that belong to this reply. */
  readonly itemIds: readonly string[];
}

export interface WireOptions extends CallOptions {
  readonly url: string;
  /** Requested `model`: a character or a model. */
  readonly model: string;
  readonly apiKey?: string | undefined;
  readonly clock: EvalClock;
  /** Longest wait for the server's next event before `ENGINE_TIMEOUT`, in ms; 120 000 by default. */
  readonly eventTimeoutMs?: number;
}

/** Configuration of a session. */
export interface WireSession {
  /** None if absent: the character's own prompt. */
  readonly instructions?: string | undefined;
  readonly voice?: string | undefined;
  readonly language?: string | undefined;
  /** Kind of replies: spoken (default) or written. */
  readonly modality?: 'audio' | 'text';
}

/** Bytes in 40 ms of audio, a typical microphone chunk. */
const chunkBytes = (wireSampleRate / 1000) * 40 * 2;

/**
 * A conversation over OpenAI Realtime (GA) with turn detection off: the client commits each turn. Throws `EngineError`.
 */
export class WireConversation implements AsyncDisposable {
  readonly #client: RealtimeClient;
  readonly #options: WireOptions;
  readonly #events: AsyncIterator<ReceivedEvent>;
  /** Server's description of itself: model and voice, plus the engines if it is a Dramatis server. */
  about: unknown = null;
  readonly #fail: (detail: string, code?: EngineError['code']) => EngineError;

  private constructor(client: RealtimeClient, options: WireOptions) {
    this.#client = client;
    this.#options = options;
    this.#events = client.events[Symbol.asyncIterator]();
    this.#fail = (detail, code = 'ENGINE_UNAVAILABLE') => new EngineError(`agent ${options.model}`, code, detail);
  }

  /** Connects and configures the session: no turn detection, `instructions` as the prompt. */
  static async open(options: WireOptions, session: WireSession): Promise<WireConversation> {
    const { url, model: character, apiKey, signal } = options;
    const client = await connectRealtime({ url, character, signal, ...(apiKey === undefined ? {} : { apiKey }) }).catch(
      (fault: unknown) => {
        signal.throwIfAborted();
        throw connectionFault(fault, character);
      },
    );
    const conversation = new WireConversation(client, options);
    const { instructions, voice, language, modality = 'audio' } = session;
    client.send({
      type: 'session.update',
      session: {
        type: 'realtime',
        output_modalities: [modality],
        ...(instructions === undefined ? {} : { instructions }),
        audio: {
          input: { turn_detection: null, ...(language === undefined ? {} : { transcription: { language } }) },
          ...(voice === undefined ? {} : { output: { voice } }),
        },
      },
    });
    const updated = await conversation.#until('session.updated');
    const { model, audio, x_dramatis } = updated['session'] as Partial<UpdatedSession>;
    conversation.about = {
      model: model ?? options.model,
      voice: audio?.output?.voice ?? null,
      engines: x_dramatis?.engines ?? null,
    };
    return conversation;
  }

  /** Streams the audio (16-bit PCM at `wireSampleRate`) at `speed` times real time, then waits for the whole reply. */
  async speak(pcm16: Buffer, speed: number): Promise<WireReply> {
    const { clock, signal } = this.#options;
    const startMs = clock.now();
    for (let offset = 0; offset < pcm16.length; offset += chunkBytes) {
      this.#client.sendAudio(pcm16.subarray(offset, offset + chunkBytes));
      const dueMs = startMs + (((offset + chunkBytes) / chunkBytes) * 40) / speed;
      const waitMs = dueMs - clock.now();
      if (waitMs > 1) await clock.sleep(waitMs, signal);
    }
    this.#client.send({ type: 'input_audio_buffer.commit' });
    return this.#reply();
  }

  /** Sends the user's turn as text, then waits for the whole reply. */
  async write(text: string): Promise<WireReply> {
    this.#addText('user', text);
    return this.#reply();
  }

  /** Adds an earlier turn to the conversation history. */
  remember(role: 'user' | 'assistant', text: string): void {
    this.#addText(role, text);
  }

  /** Replaces the reply in the conversation history with `text`. */
  replace(reply: WireReply, text: string): void {
    for (const item_id of reply.itemIds) this.#client.send({ type: 'conversation.item.delete', item_id });
    this.#addText('assistant', text);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#client.close();
  }

  #addText(role: 'user' | 'assistant', text: string): void {
    const content = [{ type: role === 'user' ? 'input_text' : 'output_text', text }];
    this.#client.send({ type: 'conversation.item.create', item: { type: 'message', role, content } });
  }

  async #reply(): Promise<WireReply> {
    const askedMs = performance.now();
    this.#client.send({ type: 'response.create' });
    const sound: Buffer[] = [];
    let firstAudioMs: number | null = null;
    let heard: string | null = null;
    let text = '';
    const done = await this.#until('response.done', (event) => {
      if (event.type === 'response.output_audio.delta') {
        firstAudioMs ??= event.atMs - askedMs;
        sound.push(Buffer.from(String(event['delta']), 'base64'));
      } else if (textDeltas.has(event.type)) text += String(event['delta']);
      else if (event.type === 'conversation.item.input_audio_transcription.completed')
        heard = String(event['transcript']);
    });
    const response = done['response'] as DoneResponse;
    if (response.status !== 'completed') {
      const why = response.status_details?.error?.code ?? response.status_details?.reason ?? '';
      throw this.#fail(`the reply was ${response.status} (${why})`, codeOf(why));
    }
    const { latency, mind } = response.x_dramatis ?? {};
    return {
      samples: floatsFromPcm16(Buffer.concat(sound)),
      sampleRate: wireSampleRate,
      text: text.trim(),
      heard,
      firstAudioMs: firstAudioMs === null ? null : Math.round(firstAudioMs),
      latency: latency ?? null,
      mind: mind?.name ?? null,
      fallback: fallbackOf(mind ?? null),
      itemIds: (response.output ?? []).flatMap((item) => (item.id === undefined ? [] : [item.id])),
    };
  }

  /** Reads events until one of this type, and returns it. */
  async #until(type: string, onEvent: (event: ReceivedEvent) => void = () => undefined): Promise<ReceivedEvent> {
    for (;;) {
      const event = await this.#next();
      if (event.type === 'error') {
        const { code, message } = event['error'] as { code: string | null; message: string };
        throw this.#fail(`the server says ${code ?? 'error'}: ${message}`, codeOf(code ?? ''));
      }
      onEvent(event);
      if (event.type === type) return event;
    }
  }

  async #next(): Promise<ReceivedEvent> {
    const { signal, eventTimeoutMs: patienceMs = 120_000 } = this.#options;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      const detail = `nothing came for ${patienceMs / 1000} s`;
      timer = setTimeout(() => reject(this.#fail(detail, 'ENGINE_TIMEOUT')), patienceMs);
    });
    try {
      const next = await Promise.race([this.#events.next(), late]);
      signal.throwIfAborted();
      if (next.done === true) throw this.#fail('the connection was lost');
      return next.value;
    } finally {
      clearTimeout(timer);
    }
  }
}

const textDeltas: ReadonlySet<string> = new Set([
  'response.output_audio_transcript.delta',
  'response.output_text.delta',
]);

interface UpdatedSession {
  readonly model: string;
  readonly audio: { readonly output?: { readonly voice?: unknown } };
  readonly x_dramatis: { readonly engines?: unknown } | null;
}

interface DoneResponse {
  readonly status: string;
  readonly status_details?: { readonly reason?: string; readonly error?: { readonly code?: string } | null } | null;
  readonly output?: readonly { readonly id?: string }[];
  readonly x_dramatis?: { readonly latency?: unknown; readonly mind?: ReplySource | null };
}

/** Reply source as a Dramatis server reports it; `because` if it replaces one that failed. */
interface ReplySource {
  readonly name: string;
  readonly because?: string;
}

/** `script`: a canned line, because nothing was understood. `retrieval`: the server has no LLM. */
function fallbackOf(source: ReplySource | null): string | null {
  if (source === null) return null;
  return source.because ?? (['script', 'retrieval'].includes(source.name) ? source.name : null);
}

function connectionFault(fault: unknown, model: string): unknown {
  if (!(fault instanceof RealtimeClientError)) return fault;
  const { status, message } = fault;
  const isFinal = status !== undefined && status >= 400 && status < 500 && status !== 429;
  return new EngineError(`agent ${model}`, isFinal ? 'ENGINE_REFUSED' : 'ENGINE_UNAVAILABLE', message, fault);
}

/** Maps server error codes: transient ones are retryable; a rejected request would be rejected again. */
function codeOf(code: string): EngineError['code'] {
  const passes =
    /^(ENGINE_UNAVAILABLE|ENGINE_TIMEOUT|server_error|rate_limit_exceeded|server_busy|server_draining|internal_error|)$/;
  return passes.test(code) ? 'ENGINE_UNAVAILABLE' : 'ENGINE_REFUSED';
}
