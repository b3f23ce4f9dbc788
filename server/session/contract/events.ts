import type { Feelings } from '../../../agents/feelings.ts';
import type { Violation } from '../../../agents/violation.ts';
import type { Unclear } from '../../../voices/recognizer.ts';
import type { MouthMovement, TimedWord } from '../../../voices/synthesizer.ts';
import type { StoryPlace } from '../../../agents/scene/sections.ts';
import type { Sampling } from '../../../agents/chat.ts';
import type { Toolbox } from '../../../agents/tools.ts';
import type { WorldChange } from '../../../agents/surroundings.ts';
import type { Felt } from '../../../characters/emotion.ts';
import type { ErrorCode } from './errors.ts';
import type { Cast, RestOfPhrase, ScriptPhrase } from './responder.ts';
import type { CallItem, Item, MessageItem, PlacedCue, Report, ReportedWords } from './item.ts';
import type { RelationChange, SessionSettings } from './settings.ts';
import type { Latency } from './turn-timings.ts';

/**
 * A client's command to a session, independent of the wire dialect. `ref` is the client's own name for the request;
 * `sequence` is the number of its message, if the session is to mark what the client need not send again.
 */
export type SessionCommand = { readonly ref?: string; readonly sequence?: number } &
  /** Mono, at a rate that may change between commands. `samples` may be overwritten afterwards; `player`: 0 unless given. */
  (
    | { readonly type: 'audio'; readonly samples: Float32Array; readonly sampleRate: number; readonly player?: number }
    /** `player`: whose audio, under push to talk; 0 unless given. */
    | { readonly type: 'audio-commit'; readonly player?: number }
    | { readonly type: 'audio-clear'; readonly player?: number }
    /** `echo` is returned in `updated`, untouched. `cast`: new participants; a running reply stops. */
    | {
        readonly type: 'update';
        readonly settings: SessionSettings;
        readonly echo: unknown;
        readonly cast?: Cast | undefined;
      }
    | { readonly type: 'item-add'; readonly item: Item; readonly after?: string }
    | { readonly type: 'item-retrieve' | 'item-delete'; readonly id: string }
    | { readonly type: 'item-truncate'; readonly id: string; readonly contentIndex: number; readonly heardMs: number }
    | { readonly type: 'reply'; readonly request: ReplyRequest }
    | { readonly type: 'reply-cancel'; readonly id?: string }
    /** How much of a reply the client has played by now; `held`: the position at which it fell silent for a hold. */
    | { readonly type: 'heard'; readonly replyId: string; readonly heardMs: number; readonly held?: boolean }
    | ({ readonly type: 'world' } & WorldMessage)
    | ({ readonly type: 'action-done' } & ActionOutcome)
    | ({ readonly type: 'report' } & Report)
    /** An event of the game that may lead the scene into another section; `given`: its values, by name. */
    | { readonly type: 'trigger'; readonly name: string; readonly given: Readonly<Record<string, string>> }
    /** A message that could not be decoded; the session reports it in its place among the other commands. */
    | { readonly type: 'reject'; readonly problem: Problem }
  );

/** Reaction of the character: none, if it wants to, in any case, or at once, breaking off what it says. */
export type Respond = 'silent' | 'auto' | 'must' | 'interrupt';

/** A change of the world as the game sends it; the same `id` again does nothing. */
export interface WorldMessage {
  readonly id: string | undefined;
  readonly change: WorldChange;
  readonly respond: Respond;
}

/** Outcome of an action, as the game reports it. */
export interface ActionOutcome {
  readonly actionId: string;
  readonly outcome: 'done' | 'failed' | 'refused' | 'cancelled';
  readonly note?: string | undefined;
  readonly respond: Respond;
}

/** Takes every event of a session in order, but no partial transcripts; the next listener waits for what it returns. */
export interface SessionListener {
  note(event: SessionEvent): void | Promise<void>;
  /** Takes what the client reports of its playback. */
  heard?(replyId: string, heardMs: number): void;
  /** Called once, after the last event. */
  end?(): Promise<void>;
}

/** An error in a request, in the terms of the error table. */
export interface Problem {
  readonly code: ErrorCode;
  readonly message: string;
  readonly param?: string;
}

export interface ReplyRequest {
  /** Joins the conversation; otherwise it is a side answer that leaves no trace. */
  readonly inConversation: boolean;
  /** Replaces the session's scene for this reply. */
  readonly scene?: string;
  readonly speaks?: boolean;
  /** Replaces the session's bound; Infinity for none. */
  readonly maxTokens?: number;
  /** Takes precedence over the session's, field by field. */
  readonly sampling?: Sampling;
  /** Replaces the session's tools. */
  readonly toolbox?: Toolbox;
  /** Replaces the conversation's history. */
  readonly items?: readonly Item[];
  readonly situation?: 'greeting' | 'idle' | 'nod' | 'event';
  /** The character may keep silent, after an event of the game. */
  readonly mayPass?: boolean;
  /** Part of this reply that was said before a restart of the server cut it. */
  readonly goesOn?: GoesOn;
  /** Returned in `reply-started`, untouched. */
  readonly echo?: unknown;
}

