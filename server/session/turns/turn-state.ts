import type { EndpointingTimeouts } from '../../../voices/turn-detector.ts';
import type { OverlapKind, Utterance, Understood } from '../input/utterance.ts';

/**
 * Phase of the turn. `settling`: the user fell silent, perhaps for good (endpointing). `overlapping`: the user makes a
 * sound over the reply, perhaps only a cough.
 */
export type TurnPhase =
  /** `idleSinceMs`: the user has heard the reply and is silent since; absent: no idle timeout. */
  | { readonly phase: 'listening'; readonly idleSinceMs?: number }
  /** `quietFromMs`: since then the character has listened without a backchannel. */
  | { readonly phase: 'hearing'; readonly quietFromMs: number }
  /** `drafted`: a speculative reply to what was said so far is being made. */
  | {
      readonly phase: 'settling';
      readonly sinceMs: number;
      readonly settleMs: number;
      readonly drafted: boolean;
      readonly quietFromMs: number;
    }
  /** `wary`: a sound over this reply may have been its echo: the next one does not pause it. */
  | { readonly phase: 'replying'; readonly wary: boolean }
  | {
      readonly phase: 'overlapping';
      readonly sinceMs: number;
      readonly wary: boolean;
      readonly held: boolean;
      readonly is: OverlapKind | 'unknown';
      /** Voice that does not match the reply's audio. */
      readonly unlikeMs: number;
      /** Voice that cannot be the reply itself. */
      readonly aloneMs: number;
      readonly endedMs?: number;
    };

export interface TurnMemory {
  /** The user's microphone picks up the character; forgotten after a reply without any sound over it. */
  readonly echoes: boolean;
  /** There was a sound over the present reply. */
  readonly overlapped: boolean;
  /** Words over the reply that are not yet attributed to the user or to the character's echo. */
  readonly unattributed: Utterance | undefined;
  /** A reply of the conversation is being made or spoken. */
  readonly isReplying: boolean;
  /** When the present reply began to sound; undefined if it has not. */
  readonly soundsFromMs: number | undefined;
  /** The utterance that the character answers once its transcript is known. */
  readonly answering: Utterance | undefined;
  /** The present reply began before that utterance ended, so it cannot be its answer. */
  readonly spokenOver: boolean;
  /** The user spoke over a reply that was not stopped; that speech is answered after the reply. */
  readonly owesAnswer: boolean;
}

export type TurnState = TurnPhase & TurnMemory;

/** Utterances are only compared. `atMs`: audio time (samples heard), dated back to where speech or silence really began. */
export type TurnEvent =
  | { readonly type: 'speech-start' | 'speech-end'; readonly atMs: number }
  /**
   * Audio up to `atMs`, voiced until `voicedMs`, with `newMs` of voice since the last event; the reply sounds, and so
   * much of the current one can have been heard.
   */
  | {
      readonly type: 'clock';
      readonly atMs: number;
      readonly voicedMs: number;
      readonly newMs: number;
      readonly replySounds: boolean;
      readonly replyHeardMs: number;
    }
  /** New or better transcript of the turn; `completeness`: end-of-turn probability, if known. */
  | { readonly type: 'pause-judged'; readonly completeness?: number }
  /** Class of the sound over the reply from `sinceMs` to `untilMs`; may come after its end. */
  | { readonly type: 'overlap-judged'; readonly is: OverlapKind; readonly sinceMs: number; readonly untilMs: number }
  /** There were words over the reply, and it is not known yet if the user or the character said them. */
  | { readonly type: 'overlap-unattributed'; readonly utterance: Utterance }
  /** The microphone turned out to pick up the reply: the present sound is its echo. */
  | { readonly type: 'echo-found' }
  /** The words or the voice of a sound over the reply turned out to be the character's own. */
  | { readonly type: 'echo-heard' }
  /** The open utterance was committed; undefined if it had no audio. */
  | { readonly type: 'utterance-closed'; readonly utterance: Utterance | undefined }
  /** The outcome of a committed utterance is known. `heardMs`: audio time by then. */
  | ({ readonly type: 'utterance-understood'; readonly heardMs: number } & Understood)
  /** A reply of the conversation begins, requested by the client or by an action. */
  | { readonly type: 'reply-start' }
  | ({ readonly type: 'reply-end' } & EndedReply)
  /** The user did something other than speak. */
  | { readonly type: 'user-active'; readonly atMs: number }
  /** The client took the audio itself, by committing or clearing the buffer. */
  | { readonly type: 'utterance-taken' };

