/** What happens in a talk: what the server says, and what becomes of the connection and of the sound. */

/** What every event of the server carries. */
interface FromServer {
  readonly event_id?: string;
  /** Counts every frame of a session from 1, without a gap. */
  readonly x_seq?: number;
  /** The server's monotonic clock in milliseconds when it made the event. */
  readonly x_ms?: number;
}

/** What went wrong, by code. */
export interface ServerError {
  readonly type?: string;
  readonly code?: string | null;
  readonly message?: string;
  readonly param?: string | null;
  /** `event_id` of the client event that it answers. */
  readonly event_id?: string | null;
}

/** The session in effect. */
export interface Session {
  readonly id?: string;
  readonly model?: string;
  readonly audio?: { readonly input?: { readonly turn_detection?: { readonly interrupt_response?: boolean } | null } };
  readonly x_dramatis?: {
    readonly character?: { readonly id: string; readonly name: string };
    readonly greeting?: string | null;
    /** The scene that is played, if one is. */
    readonly scene?: Scene;
    readonly engines?: Readonly<Record<string, string>>;
    readonly extensions?: readonly string[];
    readonly resume?: { readonly token: string; readonly grace_s: number };
  };
}

/** Milliseconds since the end of the user's turn; null where there was no such stage. */
export interface Latency {
  readonly basis: 'speech_end' | 'text';
  readonly endpoint_ms?: number | null;
  readonly transcript_ms?: number | null;
  readonly first_token_ms?: number | null;
  readonly first_phrase_ms?: number | null;
  readonly first_audio_ms?: number | null;
  readonly heard_ms?: number | null;
  /** The whole wait, shared out: how long each was waited for; null for who had no part. Adds up to `total_ms`. */
  readonly owners: Readonly<Record<LatencyOwner, number | null>>;
  readonly total_ms: number;
}

/** Who the wait for a reply can be owed to, in the order of their turns. */
export type LatencyOwner =
  | 'arrival'
  | 'silence'
  | 'vad'
  | 'recognizer'
  | 'client'
  | 'mind'
  | 'phrase'
  | 'synthesizer'
  | 'pacing'
  | 'delivery';

/** One reply of the character. */
export interface Response {
  readonly id: string;
  readonly status?: 'in_progress' | 'completed' | 'cancelled' | 'failed' | 'incomplete';
  readonly status_details?: { readonly type?: string; readonly reason?: string; readonly error?: ServerError } | null;
  readonly x_dramatis?: {
    /** Names the reply in binary frames. */
    readonly number?: number;
    readonly mind?: { readonly name: string; readonly because?: string } | null;
    readonly latency?: Latency;
    /** How the character feels by then: Ekman's six and `intimacy`, each from 0 to 10. */
    readonly feelings?: Readonly<Record<string, number>>;
    /** In a scene, how each of its characters does, by id. */
    readonly cast_feelings?: Readonly<Record<string, Readonly<Record<string, number>>>>;
    /** Nobody spoke, for the scene is over. */
    readonly scene_ended?: boolean;
    /** Nobody spoke, for those of the scene wait for the user; `response.create` has them go on. */
    readonly users_turn?: boolean;
  };
}

/** How something is said, in plain words; `calm` is how one talks when nothing stirs. */
export type Emotion = 'calm' | 'cheerful' | 'tender' | 'sad' | 'angry' | 'afraid' | 'surprised';

/** Several characters in one session; `user`: who the user is in it. */
export interface Scene {
  readonly id: string;
  readonly title: string;
  readonly user: 'listener' | { readonly name: string; readonly profile: string };
  readonly cast: readonly Speaker[];
}

/** One of several who speak in a scene. */
export interface Speaker {
  readonly id: string;
  readonly name: string;
}