/** Part of a reply that was said before restarts cut it: its items, its words, and the phrase of which a part was said. */
export interface GoesOn {
  readonly itemIds: readonly string[];
  /** With all of the words of `rest`. */
  readonly heard: string;
  readonly rest?: RestOfPhrase | undefined;
}

export type ReplyStatus = 'completed' | 'cancelled' | 'failed' | 'incomplete';

export type ReplyReason =
  | 'turn_detected'
  | 'client_cancelled'
  | 'max_output_tokens'
  | 'content_filter'
  | 'hung_up'
  | 'event';

export interface ReplyEnd {
  readonly status: ReplyStatus;
  readonly reason?: ReplyReason;
  readonly problem?: Problem;
  /** The chat model or other source that made the reply; `because` is set if it replaces one that failed. */
  readonly replySource?: { readonly name: string; readonly because?: string };
  readonly usage: { readonly inputTokens: number; readonly outputTokens: number; readonly audioMs: number };
  /** Feelings of the speaker at the end: whole numbers from 0 to 10. */
  readonly feelings: Feelings;
  /** In a scene, the feelings of each of its characters. */
  readonly castFeelings?: Readonly<Record<string, Feelings>>;
  readonly latency: Latency;
  /** From the end of speech, or from the request, to the end of the reply, in milliseconds. */
  readonly tookMs: number;
  /** Guardrail violations: one for each sentence that was withheld; absent if there were none. */
  readonly violations?: readonly Violation[];
  /** Reason why no participant spoke: the scene is over, or it is the user's turn. */
  readonly rest?: 'scene-end' | 'users-turn';
  /** Absent if there are no speculative replies. */
  readonly speculation?: Speculation;
}

/** Speculative replies begun before the end of the user's turn, since the reply before. */
export interface Speculation {
  readonly drafts: number;
  /** True if the last of them became this reply. */
  readonly used: boolean;
  /** Wasted work: tokens of the LLM, by its own count or by estimate, and synthesized speech. */
  readonly wastedTokens: number;
  readonly wastedSpeechMs: number;
}

/** The part of a request that a reply is made from again after a restart of the server. */
export type RepeatedRequest = Pick<ReplyRequest, 'scene' | 'speaks' | 'maxTokens' | 'sampling' | 'situation'> & {
  readonly goesOn?: { readonly itemIds: string[]; readonly heard: string } | undefined;
};

/**
 * Everything that a session sends to its client. For every `reply-started` there is exactly one `reply-ended`, and nothing
 * after it; for every `reply-item` one `reply-item-ended` before that. Two marks, if the client's messages are
 * numbered: the message `taken` is done by this event; nothing up to the message `kept` is needed again.
 */
