/**
 * Who has the floor. `settling`: the user fell silent, perhaps for good. `overlapping`: the user makes a sound over the
 * reply, perhaps only a cough.
 */
export type TurnState =
  /** `idleSinceMs`: by then the user had heard what was said, and has said nothing since; absent where nobody waits. */
  | { readonly phase: 'listening'; readonly idleSinceMs?: number }
  | { readonly phase: 'hearing' }
  | { readonly phase: 'settling'; readonly sinceMs: number }
  | { readonly phase: 'replying' }
  | { readonly phase: 'overlapping'; readonly sinceMs: number };

/** `atMs` is audio time (samples heard), dated back to where the speech or the silence truly began. */
export type TurnEvent =
  | { readonly type: 'speech-start' | 'speech-end'; readonly atMs: number }
  /** Audio has come up to `atMs`; the last that was voiced ended at `voicedMs`. */
  | { readonly type: 'clock'; readonly atMs: number; readonly voicedMs: number }
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
  /** The user interrupts: stop the running reply. */
  | { readonly type: 'reply-abort' }
  /** The user has been silent since `sinceMs`: the character speaks up. */
  | { readonly type: 'speak-up'; readonly sinceMs: number };

export interface TurnPolicy {
  /** Silence after which the user's turn is over. */
  readonly settleMs: number;
  /** Speech over a reply that counts as an interruption. */
  readonly bargeInMs: number;
  /** Whether speaking over a reply stops it. */
  readonly interrupts: boolean;
  /** Silence after a reply from which on the character speaks up; absent means never. */
  readonly idleMs?: number;
}

/** Before anything was heard. */
export const initialTurn: TurnState = { phase: 'listening' };

/** The turn machine: pure, without a clock of its own. Actions are to be performed in order. */
export function step(
  state: TurnState,
  event: TurnEvent,
  policy: TurnPolicy,
): { readonly state: TurnState; readonly actions: readonly TurnAction[] } {
  switch (event.type) {
    case 'speech-start':
      return onSpeechStart(state, event.atMs);
    case 'speech-end':
      return onSpeechEnd(state, event.atMs);
    case 'clock':
      return onClock(state, event, policy);
    case 'reply-start':
      return stay(state.phase === 'listening' ? { phase: 'replying' } : state);
    case 'user-active':
      return stay(isIdle(state) ? { phase: 'listening', idleSinceMs: event.atMs } : state);
    case 'reply-end':
      if (state.phase === 'replying') return stay(listening(event.heardByMs));
      // The user was already talking when the reply ended by itself: what they say is theirs.
      if (state.phase === 'overlapping') return open(state.sinceMs, []);
      return stay(state);
    case 'utterance-taken':
      // Whoever speaks on over a reply begins to speak then.
      return stay(state.phase === 'replying' || state.phase === 'overlapping' ? { phase: 'replying' } : listening());
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

function onSpeechStart(state: TurnState, atMs: number): ReturnType<typeof step> {
  if (state.phase === 'listening') return open(atMs, []);
  if (state.phase === 'settling') return stay({ phase: 'hearing' });
  if (state.phase === 'replying') return stay({ phase: 'overlapping', sinceMs: atMs });
  return stay(state);
}

function onSpeechEnd(state: TurnState, atMs: number): ReturnType<typeof step> {
  if (state.phase === 'hearing') return stay({ phase: 'settling', sinceMs: atMs });
  if (state.phase === 'overlapping') return stay({ phase: 'replying' });
  return stay(state);
}

function onClock(
  state: TurnState,
  { atMs, voicedMs }: { readonly atMs: number; readonly voicedMs: number },
  policy: TurnPolicy,
): ReturnType<typeof step> {
  if (isIdle(state) && policy.idleMs !== undefined && atMs - state.idleSinceMs >= policy.idleMs) {
    return { state: { phase: 'replying' }, actions: [{ type: 'speak-up', sinceMs: state.idleSinceMs }] };
  }
  if (state.phase === 'settling' && atMs - state.sinceMs >= policy.settleMs) {
    return { state: { phase: 'replying' }, actions: [{ type: 'utterance-close', atMs: state.sinceMs }] };
  }
  // Counted in voice, not in time: the end of a cough is known only a moment after it.
  if (state.phase === 'overlapping' && voicedMs - state.sinceMs >= policy.bargeInMs) {
    return open(state.sinceMs, policy.interrupts ? [{ type: 'reply-abort' }] : []);
  }
  return stay(state);
}

function stay(state: TurnState): ReturnType<typeof step> {
  return { state, actions: [] };
}

/** The client is told of the speech before it is told what the speech stopped: stock clients count on that order. */
function open(atMs: number, after: readonly TurnAction[]): ReturnType<typeof step> {
  return { state: { phase: 'hearing' }, actions: [{ type: 'utterance-open', atMs }, ...after] };
}
