/**
 * Events of a conversation: server events, and those about the connection, playback and devices. Server events are
 * inferred from the schema of the protocol where this client reads them as they are sent.
 */

import type { Latency, ServerEvent as SchemaEvent, ServerItem, ServerScene } from '../../protocol/server-events.ts';

export type { Latency } from '../../protocol/server-events.ts';

/** Fields common to all server events. */
interface FromServer {
  readonly event_id?: string;
  /** Sequence number of the frame: from 1, without gaps, over the whole session. */
  readonly x_seq?: number;
  /** The server's monotonic clock in milliseconds when it made the event. */
  readonly x_ms?: number;
}

/** The server events of these types as the schema has them. */
type Sent<Type extends SchemaEvent['type']> = FromServer &
  Omit<Extract<SchemaEvent, { readonly type: Type }>, keyof FromServer>;

/** Error reported by the server. */
export interface ServerError {
  readonly type?: string;
  readonly code?: string | null;
  readonly message?: string;
  readonly param?: string | null;
  /** `event_id` of the client event that caused it. */
  readonly event_id?: string | null;
}

/** The session as currently configured. */
export interface Session {
  readonly id?: string;
  readonly model?: string;
  readonly audio?: { readonly input?: { readonly turn_detection?: { readonly interrupt_response?: boolean } | null } };
  readonly x_dramatis?: {
    readonly character?: { readonly id: string; readonly name: string };
    readonly greeting?: string | null;
    /** The scene that the session plays, if any. */
    readonly scene?: Scene;
    readonly engines?: Readonly<Record<string, string>>;
    /** Sampling of the LLM, if it was set. */
    readonly seed?: number;
    readonly temperature?: number;
    readonly extensions?: readonly string[];
    readonly resume?: { readonly token: string; readonly grace_s: number };
  };
}

/** Components that a part of the latency can be attributed to, in pipeline order. */
export type LatencyComponent = keyof Latency['owners'];

/** A response: one reply of the character. */
export interface Response {
  readonly id: string;
  readonly status?: 'in_progress' | 'completed' | 'cancelled' | 'failed' | 'incomplete';
  readonly status_details?: { readonly type?: string; readonly reason?: string; readonly error?: ServerError } | null;
  readonly x_dramatis?: {
    /** Number that identifies the reply in binary frames. */
    readonly number?: number;
    readonly mind?: { readonly name: string; readonly because?: string } | null;
    readonly latency?: Latency;
    /** The character's feelings after the reply: Ekman's six basic emotions and `intimacy`, each from 0 to 10. */
    readonly feelings?: Readonly<Record<string, number>>;
    /** In a scene, the feelings of each of its characters, by id. */
    readonly cast_feelings?: Readonly<Record<string, Readonly<Record<string, number>>>>;
    /** True if the reply is empty because the scene is over. */
    readonly scene_ended?: boolean;
    /** True if the reply is empty because the scene waits for the user; `response.create` makes it continue. */
    readonly users_turn?: boolean;
  };
}

/** Emotion of an utterance; `calm` is the neutral one. */
export type Emotion = NonNullable<NonNullable<ServerItem['x_dramatis']>['emotion']>;

/** Several characters in one session; `user` is the user's role. */
export type Scene = ServerScene;

/** A speaking participant of a scene. */
export type Speaker = Scene['cast'][number];

/** A conversation item. */
export interface Item {
  readonly id: string;
  readonly type?: string;
  readonly role?: 'system' | 'user' | 'assistant';
  readonly status?: 'in_progress' | 'completed' | 'incomplete';
  /** `emotion`: emotion at the start of the item, if it has one; `intensity`: how strong it is, from 0 to 1. */
  readonly x_dramatis?: ServerItem['x_dramatis'];
  readonly content?: readonly { readonly type: string; readonly text?: string; readonly transcript?: string | null }[];
}

/** A shape of the mouth, as OVRLipSync and OpenXR name them. */
export type Viseme = Extract<SchemaEvent, { readonly type: 'x_dramatis.visemes' }>['visemes'][number][1];

/** Identifies an item within a response. */
interface InReply {
  readonly response_id: string;
  readonly item_id: string;
}

/** Audio of a reply, from a binary frame or from base64: 16-bit little-endian mono PCM at 24 kHz. */
export type AudioEvent = FromServer &
  InReply & {
    readonly type: 'response.output_audio.delta';
    readonly output_index: number;
    readonly content_index: number;
    /** Number of samples of the item before this delta. */
    readonly offset_samples: number;
    readonly pcm16: Uint8Array;
  };

/** An event of a response, other than its audio. */
export type ResponseEvent =
  | (FromServer &
      (
        | { readonly type: 'response.created' | 'response.done'; readonly response: Response }
        | {
            readonly type: 'response.output_item.added' | 'response.output_item.done';
            readonly response_id: string;
            readonly item: Item;
          }
        /** Pause playback until more audio of the reply arrives: the user makes a sound, perhaps just a cough. */
        | { readonly type: 'x_dramatis.hold'; readonly response_id: string }
        /**
         * The reply continues. `later_ms`: how much later the words that were received but not heard will be played;
         * missing from older servers.
         */
        | {
            readonly type: 'x_dramatis.resume';
            readonly response_id: string;
            readonly later_ms?: number;
            readonly later_samples?: number;
          }
      ))
  /** A stage direction, thought or narration, `start_ms` into the item. */
  | Sent<'x_dramatis.cue'>
  /** An action of the game's offer, at its word; `moments.js` reports when the word was heard. */
  | Sent<'x_dramatis.action'>
  /** Shapes of the mouth, ahead of their sound; `talk.mouth` reads them. */
  | Sent<'x_dramatis.visemes'>
  | Sent<'response.content_part.added'>
  | Sent<'response.content_part.done'>
  | Sent<'response.output_audio.done'>
  | Sent<'response.output_audio_transcript.delta'>
  | Sent<'response.output_text.delta'>
  | Sent<'response.output_audio_transcript.done'>
  | Sent<'response.output_text.done'>
  | Sent<'response.function_call_arguments.delta'>
  | Sent<'response.function_call_arguments.done'>;

