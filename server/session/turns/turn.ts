import { patienceMs, type Patience } from '../../../voices/turn-detector.ts';

/**
 * Who has the floor. `settling`: the user fell silent, perhaps for good. `overlapping`: the user makes a sound over the
 * reply, perhaps only a cough.
 */
export type TurnState =
  /** `idleSinceMs`: by then the user had heard what was said, and has said nothing since; absent where nobody waits. */
  | { readonly phase: 'listening'; readonly idleSinceMs?: number }
  /** `quietFromMs`: so long the character has listened without a word. */
  | { readonly phase: 'hearing'; readonly quietFromMs: number }
  /** `drafted`: an answer to what was said so far is being prepared. */
  | {
      readonly phase: 'settling';
      readonly sinceMs: number;
      readonly settleMs: number;
      readonly drafted: boolean;
      readonly quietFromMs: number;
    }
  /** `wary`: a sound over this reply was nothing, and it could be the reply's own echo: no pause for the next. */
  | { readonly phase: 'replying'; readonly wary: boolean }
  | {
      readonly phase: 'overlapping';
      readonly sinceMs: number;
      readonly wary: boolean;
      /** The reply waits. */
      readonly held: boolean;
      readonly is: Overlap | 'unknown';
      /** When the sound ended, if it has. */
      readonly endedMs?: number;
    };

/** What a sound over the reply is: words meant for the character; or an "mm-hm", its own echo; or nothing clear, if it ends. */
export type Overlap = 'words' | 'aside' | 'unclear';

/** `atMs` is audio time (samples heard), dated back to where the speech or the silence truly began. */
export type TurnEvent =
  | { readonly type: 'speech-start' | 'speech-end'; readonly atMs: number }
  /**
   * Audio has come up to `atMs`; the last that was voiced ended at `voicedMs`. `aloneMs`: voice over the reply that
   * cannot be the reply itself.
   */
  | { readonly type: 'clock'; readonly atMs: number; readonly voicedMs: number; readonly aloneMs: number }
  /** What was said before the pause is known, or known better; with how complete it seems, 0 to 1, where a detector listens. */
  | { readonly type: 'pause-judged'; readonly completeness?: number }
  /** What the sound over the reply is, from `sinceMs` to `untilMs`. May come when it is over. */
  | { readonly type: 'overlap-judged'; readonly is: Overlap; readonly sinceMs: number; readonly untilMs: number }
  /** A reply began, asked for by the client or by `utterance-close`. */
  | { readonly type: 'reply-start' }
  /**
   * It ended, whether spoken, failed or cancelled. `heardByMs`: when the user will have heard all of it; absent where it is
   * not the user who is to go on.
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
  /** The user pauses: find out whether they have finished. */
  | { readonly type: 'pause' }
  /** The turn will probably end soon: prepare an answer. */
  | { readonly type: 'draft' }
  /** The user pauses and will go on: a word that shows somebody listens. */
  | { readonly type: 'nod' }
  /** The user goes on: what was prepared is void. */
  | { readonly type: 'draft-drop' }
  /** Find out what the sound over the reply is, from `atMs` on. */
  | { readonly type: 'overlap-open'; readonly atMs: number }
  /** It is over. */
  | { readonly type: 'overlap-close' }
  | { readonly type: 'reply-hold' }
  | { readonly type: 'reply-resume' }
  /** The user interrupts: stop the running reply. */
  | { readonly type: 'reply-abort' }
  /** The user has been silent since `sinceMs`: the character speaks up. */
  | { readonly type: 'speak-up'; readonly sinceMs: number };

export interface TurnPolicy {
  /** Silence after which the user's turn is over, unless it is known how complete it is. */
  readonly settleMs: number;
  /** How long to wait where it is known; absent: always `settleMs`. */
  readonly patience?: Patience;
  /** How long before the end of a turn its answer is prepared; absent: not before the end. */
  readonly draftLeadMs?: number;
  /** Speech over a reply that counts as an interruption whatever its words are. */
  readonly bargeInMs: number;
  /** Whether speaking over a reply stops it. */
  readonly interrupts: boolean;
  /** Replies are known to be heard by the user's microphone: only words stop them. */
  readonly wary?: boolean;
  /** How long the user may talk until the next pause brings a nod; absent: for ever. */
  readonly nodEveryMs?: number;
  /** Silence after a reply from which on the character speaks up; absent means never. */
  readonly idleMs?: number;
}

type Step = { readonly state: TurnState; readonly actions: readonly TurnAction[] };
type In<Phase extends TurnState['phase']> = Extract<TurnState, { readonly phase: Phase }>;