/** A reply of the conversation that has ended: spoken, failed or cancelled. */
interface EndedReply {
  /** Time by which the user will have heard all of it; absent if it is not the user's turn. */
  readonly heardByMs?: number;
  readonly isCancelled: boolean;
  /** Its tool calls; the client continues with their results. */
  readonly hasCalls: boolean;
  /** A participant of a scene has completed it. */
  readonly wasPlayed: boolean;
  /** An utterance is open, by speech or under push to talk. */
  readonly userSpeaks: boolean;
}

export type TurnAction =
  /** Speech from `atMs` on is a new utterance of the user. */
  | { readonly type: 'utterance-open'; readonly atMs: number }
  /** The open utterance is complete; its speech ended at `atMs`. */
  | { readonly type: 'utterance-close'; readonly atMs: number }
  /** The user pauses: ask the turn detector. */
  | { readonly type: 'pause' }
  /** The turn will probably end soon: begin a speculative reply. */
  | { readonly type: 'draft' }
  /** The user pauses and will go on: give a backchannel. */
  | { readonly type: 'nod' }
  /** The user continues: discard the speculative reply. */
  | { readonly type: 'draft-drop' }
  /** Start to classify the sound over the reply, from `atMs` on. */
  | { readonly type: 'overlap-open'; readonly atMs: number }
  /** The sound over the reply has ended. */
  | { readonly type: 'overlap-close' }
  /** The sound with these words has ended: attribute them now. */
  | { readonly type: 'overlap-attribute'; readonly utterance: Utterance }
  /** The sound over the reply is its echo: do not recognize it any more. */
  | { readonly type: 'overlap-drop' }
  | { readonly type: 'reply-hold' }
  | { readonly type: 'reply-resume' }
  /** The user interrupts: stop the running reply; `unbegun`: so early that it counts as if it had never begun. */
  | { readonly type: 'reply-abort'; readonly unbegun: boolean }
  /** The character replies; `to`: the utterance that it answers, if the reply comes right after it. */
  | { readonly type: 'reply'; readonly to?: Understood }
  /** The user has been silent since `sinceMs`: the character speaks up. */
  | { readonly type: 'speak-up'; readonly sinceMs: number };

export interface TurnPolicy {
  /** Silence that ends the user's turn if there is no end-of-turn probability. */
  readonly settleMs: number;
  /** Range of timeouts if there is an end-of-turn probability; absent: always `settleMs`. */
  readonly patience?: EndpointingTimeouts;
  /** How long before the end of a turn a speculative reply is begun; absent: never before it. */
  readonly draftLeadMs?: number;
  /** Voice during a reply that counts as a barge-in for any words. */
  readonly bargeInMs: number;
  /** True if speech over a reply stops it. */
  readonly interrupts: boolean;
  /** The end of a turn brings a reply. */
  readonly answers: boolean;
  /** The user takes part: in a scene, no participant speaks over the user. */
  readonly userPlays: boolean;
  /** Each reply is followed by another one (a scene). */
  readonly goesOn: boolean;
  /** How long the user may talk until the next pause brings a backchannel; absent: forever. */
  readonly nodEveryMs?: number;
  /** Silence after a reply until the character speaks up; absent: never. */
  readonly idleMs?: number;
}

/** The state before any audio. */
export const initialTurn: TurnState = {
  phase: 'listening',
  echoes: false,
  overlapped: false,
  unattributed: undefined,
  isReplying: false,
  soundsFromMs: undefined,
  answering: undefined,
  spokenOver: false,
  owesAnswer: false,
};