/** An event about the user's speech. */
export type SpeechEvent =
  | Sent<'input_audio_buffer.speech_started'>
  | Sent<'input_audio_buffer.speech_stopped'>
  | Sent<'input_audio_buffer.committed'>
  | Sent<'input_audio_buffer.cleared'>;

/** Something cannot be stored, because the disk is full, for example. The conversation continues. Sent once per session and code. */
export interface ServerWarning {
  readonly type: 'x_dramatis.warning';
  readonly code: 'session_not_stored' | 'memory_not_stored' | 'report_not_stored';
  readonly message: string;
}

/** An event about conversation items and transcripts, the session, or an error. */
export type ConversationItemEvent = FromServer &
  (
    | {
        readonly type: 'conversation.item.input_audio_transcription.delta';
        readonly item_id: string;
        readonly delta: string;
        /** `text`: the complete partial transcript so far. */
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
    /**
     * Voice consistency of a reply: cosine similarity, -1 to 1, to the reference clip of the cloned voice or to the
     * character's first reply.
     */
    | {
        readonly type: 'x_dramatis.voice';
        readonly response_id: string;
        readonly similarity: number;
        readonly basis: 'reference' | 'first_reply';
      }
    /** The session is about to reach its time limit. The conversation then continues in a new one. */
    | { readonly type: 'x_dramatis.session_expiring'; readonly expires_in_s: number; readonly expires_at: number }
    | ServerWarning
    /** A change of the game's world is in effect. */
    | Sent<'x_dramatis.world_taken'>
    /** Words of the user or of the character were kept back by a rating. */
    | Sent<'x_dramatis.kept_back'>
    /** Reports of the player are kept. */
    | Sent<'x_dramatis.reported'>
    /** A fifth of a limit of the client secret is left. */
    | Sent<'x_dramatis.limit_near'>
    /** The relation of a character to the user, or to a player, has changed; needs `x=relations`. */
    | Sent<'x_dramatis.relation'>
    /** The scene is in another section; needs `x=sections`. */
    | Sent<'x_dramatis.section'>
    /** An action that does not take place, or is to stop. */
    | Sent<'x_dramatis.action_off'>
    | { readonly type: 'error'; readonly error: ServerError }
  );

/** A server event (OpenAI Realtime, GA). Delivered in order, each exactly once. */
export type ServerEvent = AudioEvent | ResponseEvent | SpeechEvent | ConversationItemEvent;

/** A change of the connection state. */
export type ConnectionEvent =
  | { readonly type: 'connection.connecting' }
  | {
      readonly type: 'connection.open';
      readonly session: Session;
      /** False if the previous session was resumed; then nothing is missing except `lostMs`. */
      readonly isNew: boolean;
      /** True if the server was restarted meanwhile; replies that were in progress have ended. */
      readonly isRestarted: boolean;
      /** Milliseconds of user audio that were dropped because the connection was lost for too long. */
      readonly lostMs: number;
    }
  /** The client reconnects in `retryInMs`; 0: it does so now. The first attempt is number 1. */
  | {
      readonly type: 'connection.lost';
      readonly attempt: number;
      readonly retryInMs: number;
      readonly isBusy: boolean;
    }
  /** Retrying is pointless until something changes, such as the API key; `error` is the server's, if it sent one. */
  | { readonly type: 'connection.refused'; readonly error: ServerError | undefined }
  /** Another client has resumed the session. */
  | { readonly type: 'connection.replaced' }
  | { readonly type: 'connection.closed' };

/** An event about the playback of replies. */
export type PlaybackEvent =
  /** Sent about every 40 ms during playback; `level` is the RMS of the audio played since the last. */
  | {
      readonly type: 'playback.progress';
      readonly responseId: string;
      readonly itemId: string;
      readonly playedMs: number;
      readonly level: number;
    }
  /** The first audible sample of an item; `atMs` is on the clock of `performance.now()`. */
  | {
      readonly type: 'playback.onset';
      readonly responseId: string;
      readonly itemId: string;
      readonly atMs: number;
    }
  /** The item was played to its end or, without audio output, received to its end. */
  | { readonly type: 'playback.ended'; readonly responseId: string; readonly itemId: string }
  /** Nothing more of these responses will be played. A `playback.cut` for each of their items follows. */
  | { readonly type: 'playback.stopped'; readonly responseIds: readonly string[] }
  | {
      readonly type: 'playback.cut';
      readonly responseId: string;
      readonly itemId: string;
      /** How much of the item was heard; without audio output, all that was received. */
      readonly heardMs: number;
    };

/** A microphone or a loudspeaker could not be opened. */
export interface DeviceEvent {
  readonly type: 'microphone.failed' | 'speaker.failed';
  readonly error: unknown;
}

/** Any event of a conversation. */
export type TalkEvent = ServerEvent | ConnectionEvent | PlaybackEvent | DeviceEvent;

/** The events of one type. */
export type EventOf<Type extends TalkEvent['type'], Event = TalkEvent> = Event extends { readonly type: infer Types }
  ? Type extends Types
    ? Event
    : never
  : never;