/** Whoever seems to have finished half of what they wanted to say is answered, not nodded at. */
const nodBelow = 0.3;
/** Silence after a sound over the reply in which it may still turn out to be words. */
const verdictMs = 192;
/** A sound that has turned out to be an aside may last this much longer than others before it counts as an interruption. */
const asideMs = 600;
/** Words of a shorter sound are mostly a recognizer's idea of a cough. */
const leastWordsMs = 160;
/** Voice this long that cannot be the reply is not its echo. */
const surelyUserMs = 192;

/** Before anything was heard. */
export const initialTurn: TurnState = { phase: 'listening' };

/** The turn machine: pure, without a clock of its own. Actions are to be performed in order. */
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
      return onOverlapJudged(state, event, policy);
    case 'reply-start':
      return stay(state.phase === 'listening' ? { phase: 'replying', wary: policy.wary === true } : state);
    case 'user-active':
      return stay(isIdle(state) ? { phase: 'listening', idleSinceMs: event.atMs } : state);
    case 'reply-end':
      return onReplyEnd(state, event.heardByMs);
    case 'utterance-taken':
      return onTaken(state);
  }
}

/** Whether the machine needs sound to go on, if only silence. */
export function missesSound(state: TurnState, policy: TurnPolicy): boolean {
  if (state.phase === 'listening') return isIdle(state) && policy.idleMs !== undefined;
  return state.phase !== 'replying';
}

function isIdle(state: TurnState): state is { readonly phase: 'listening'; readonly idleSinceMs: number } {
  return state.phase === 'listening' && state.idleSinceMs !== undefined;
}

function listening(idleSinceMs?: number): TurnState {
  return { phase: 'listening', ...(idleSinceMs === undefined ? {} : { idleSinceMs }) };
}

function onSpeechStart(state: TurnState, atMs: number, policy: TurnPolicy): Step {
  if (state.phase === 'listening') return open(atMs, []);
  if (state.phase === 'settling') {
    const { drafted, quietFromMs } = state;
    return { state: { phase: 'hearing', quietFromMs }, actions: drafted ? [{ type: 'draft-drop' }] : [] };
  }
  if (state.phase === 'overlapping') {
    const { endedMs: _, ...goingOn } = state;
    return stay(goingOn);
  }
  if (state.phase !== 'replying') return stay(state);
  const held = policy.interrupts && !state.wary;
  return {
    state: { phase: 'overlapping', sinceMs: atMs, wary: state.wary, held, is: 'unknown' },
    actions: [...(held ? [{ type: 'reply-hold' } as const] : []), { type: 'overlap-open', atMs }],
  };
}

function onSpeechEnd(state: TurnState, atMs: number, policy: TurnPolicy): Step {
  if (state.phase === 'hearing') return settle(atMs, state.quietFromMs, policy, []);
  if (state.phase === 'overlapping') return stay({ ...state, endedMs: atMs });
  return stay(state);
}

function onClock(state: TurnState, clock: Extract<TurnEvent, { type: 'clock' }>, policy: TurnPolicy): Step {
  if (isIdle(state) && policy.idleMs !== undefined && clock.atMs - state.idleSinceMs >= policy.idleMs) {
    return {
      state: { phase: 'replying', wary: policy.wary === true },
      actions: [{ type: 'speak-up', sinceMs: state.idleSinceMs }],
    };
  }
  if (state.phase === 'settling') return onSilence(state, clock.atMs - state.sinceMs, policy);
  if (state.phase !== 'overlapping') return stay(state);
  if (isInterruption(state, clock, policy)) return interrupt(state, policy);
  if (state.endedMs !== undefined && clock.atMs - state.endedMs >= verdictMs) return resume(state);
  return stay(state);
}

function onSilence(state: In<'settling'>, silentMs: number, policy: TurnPolicy): Step {
  if (silentMs >= state.settleMs) {
    return {
      state: { phase: 'replying', wary: policy.wary === true },
      actions: [{ type: 'utterance-close', atMs: state.sinceMs }],
    };
  }
  const { draftLeadMs } = policy;
  if (state.drafted || draftLeadMs === undefined || silentMs < state.settleMs - draftLeadMs) return stay(state);
  return { state: { ...state, drafted: true }, actions: [{ type: 'draft' }] };
}