/** One item of the conversation. */
export interface Item {
  readonly id: string;
  readonly type?: string;
  readonly role?: 'system' | 'user' | 'assistant';
  readonly status?: 'in_progress' | 'completed' | 'incomplete';
  /** `emotion`: how it begins to be said, where the mind told. */
  readonly x_dramatis?: { readonly emotion?: Emotion; readonly speaker?: Speaker };
  readonly content?: readonly { readonly type: string; readonly text?: string; readonly transcript?: string | null }[];
}

/** A place inside a response. */
interface InReply {
  readonly response_id: string;
  readonly item_id: string;
}

/** Sound of a reply, whether it came as a binary frame or as base64: 16-bit little-endian mono PCM at 24 kHz. */
export type SoundEvent = FromServer &
  InReply & {
    readonly type: 'response.output_audio.delta';
    readonly output_index: number;
    readonly content_index: number;
    /** Samples of the item that went before. */
    readonly offset_samples: number;
    readonly pcm16: Uint8Array;
  };

/** An event of a response, other than its sound. */
export type ResponseEvent = FromServer &
  (
    | { readonly type: 'response.created' | 'response.done'; readonly response: Response }
    | {
        readonly type: 'response.output_item.added' | 'response.output_item.done';
        readonly response_id: string;
        readonly item: Item;
      }
    /** Silence until more of it comes: the user makes a sound, perhaps only a cough. */
    | { readonly type: 'x_dramatis.hold'; readonly response_id: string }
    /** It goes on. Words that have come and were not heard sound so many milliseconds later; older servers do not say. */
    | { readonly type: 'x_dramatis.resume'; readonly response_id: string; readonly later_ms?: number }
    /** Something done beside the words, so many milliseconds into the item. */
    | {
        readonly type: 'x_dramatis.cue';
        readonly response_id: string;
        readonly item_id: string | null;
        readonly kind: 'action' | 'thought' | 'narration';
        readonly text: string;
        readonly start_ms: number;
        readonly samples: number;
      }
    | (InReply & { readonly type: 'response.content_part.added' | 'response.content_part.done' })
    | (InReply & { readonly type: 'response.output_audio.done' })
    | (InReply & {
        readonly type: 'response.output_audio_transcript.delta' | 'response.output_text.delta';
        readonly delta: string;
        /** `words`: the delta in pieces, and when each sounds within its item; `emotion`: how it is said. */
        readonly x_dramatis?: {
          readonly start_ms?: number | null;
          readonly words?: readonly { readonly text: string; readonly start_ms: number; readonly end_ms: number }[];
          readonly emotion?: Emotion;
        };
      })
    | (InReply & { readonly type: 'response.output_audio_transcript.done'; readonly transcript: string })
    | (InReply & { readonly type: 'response.output_text.done'; readonly text: string })
    | (InReply & { readonly type: 'response.function_call_arguments.delta'; readonly delta: string })
    | (InReply & {
        readonly type: 'response.function_call_arguments.done';
        readonly call_id: string;
        readonly arguments: string;
      })
  );

/** An event about what the user says. */
export type SpeechEvent = FromServer &
  (
    | { readonly type: 'input_audio_buffer.speech_started'; readonly item_id: string; readonly audio_start_ms: number }
    | { readonly type: 'input_audio_buffer.speech_stopped'; readonly item_id: string; readonly audio_end_ms: number }
    | { readonly type: 'input_audio_buffer.committed'; readonly item_id: string }
    | { readonly type: 'input_audio_buffer.cleared' }
  );

