import { endpointingTimeoutMs, type EndpointingTimeouts } from '../../../voices/turn-detector.ts';
import type { OverlapKind } from '../contract/overlap.ts';
import type { Utterance } from '../input/utterance.ts';

/**
 * Phase of the turn. `settling`: the user fell silent, perhaps for good (endpointing). `overlapping`: the user makes a
 * sound over the reply, perhaps only a cough.
 */
type TurnPhase =
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
      /** The reply is paused. */
      readonly held: boolean;
      readonly is: OverlapKind | 'unknown';
      /** Voice that does not match the reply's audio. */
      readonly unlikeMs: number;
      /** Voice that cannot be the reply itself. */
      readonly aloneMs: number;
      /** End of the sound, if it has ended. */
      readonly endedMs?: number;
    };

/** State that outlives a phase. */
interface TurnMemory {
  /** The user's microphone picks up the character; forgotten after a reply without any sound over it. */
  readonly echoes: boolean;
  /** There was a sound over the present reply. */
  readonly overlapped: boolean;
  /** Words over the reply that are not yet attributed to the user or to the character's echo. */
  readonly unattributed: Utterance | undefined;
}

export type TurnState = TurnPhase & TurnMemory;

/** Utterances are only compared. `atMs`: audio time (samples heard), dated back to where speech or silence really began. */
export type TurnEvent =
  | { readonly type: 'speech-start' | 'speech-end'; readonly atMs: number }
  /**
   * Audio has come up to `atMs`; the last voiced part ended at `voicedMs`. `newMs`: voice since the last event.
   * `replySounds`: the character can be heard right now.
   */
  | {
      readonly type: 'clock';
      readonly atMs: number;
      readonly voicedMs: number;
      readonly newMs: number;
      readonly replySounds: boolean;
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
  /** A reply began, requested by the client or by `utterance-close`. */
  | { readonly type: 'reply-start' }
  /**
   * The reply ended: spoken, failed or cancelled. `heardByMs`: time by which the user will have heard all of it; absent
   * if it is not the user's turn.
   */
  | { readonly type: 'reply-end'; readonly heardByMs?: number }
  /** The user did something other than speak. */
  | { readonly type: 'user-active'; readonly atMs: number }
  /** The client took the audio itself, by committing or clearing the buffer. */
  | { readonly type: 'utterance-taken' };

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
  /** The user goes on: discard the speculative reply. */
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
  /** The user interrupts: stop the running reply. */
  | { readonly type: 'reply-abort' }
  /** The user has been silent since `sinceMs`: the character speaks up. */
  | { readonly type: 'speak-up'; readonly sinceMs: number };

export interface TurnPolicy {
  /** Silence that ends the user's turn if there is no end-of-turn probability. */
  readonly settleMs: number;
  /** Range of timeouts if there is an end-of-turn probability; absent: always `settleMs`. */
  readonly patience?: EndpointingTimeouts;
  /** How long before the end of a turn a speculative reply is begun; absent: never before it. */
  readonly draftLeadMs?: number;
  /** Voice over a reply that counts as a barge-in whatever its words are. */
  readonly bargeInMs: number;
  /** True if speech over a reply stops it. */
  readonly interrupts: boolean;
  /** How long the user may talk until the next pause brings a backchannel; absent: forever. */
  readonly nodEveryMs?: number;
  /** Silence after a reply until the character speaks up; absent: never. */
  readonly idleMs?: number;
}

type Step = { readonly state: TurnState; readonly actions: readonly TurnAction[] };

type In<Phase extends TurnState['phase']> = Extract<TurnState, { readonly phase: Phase }>;

/** Largest end-of-turn probability at which a pause brings a backchannel, not a reply. */
const nodBelow = 0.3;

/** Silence after a sound over the reply in which it may still turn out to be words. */
const verdictMs = 192;

/** Extra voice beyond `bargeInMs` before a sound classed as a backchannel counts as a barge-in. */
const asideMs = 600;

/** Transcripts of shorter sounds are usually ASR hallucinations, such as a cough. */
const leastWordsMs = 160;

/** Voice this long that cannot be the reply is not its echo. */
const surelyUserMs = 192;

/** Voice over the reply after which an echo would have been found. */
const surelyUnlikeMs = 384;

/** The state before any audio. */
export const initialTurn: TurnState = {
  phase: 'listening',
  echoes: false,
  overlapped: false,
  unattributed: undefined,
};

/** The turn machine: pure, without a clock. Returns the next state and the actions, in order. */
export function step(state: TurnState, event: TurnEvent, policy: TurnPolicy): Step {
  switch (event.type) {
    case 'speech-start':
      return onSpeechStart(state, event.atMs, policy);
    case 'speech-end':
      return onSpeechEnd(state, event.atMs, policy);
    case 'clock':
      return onClock(state, event, policy);
    case 'pause-judged':
      return state.phase === 'settling' ? judged(state, event.completeness, policy) : stay(state);
    case 'overlap-judged':
      return onOverlapJudged({ ...state, unattributed: undefined }, event, policy);
    case 'overlap-unattributed':
      return stay({ ...state, unattributed: event.utterance });
    case 'echo-found':
      return onEchoFound(state);
    case 'echo-heard':
      return stay(state.echoes ? state : { ...state, echoes: true });
    case 'reply-start':
      return state.phase === 'listening' ? enter(state, replying(state)) : stay(state);
    case 'user-active':
      return isIdle(state) ? enter(state, listening(event.atMs)) : stay(state);
    case 'reply-end':
      return onReplyEnd(forgetEcho(state), event.heardByMs);
    case 'utterance-taken':
      return onTaken(state);
  }
}

/** Returns true if the machine needs audio to make progress, even silence. */
export function needsAudio(state: TurnState, policy: TurnPolicy): boolean {
  if (state.phase === 'listening') return isIdle(state) && policy.idleMs !== undefined;
  return state.phase !== 'replying';
}

function isIdle(state: TurnState): state is TurnMemory & { readonly phase: 'listening'; readonly idleSinceMs: number } {
  return state.phase === 'listening' && state.idleSinceMs !== undefined;
}

function listening(idleSinceMs?: number): TurnPhase {
  return { phase: 'listening', ...(idleSinceMs === undefined ? {} : { idleSinceMs }) };
}

/** The phase of a new reply. A known echo does not pause it. */
function replying({ echoes }: TurnMemory): TurnPhase {
  return { phase: 'replying', wary: echoes };
}

function forgetEcho(state: TurnState): TurnState {
  return { ...state, echoes: state.echoes && state.overlapped, overlapped: false };
}

function onSpeechStart(state: TurnState, atMs: number, policy: TurnPolicy): Step {
  if (state.phase === 'listening') return open(state, atMs);
  if (state.phase === 'settling') {
    const { drafted, quietFromMs } = state;
    return enter(state, { phase: 'hearing', quietFromMs }, drafted ? [{ type: 'draft-drop' }] : []);
  }
  if (state.phase === 'overlapping') {
    const { endedMs: _, ...goingOn } = state;
    return stay(goingOn);
  }
  if (state.phase !== 'replying') return stay(state);
  const held = policy.interrupts && !state.wary;
  return enter(
    { ...state, overlapped: true },
    { phase: 'overlapping', sinceMs: atMs, wary: state.wary, held, is: 'unknown', unlikeMs: 0, aloneMs: 0 },
    [...(held ? [{ type: 'reply-hold' } as const] : []), { type: 'overlap-open', atMs }],
  );
}

function onSpeechEnd(state: TurnState, atMs: number, policy: TurnPolicy): Step {
  const next =
    state.phase === 'hearing'
      ? settle(state, atMs, state.quietFromMs, policy)
      : stay(state.phase === 'overlapping' ? { ...state, endedMs: atMs } : state);
  const { unattributed: utterance } = state;
  if (utterance === undefined) return next;
  return { ...next, actions: [...next.actions, { type: 'overlap-attribute', utterance }] };
}

function onClock(state: TurnState, clock: Extract<TurnEvent, { type: 'clock' }>, policy: TurnPolicy): Step {
  if (isIdle(state) && policy.idleMs !== undefined && clock.atMs - state.idleSinceMs >= policy.idleMs) {
    return enter(state, replying(state), [{ type: 'speak-up', sinceMs: state.idleSinceMs }]);
  }
  // A voiced window may be the first of more speech.
  if (state.phase === 'settling' && clock.newMs === 0) return onSilence(state, clock.atMs - state.sinceMs, policy);
  return state.phase === 'overlapping' ? onOverlapClock(state, clock, policy) : stay(state);
}

function onOverlapClock(
  state: In<'overlapping'>,
  { atMs, voicedMs, newMs, replySounds }: Extract<TurnEvent, { type: 'clock' }>,
  policy: TurnPolicy,
): Step {
  const unlikeMs = state.unlikeMs + newMs;
  const isAlone = !replySounds || unlikeMs > surelyUnlikeMs;
  const next = { ...state, unlikeMs, aloneMs: state.aloneMs + (isAlone ? newMs : 0) };
  if (isInterruption(next, voicedMs, policy)) return interrupt(next, policy);
  return next.endedMs !== undefined && atMs - next.endedMs >= verdictMs ? resume(next) : stay(next);
}

function onSilence(state: In<'settling'>, silentMs: number, policy: TurnPolicy): Step {
  if (silentMs >= state.settleMs) {
    return enter(state, replying(state), [{ type: 'utterance-close', atMs: state.sinceMs }]);
  }
  const { draftLeadMs } = policy;
  if (state.drafted || draftLeadMs === undefined || silentMs < state.settleMs - draftLeadMs) return stay(state);
  return { state: { ...state, drafted: true }, actions: [{ type: 'draft' }] };
}

/** Applies a new end-of-turn probability; allows a new speculative reply or a backchannel. */
function judged(state: In<'settling'>, completeness: number | undefined, policy: TurnPolicy): Step {
  const { patience, nodEveryMs = Infinity } = policy;
  const settleMs =
    completeness === undefined || patience === undefined
      ? state.settleMs
      : endpointingTimeoutMs(completeness, patience);
  const nods =
    completeness !== undefined && completeness <= nodBelow && state.sinceMs - state.quietFromMs >= nodEveryMs;
  const quietFromMs = nods ? state.sinceMs : state.quietFromMs;
  return { state: { ...state, settleMs, drafted: false, quietFromMs }, actions: nods ? [{ type: 'nod' }] : [] };
}

/** Detects barge-in by voice, not elapsed time: the end of a cough is known only a moment later. */
function isInterruption(state: In<'overlapping'>, voicedMs: number, policy: TurnPolicy): boolean {
  const lastedMs = voicedMs - state.sinceMs;
  if (state.is === 'words') return lastedMs >= leastWordsMs;
  if (!policy.interrupts) return lastedMs >= policy.bargeInMs;
  if (state.wary || state.aloneMs < surelyUserMs) return false;
  return lastedMs >= policy.bargeInMs + (state.is === 'aside' ? asideMs : 0);
}

function onOverlapJudged(
  state: TurnState,
  { is, sinceMs, untilMs }: Extract<TurnEvent, { type: 'overlap-judged' }>,
  policy: TurnPolicy,
): Step {
  if (state.phase === 'overlapping') {
    // The verdict may be on an earlier sound: of that one, only words matter.
    if (is === 'aside' && untilMs <= state.sinceMs) return stay(state);
    const next = { ...state, is, sinceMs: is === 'words' ? Math.min(sinceMs, state.sinceMs) : state.sinceMs };
    if (is === 'words') return untilMs - sinceMs < leastWordsMs ? stay(next) : interrupt(next, policy);
    return state.endedMs === undefined ? stay(next) : resume(next);
  }
  // Classified as words only after the reply resumed or ended.
  const isFree = state.phase === 'replying' || state.phase === 'listening';
  if (is !== 'words' || untilMs - sinceMs < leastWordsMs || !isFree) return stay(state);
  return settle(state, untilMs, sinceMs, policy, opening(sinceMs, state.phase === 'replying' && policy.interrupts));
}

/** The reply goes on, as easy to interrupt as before. */
function onEchoFound(state: TurnState): Step {
  if (state.phase !== 'overlapping') return stay(state);
  const next = state.endedMs === undefined ? stay({ ...state, is: 'aside' }) : resume(state, state.echoes);
  return { ...next, actions: [{ type: 'overlap-drop' }, ...next.actions] };
}

function interrupt(state: In<'overlapping'>, policy: TurnPolicy): Step {
  const actions = opening(state.sinceMs, policy.interrupts);
  // The client turned interruptions off after the reply was held.
  if (state.held && !policy.interrupts) actions.push({ type: 'reply-resume' });
  return state.endedMs === undefined
    ? enter(state, { phase: 'hearing', quietFromMs: state.sinceMs }, actions)
    : settle(state, state.endedMs, state.sinceMs, policy, actions);
}

/** Resumes the reply. From now on, by default, only words stop it: the same kind of sound may come again. */
function resume(state: In<'overlapping'>, wary = true): Step {
  const actions: TurnAction[] = state.held ? [{ type: 'reply-resume' }] : [];
  return enter(state, { phase: 'replying', wary }, [{ type: 'overlap-close' }, ...actions]);
}

function onReplyEnd(state: TurnState, heardByMs: number | undefined): Step {
  if (state.phase === 'replying') return enter(state, listening(heardByMs));
  if (state.phase !== 'overlapping') return stay(state);
  if (state.endedMs !== undefined || state.is === 'aside') {
    return enter(state, listening(heardByMs), [{ type: 'overlap-close' }]);
  }
  // The user was already talking when the reply ended by itself: it is the user's turn.
  return open(state, state.sinceMs);
}

function onTaken(state: TurnState): Step {
  if (state.phase === 'overlapping') return resume(state);
  if (state.phase === 'replying') return stay(state);
  const isDrafted = state.phase === 'settling' && state.drafted;
  return enter(state, listening(), isDrafted ? [{ type: 'draft-drop' }] : []);
}

function settle(
  memory: TurnMemory,
  sinceMs: number,
  quietFromMs: number,
  policy: TurnPolicy,
  before: readonly TurnAction[] = [],
): Step {
  const phase: TurnPhase = { phase: 'settling', sinceMs, settleMs: policy.settleMs, drafted: false, quietFromMs };
  return enter(memory, phase, [...before, { type: 'pause' }]);
}

function open(memory: TurnMemory, atMs: number): Step {
  return enter(memory, { phase: 'hearing', quietFromMs: atMs }, [{ type: 'utterance-open', atMs }]);
}

function stay(state: TurnState): Step {
  return { state, actions: [] };
}

/** Begins a phase; the rest of the state stays. */
function enter(memory: TurnMemory, phase: TurnPhase, actions: readonly TurnAction[] = []): Step {
  const { echoes, overlapped, unattributed } = memory;
  return { state: { ...phase, echoes, overlapped, unattributed }, actions };
}

/** Speech start is reported before the reply is aborted: stock clients rely on that order. */
function opening(atMs: number, aborts: boolean): TurnAction[] {
  return [{ type: 'utterance-open', atMs }, ...(aborts ? [{ type: 'reply-abort' } as const] : [])];
}