/** A pause known better calls for another draft, unless what is to be answered has not changed; or for a nod. */
function judged(state: In<'settling'>, completeness: number | undefined, policy: TurnPolicy): Step {
  const { patience, nodEveryMs = Infinity } = policy;
  const settleMs =
    completeness === undefined || patience === undefined ? state.settleMs : patienceMs(completeness, patience);
  const nods =
    completeness !== undefined && completeness <= nodBelow && state.sinceMs - state.quietFromMs >= nodEveryMs;
  const quietFromMs = nods ? state.sinceMs : state.quietFromMs;
  return { state: { ...state, settleMs, drafted: false, quietFromMs }, actions: nods ? [{ type: 'nod' }] : [] };
}

/** Counted in voice, not in time: the end of a cough is known only a moment after it. */
function isInterruption(
  state: In<'overlapping'>,
  { voicedMs, aloneMs }: Extract<TurnEvent, { type: 'clock' }>,
  policy: TurnPolicy,
): boolean {
  const lastedMs = voicedMs - state.sinceMs;
  if (state.is === 'words') return lastedMs >= leastWordsMs;
  if (!policy.interrupts) return lastedMs >= policy.bargeInMs;
  if (state.wary || aloneMs < surelyUserMs) return false;
  return lastedMs >= policy.bargeInMs + (state.is === 'aside' ? asideMs : 0);
}

function onOverlapJudged(
  state: TurnState,
  { is, sinceMs, untilMs }: Extract<TurnEvent, { type: 'overlap-judged' }>,
  policy: TurnPolicy,
): Step {
  if (state.phase === 'overlapping') {
    // It may be an earlier sound that is judged only now: of that, words alone matter.
    if (is === 'aside' && untilMs <= state.sinceMs) return stay(state);
    const next = { ...state, is, sinceMs: is === 'words' ? Math.min(sinceMs, state.sinceMs) : state.sinceMs };
    if (is === 'words') return untilMs - sinceMs < leastWordsMs ? stay(next) : interrupt(next, policy);
    return state.endedMs === undefined ? stay(next) : resume(next);
  }
  // It turned out to be words only after the reply went on, or had ended.
  const isFree = state.phase === 'replying' || state.phase === 'listening';
  if (is !== 'words' || untilMs - sinceMs < leastWordsMs || !isFree) return stay(state);
  return settle(untilMs, sinceMs, policy, opening(sinceMs, state.phase === 'replying' && policy.interrupts));
}

function interrupt(state: In<'overlapping'>, policy: TurnPolicy): Step {
  const actions = opening(state.sinceMs, policy.interrupts);
  // That it may no longer be stopped, the client has said only after it was held.
  if (state.held && !policy.interrupts) actions.push({ type: 'reply-resume' });
  return state.endedMs === undefined
    ? { state: { phase: 'hearing', quietFromMs: state.sinceMs }, actions }
    : settle(state.endedMs, state.sinceMs, policy, actions);
}

/** The reply goes on. From now on it takes words to stop it: what was no interruption once may come again. */
function resume(state: In<'overlapping'>): Step {
  return {
    state: { phase: 'replying', wary: true },
    actions: [{ type: 'overlap-close' }, ...(state.held ? [{ type: 'reply-resume' } as const] : [])],
  };
}

function onReplyEnd(state: TurnState, heardByMs: number | undefined): Step {
  if (state.phase === 'replying') return stay(listening(heardByMs));
  if (state.phase !== 'overlapping') return stay(state);
  if (state.endedMs !== undefined || state.is === 'aside') {
    return { state: listening(heardByMs), actions: [{ type: 'overlap-close' }] };
  }
  // The user was already talking when the reply ended by itself: what they say is theirs.
  return open(state.sinceMs, []);
}

function onTaken(state: TurnState): Step {
  if (state.phase === 'overlapping') return resume(state);
  if (state.phase === 'settling' && state.drafted) return { state: listening(), actions: [{ type: 'draft-drop' }] };
  return stay(state.phase === 'replying' ? state : listening());
}

function settle(sinceMs: number, quietFromMs: number, policy: TurnPolicy, before: readonly TurnAction[]): Step {
  const state: TurnState = { phase: 'settling', sinceMs, settleMs: policy.settleMs, drafted: false, quietFromMs };
  return { state, actions: [...before, { type: 'pause' }] };
}

function stay(state: TurnState): Step {
  return { state, actions: [] };
}

function open(atMs: number, after: readonly TurnAction[]): Step {
  return { state: { phase: 'hearing', quietFromMs: atMs }, actions: [{ type: 'utterance-open', atMs }, ...after] };
}

/** The client is told of the speech before it is told what the speech stopped: stock clients count on that order. */
function opening(atMs: number, aborts: boolean): TurnAction[] {
  return [{ type: 'utterance-open', atMs }, ...(aborts ? [{ type: 'reply-abort' } as const] : [])];
}