/** An event about the conversation's items and their words. */
export type WordsEvent = FromServer &
  (
    | {
        readonly type: 'conversation.item.input_audio_transcription.delta';
        readonly item_id: string;
        readonly delta: string;
        /** `text`: all that was understood so far. */
        readonly x_dramatis?: { readonly text?: string };
      }
    | {
        readonly type: 'conversation.item.input_audio_transcription.completed';
        readonly item_id: string;
        readonly transcript: string;
      }
    | {
        readonly type: 'conversation.item.input_audio_transcription.failed';
        readonly item_id: string;
        readonly error: ServerError;
      }
    | {
        readonly type: 'conversation.item.added' | 'conversation.item.done' | 'conversation.item.retrieved';
        readonly item: Item;
        readonly previous_item_id?: string | null;
      }
    | { readonly type: 'conversation.item.truncated'; readonly item_id: string; readonly audio_end_ms: number }
    | { readonly type: 'conversation.item.deleted'; readonly item_id: string }
    | { readonly type: 'session.created' | 'session.updated'; readonly session: Session }
    | { readonly type: 'rate_limits.updated'; readonly rate_limits: readonly unknown[] }
    /** How like itself the character sounded in a reply: a cosine, -1 to 1, to the clip that is cloned or to its first reply. */
    | {
        readonly type: 'x_dramatis.voice';
        readonly response_id: string;
        readonly similarity: number;
        readonly basis: 'reference' | 'first_reply';
      }
    /** The session is about to reach its time limit. Then it ends, and the talk goes on in a new one. */
    | { readonly type: 'x_dramatis.session_expiring'; readonly expires_in_s: number; readonly expires_at: number }
    | { readonly type: 'error'; readonly error: ServerError }
  );

/** Whatever the server says (OpenAI Realtime, GA), in its order, each event once. */
export type ServerEvent = SoundEvent | ResponseEvent | SpeechEvent | WordsEvent;

/** How the connection stands. */
export type ConnectionEvent =
  | { readonly type: 'connection.connecting' }
  | {
      readonly type: 'connection.open';
      readonly session: Session;
      /** False where the session before goes on, with nothing missing but `lostMs`. */
      readonly isNew: boolean;
      /** The server was restarted meanwhile: replies that were under way have ended. */
      readonly isRestarted: boolean;
      /** The user's sound that could not be kept until the connection was back, in milliseconds. */
      readonly lostMs: number;
    }
  /** It will be tried again in `retryInMs`, or is being tried (0). The first attempt counts as 1. */
  | {
      readonly type: 'connection.lost';
      readonly attempt: number;
      readonly retryInMs: number;
      readonly isBusy: boolean;
    }
  /** Trying again is pointless before something changes, such as the key; `error` is what the server said, if anything. */
  | { readonly type: 'connection.refused'; readonly error: ServerError | undefined }
  /** Somebody else goes on with the session. */
  | { readonly type: 'connection.replaced' }
  | { readonly type: 'connection.closed' };

/** How the sound of the replies is played. */
export type PlaybackEvent =
  /** About every 40 ms while it plays; `level` is the root mean square of what sounded. */
  | {
      readonly type: 'playback.progress';
      readonly responseId: string;
      readonly itemId: string;
      readonly playedMs: number;
      readonly level: number;
    }
  /** The first audible sample, on the clock of `performance.now()`. */
  | {
      readonly type: 'playback.onset';
      readonly responseId: string;
      readonly itemId: string;
      readonly atMs: number;
    }
  /** Played to its end; or, where nothing can be played, received to its end. */
  | { readonly type: 'playback.ended'; readonly responseId: string; readonly itemId: string }
  /** Nothing more of these responses will sound. What was heard of their items follows in `playback.cut`. */
  | { readonly type: 'playback.stopped'; readonly responseIds: readonly string[] }
  | {
      readonly type: 'playback.cut';
      readonly responseId: string;
      readonly itemId: string;
      /** Where nothing can be played, all that was received. */
      readonly heardMs: number;
    };

/** A microphone or a loudspeaker could not be opened. */
export interface DeviceEvent {
  readonly type: 'microphone.failed' | 'speaker.failed';
  readonly error: unknown;
}

/** Everything a talk tells. */
export type TalkEvent = ServerEvent | ConnectionEvent | PlaybackEvent | DeviceEvent;

/** The events of one type. */
export type EventOf<Type extends TalkEvent['type'], Event = TalkEvent> = Event extends { readonly type: infer Types }
  ? Type extends Types
    ? Event
    : never
  : never;
