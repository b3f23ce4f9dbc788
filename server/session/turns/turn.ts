import { endpointingTimeoutMs } from '../../../voices/turn-detector.ts';
import { mayGoOn } from '../../responders/turn-order.ts';
import type { Utterance } from '../input/utterance.ts';
import type { TurnPhase, TurnMemory, TurnState, TurnEvent, TurnAction, TurnPolicy } from './turn-state.ts';

type Step = { readonly state: TurnState; readonly actions: readonly TurnAction[] };

type In<Phase extends TurnState['phase']> = Extract<TurnState, { readonly phase: Phase }>;

/** Largest end-of-turn probability at which a pause brings a backchannel, not a reply. */
const nodBelow = 0.3;

/** Silence after a sound over the reply in which it may still turn out to be words. */
const verdictMs = 192;

/** Extra voice beyond `bargeInMs` before a sound classed as a backchannel counts as a barge-in. */
const asideMs = 600;

/** Speech this soon after the first sound of a reply continues with the turn that the reply cut into. */
const cutInMs = 600;

/** Transcripts of shorter sounds are usually ASR hallucinations, such as a cough. */
const leastWordsMs = 160;

/** Voice this long that cannot be the reply is not its echo. */
const surelyUserMs = 192;

/** Voice over the reply after which an echo would have been found. */
const surelyUnlikeMs = 384;

/** The turn machine: pure, without a clock. Returns the next state and the actions, in order. */
export function step(state: TurnState, event: TurnEvent, policy: TurnPolicy): Step {
  switch (event.type) {
    case 'speech-start':
      return onSpeechStart(state, event.atMs, policy);
    case 'speech-end':
      return onSpeechEnd(state, event.atMs, policy);
    case 'clock':
      return onClock(sounding(state, event), event, policy);
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
    case 'utterance-closed':
      return onClosed(state, event.utterance, policy);
    case 'utterance-understood':
      return onUnderstood(state, event);
    case 'reply-start':
      return state.phase === 'listening'
        ? enter({ ...state, isReplying: true, soundsFromMs: undefined }, replying(state))
        : stay({ ...state, isReplying: true, soundsFromMs: undefined });
    case 'user-active':
      return isIdle(state) ? enter(state, listening(event.atMs)) : stay(state);
    case 'reply-end':
      return onReplyEnd(state, event, policy);
    case 'utterance-taken':
      return onTaken(state);
  }
}

/** Audio time stops while the client sends nothing, so the heard part of the reply shows when it began. */
function sounding(state: TurnState, { atMs, replyHeardMs }: Extract<TurnEvent, { type: 'clock' }>): TurnState {
  const fromMs = atMs - replyHeardMs;
  const isKnown = !state.isReplying || replyHeardMs === 0 || (state.soundsFromMs ?? Infinity) <= fromMs;
  return isKnown ? state : { ...state, soundsFromMs: fromMs };
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
  const aborts = state.phase === 'replying' && policy.interrupts;
  return settle(interrupted(state, aborts), untilMs, sinceMs, policy, opening(state, sinceMs, aborts));
}

/** The reply continues, as easy to interrupt as before. */
function onEchoFound(state: TurnState): Step {
  if (state.phase !== 'overlapping') return stay(state);
  const next = state.endedMs === undefined ? stay({ ...state, is: 'aside' }) : resume(state, state.echoes);
  return { ...next, actions: [{ type: 'overlap-drop' }, ...next.actions] };
}

function interrupt(state: In<'overlapping'>, policy: TurnPolicy): Step {
  const actions = opening(state, state.sinceMs, policy.interrupts);
  // The client turned interruptions off after the reply was held.
  if (state.held && !policy.interrupts) actions.push({ type: 'reply-resume' });
  const memory = interrupted(state, policy.interrupts);
  return state.endedMs === undefined
    ? enter(memory, { phase: 'hearing', quietFromMs: state.sinceMs }, actions)
    : settle(memory, state.endedMs, state.sinceMs, policy, actions);
}

/** Resumes the reply. From now on, by default, only words stop it: the same kind of sound may come again. */
function resume(state: In<'overlapping'>, wary = true): Step {
  const actions: TurnAction[] = state.held ? [{ type: 'reply-resume' }] : [];
  return enter(state, { phase: 'replying', wary }, [{ type: 'overlap-close' }, ...actions]);
}

/** What the user says now is answered together with what was said before. */
function interrupted(memory: TurnMemory, aborts: boolean): TurnMemory {
  return aborts ? { ...memory, answering: undefined } : memory;
}

function onClosed(state: TurnState, utterance: Utterance | undefined, policy: TurnPolicy): Step {
  const answering = policy.answers ? utterance : state.answering;
  const next = { ...state, answering, spokenOver: state.isReplying };
  return answering === undefined && !state.isReplying ? endReply(next) : stay(next);
}

function onUnderstood(
  state: TurnState,
  { utterance, outcome, heardMs }: Extract<TurnEvent, { type: 'utterance-understood' }>,
): Step {
  if (utterance !== state.answering) return stay(state);
  const { isReplying, spokenOver } = state;
  const isSaid = outcome === 'words' || outcome === 'unclear';
  const next = { ...state, answering: undefined };
  if (isSaid && !isReplying) return { state: next, actions: [{ type: 'reply', to: { utterance, outcome } }] };
  const owesAnswer = state.owesAnswer || (isSaid && spokenOver);
  const last = isReplying ? stay({ ...next, owesAnswer }) : endReply(next, heardMs);
  return { ...last, actions: [{ type: 'draft-drop' }, ...last.actions] };
}

/** The next reply answers speech over this one, or continues with the scene. */
function onReplyEnd(
  before: TurnState,
  { heardByMs, isCancelled, hasCalls, wasPlayed, ...reply }: Extract<TurnEvent, { type: 'reply-end' }>,
  policy: TurnPolicy,
): Step {
  const ended = endReply(
    { ...before, isReplying: false, soundsFromMs: undefined, spokenOver: false, owesAnswer: false },
    heardByMs,
  );
  const { phase, answering } = ended.state;
  const userSpeaks = reply.userSpeaks || phase === 'hearing' || phase === 'settling' || answering !== undefined;
  const owesAnswer = before.owesAnswer && policy.answers && !isCancelled && !hasCalls && !userSpeaks;
  const goesOn = policy.goesOn && wasPlayed && mayGoOn(userSpeaks, policy.userPlays);
  return owesAnswer || goesOn ? { ...ended, actions: [...ended.actions, { type: 'reply' }] } : ended;
}

function endReply(before: TurnState, heardByMs?: number): Step {
  const state = { ...before, echoes: before.echoes && before.overlapped, overlapped: false };
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
  const { echoes, overlapped, unattributed, isReplying, soundsFromMs, answering, spokenOver, owesAnswer } = memory;
  const talk = { isReplying, soundsFromMs, answering, spokenOver, owesAnswer };
  const kept: TurnMemory = { echoes, overlapped, unattributed, ...talk };
  return { state: { ...phase, ...kept }, actions };
}

/** Speech start is reported before the reply is aborted: stock clients rely on that order. */
function opening({ soundsFromMs }: TurnMemory, atMs: number, aborts: boolean): TurnAction[] {
  const unbegun = soundsFromMs === undefined || atMs - soundsFromMs < cutInMs;
  return [{ type: 'utterance-open', atMs }, ...(aborts ? [{ type: 'reply-abort', unbegun } as const] : [])];
}