export type SessionEvent = { readonly taken?: number; readonly kept?: number } & (
  | { readonly type: 'updated'; readonly echo: unknown }
  | { readonly type: 'speech-started' | 'speech-stopped'; readonly itemId: string; readonly atMs: number }
  | { readonly type: 'audio-committed'; readonly itemId: string; readonly previousItemId: string | null }
  | { readonly type: 'audio-cleared' }
  /** The user was silent after a reply; the silence becomes an item, and the character speaks up. */
  | { readonly type: 'idle'; readonly itemId: string; readonly fromMs: number; readonly atMs: number }
  | { readonly type: 'item-added'; readonly item: Item; readonly previousItemId: string | null }
  | { readonly type: 'item-retrieved'; readonly item: Item }
  | {
      readonly type: 'item-truncated';
      readonly itemId: string;
      readonly contentIndex: number;
      readonly heardMs: number;
    }
  | { readonly type: 'item-deleted'; readonly itemId: string }
  /** `stable` never shrinks; `text` is the whole hypothesis. */
  | { readonly type: 'transcript-partial'; readonly itemId: string; readonly stable: string; readonly text: string }
  | {
      readonly type: 'transcript-final';
      readonly itemId: string;
      readonly text: string;
      readonly audioMs: number;
      readonly confidence?: number;
      readonly unclear?: Unclear;
    }
  | { readonly type: 'transcript-failed'; readonly itemId: string; readonly problem: Problem }
  /** A transcript that is not sent to the client. */
  | { readonly type: 'understood'; readonly itemId: string; readonly text: string }
  /** Nothing but its marks. */
  | { readonly type: 'marked' }
  | {
      readonly type: 'reply-started';
      readonly replyId: string;
      readonly speaks: boolean;
      readonly inConversation: boolean;
      /** Infinity if the LLM's own bound is the only one. */
      readonly maxTokens: number;
      readonly echo: unknown;
      /** Absent if the reply cannot be made again: its request has items or tools of its own. */
      readonly again?: RepeatedRequest;
    }
  /** The reply begins to speak, or to write; the item grows until `reply-item-ended`. */
  | {
      readonly type: 'reply-item';
      readonly replyId: string;
      readonly item: MessageItem;
      readonly inConversation: boolean;
      readonly previousItemId: string | null;
    }
  /** `cut`: the reply was stopped. */
  | { readonly type: 'reply-item-ended'; readonly replyId: string; readonly item: MessageItem; readonly cut: boolean }
  /** A complete tool call; it comes after the words of the reply, if there are any. */
  | {
      readonly type: 'reply-call';
      readonly replyId: string;
      readonly item: CallItem;
      readonly inConversation: boolean;
      readonly previousItemId: string | null;
    }
  /** The reply's audio pauses because the user makes a sound. */
  | { readonly type: 'reply-held'; readonly replyId: string }
  /** The reply resumes from the start of the clause: words not heard yet play `laterMs` later. */
  | { readonly type: 'reply-resumed'; readonly replyId: string; readonly laterMs: number }
  /** With the emotion with which the text is said, if there is one. */
  | ({
      readonly type: 'reply-text';
      readonly replyId: string;
      readonly text: string;
      readonly words: readonly TimedWord[];
    } & Felt)
  /** A stage direction takes place; `itemId` is null if nothing has been said yet. */
  | { readonly type: 'reply-cue'; readonly replyId: string; readonly itemId: string | null; readonly cue: PlacedCue }
  | {
      readonly type: 'reply-audio';
      readonly replyId: string;
      readonly samples: Float32Array;
      readonly sampleRate: number;
      /** Movement of the mouth from the first of these samples on, until after the last of its phrase. */
      readonly mouth?: MouthSpan;
      readonly phrase?: SpokenPhrase;
    }
  | {
      readonly type: 'reply-ended';
      readonly replyId: string;
      readonly end: ReplyEnd;
      readonly item?: MessageItem;
      readonly calls: readonly CallItem[];
    }
  /** A change of the world is in effect; `change` is what is new to a session that is restored. */
  | ({ readonly type: 'world-taken'; readonly change: WorldChange } & WorldTaken)
  /** The client reports something that was said; `said`: that, and what was said before it. */
  | ({ readonly type: 'reported'; readonly said: readonly ReportedWords[] } & Report)
  /** The relation of a character to the user, or to a player, has changed; `value`: -100 to 100. */
  | ({ readonly type: 'relation' } & RelationChange)
  /** The scene is in another section. `because`: the edge that was taken, or `restored`. */
  | ({ readonly type: 'section'; readonly from: string; readonly because: string } & StoryPlace)
  /** An action that was sent does not take place, or is to stop. */
  | { readonly type: 'action-off'; readonly actionId: string; readonly because: 'unheard' | 'barge_in' }
  | { readonly type: 'problem'; readonly problem: Problem; readonly ref?: string }
);

/** The answer to a game's change of the world. */
export interface WorldTaken {
  readonly id: string | undefined;
  /** Counts the changes of the session. */
  readonly revision: number;
  /** Estimated tokens of the world in the prompt, and how many more it may have. */
  readonly tokens: number;
  readonly tokensLeft: number;
  /** Old events that made way for new ones. */
  readonly droppedEvents: number;
  /** Fallback if the wish cannot be followed: after the user, or after the character's present words. */
  readonly respond: Respond | 'after_user' | 'after_reply';
}

/** The phrase that is being said; `fromMs`: where its sound began in all that was sent of the reply, or would have. */
export interface SpokenPhrase extends ScriptPhrase {
  readonly fromMs: number;
}

/** Movement of the mouth in a stretch of a reply, sent before its first sample; `level`: only the loudness is known. */
export interface MouthSpan extends Pick<MouthMovement, 'visemes' | 'phones'> {
  readonly basis: MouthMovement['basis'] | 'level';
  /** Milliseconds from the start of the reply, with what was said twice. */
  readonly startMs: number;
  readonly endMs: number;
}

/** Builds the event that reports an error to the client; `ref`: the client's own name for the request. */
export function problemEvent(problem: Problem, ref?: string): SessionEvent {
  return { type: 'problem', problem, ...(ref === undefined ? {} : { ref }) };
}
