import { durationMs } from '../../../voices/audio.ts';
import type { TranscriptPart } from '../../../voices/recognizer.ts';
import type { Floor } from '../history/acting.ts';
import type { SessionContext } from '../history/context.ts';
import { EchoGate } from '../input/echo/echo-guard.ts';
import type { OwnVoiceDetector } from '../input/echo/echo-voice.ts';
import type { VadWindow, Understood, Utterance } from '../input/utterance.ts';
import type { Cast } from '../contract/responder.ts';
import type { Listening } from '../input/listening.ts';
import type { SessionSettings } from '../contract/settings.ts';
import type { Reply } from '../output/reply.ts';
import type { Speaking } from '../output/speaking.ts';
import { needsAudio, step } from './turn.ts';
import { initialTurn, type TurnAction, type TurnEvent, type TurnPolicy, type TurnState } from './turn-state.ts';

/** Lead of a speculative reply before the end of a turn: what LLM and TTS usually need for their first audio. */
const draftLeadMs = 600;

interface TurnTakingParts {
  readonly context: SessionContext<PauseJudged>;
  readonly listening: Listening;
  readonly speaking: Speaking;
  /** Called when the user has been silent since `sinceMs`: the character speaks up. */
  readonly speakUp: (sinceMs: number) => void;
  /** Recognizes the character's own voice, if a speaker encoder is loaded. */
  readonly voices?: OwnVoiceDetector | undefined;
  /** Gives a backchannel by the character. */
  readonly nod: () => void;
  /** Begins a reply of the conversation, to this utterance if it comes right after it. */
  readonly reply: (to?: Understood) => void;
}

/** Feeds the turn machine with events of the input, and performs its actions. */
export class TurnTaking {
  readonly #parts: TurnTakingParts;
  readonly #pauses: PauseJudge;
  #known: { readonly settings: SessionSettings; readonly cast: Cast; readonly policy: TurnPolicy } | undefined;
  /** By player: each has a room of its own. */
  readonly #gates: Record<number, EchoGate> = {};
  #turn: TurnState = initialTurn;
  readonly #events: TurnEvent[] = [];
  #advancing = false;

  constructor(parts: TurnTakingParts) {
    this.#parts = parts;
    this.#pauses = new PauseJudge(parts.context);
  }

  get missesSound(): boolean {
    return needsAudio(this.#turn, this.#policy());
  }

  /** Whose turn it is to speak; the user's too while a sound over a reply may be words, or their answer is awaited. */
  get floor(): Floor {
    const { isReplying, answering } = this.#turn;
    if (!this.isFree || answering !== undefined) return 'user';
    return isReplying ? 'character' : 'free';
  }

  /** True if no sound of the user is being heard: another player may have the floor. */
  get isFree(): boolean {
    const { phase } = this.#turn;
    return (phase === 'listening' || phase === 'replying') && this.#parts.listening.current === undefined;
  }

  /** Takes a window of the user's audio, and removes the character's own voice from it. */
  hear(window: VadWindow): void {
    const { listening, speaking } = this.#parts;
    const gate = (this.#gates[window.player ?? 0] ??= new EchoGate());
    const { heard, found } = gate.sift(window, speaking.played);
    listening.take(heard);
    if (heard.edge !== undefined) this.advance(heard.edge);
    if (found) this.advance({ type: 'echo-found' });
    const { heardMs: atMs, voicedMs } = listening;
    const newMs = heard.voiced ? durationMs(heard.frame) : 0;
    const replyHeardMs = speaking.current?.heardMs ?? 0;
    this.advance({ type: 'clock', atMs, voicedMs, newMs, replySounds: speaking.sounds, replyHeardMs });
  }

  /** Gives the machine an event and performs its actions; events that these raise wait until all are performed. */
  advance(event: TurnEvent): void {
    this.#events.push(event);
    if (this.#advancing) return;
    this.#advancing = true;
    try {
      for (let next = this.#events.shift(); next !== undefined; next = this.#events.shift()) this.#take(next);
    } finally {
      this.#advancing = false;
    }
  }

  #take(event: TurnEvent): void {
    const next = step(this.#turn, event, this.#policy());
    this.#turn = next.state;
    for (const action of next.actions) this.#perform(action);
  }

  /** Handles a new partial transcript of an utterance. */
  transcribed(utterance: Utterance): void {
    if (this.#turn.phase === 'settling' && utterance === this.#parts.listening.current) this.#judge();
  }

  /** Handles an utterance whose outcome is known; undefined: not yet. */
  understood(understood: Understood | undefined): void {
    if (understood === undefined) return;
    const { utterance, outcome } = understood;
    const { listening, speaking, voices } = this.#parts;
    if (!listening.waiting) speaking.release();
    if (utterance === this.#turn.answering) {
      listening.takeTrace();
      if (outcome === 'words') voices?.enroll(utterance);
    }
    this.advance({ type: 'utterance-understood', ...understood, heardMs: listening.heardMs });
  }

  /** Handles the end of a reply of the conversation: spoken, failed or cancelled. */
  replyEnded(reply: Reply): void {
    const { listening } = this.#parts;
    const hasCalls = reply.calls.length > 0;
    // After a tool call the client continues with the result. The idle prompt is not repeated.
    const waitsForUser = !hasCalls && reply.request.situation !== 'idle';
    this.advance({
      type: 'reply-end',
      ...(waitsForUser ? { heardByMs: listening.heardMs + reply.unheardMs } : {}),
      isCancelled: reply.aborted,
      hasCalls,
      wasPlayed: reply.wasPlayed,
      userSpeaks: listening.current !== undefined,
    });
  }

  /** Takes the turn detector's answer to a question that `pause` put. */
  judged(pause: object, completeness: number | undefined): void {
    if (!this.#pauses.isLast(pause)) return;
    this.advance({ type: 'pause-judged', ...(completeness === undefined ? {} : { completeness }) });
  }

  /** Takes a transcript of a sound over the reply; undefined: recognition failed. */
  overlapTranscribed(utterance: Utterance, part: TranscriptPart | undefined): void {
    // Under push to talk, utterances do not open by themselves.
    if (this.#parts.context.settings().turnDetection === null) return;
    const said = part === undefined ? 'aside' : this.#parts.listening.classify(utterance, part);
    if (utterance.isOwnVoice) this.advance({ type: 'echo-heard' });
    // A voice without words may be the known echo.
    const isSure = !this.#turn.echoes || part?.text !== '';
    utterance.said = said === undefined || isSure ? said : 'unclear';
    this.judgeOverlap(utterance);
  }

  /** Classifies the sound over the reply: words are for the character, unless its own voice says them (echo). */
  judgeOverlap(utterance: Utterance): void {
    const { said, voiced, tentative, dropped } = utterance;
    if (said === undefined || voiced === undefined || !tentative || dropped) return;
    const { voices } = this.#parts;
    const isOver = this.#turn.phase !== 'overlapping' || this.#turn.endedMs !== undefined;
    const isOwn = said === 'words' && voices !== undefined ? voices.isOwn(utterance, isOver) : false;
    if (isOwn === undefined) return this.advance({ type: 'overlap-unattributed', utterance });
    utterance.hasOwnVoice = isOwn;
    if (isOwn) this.advance({ type: 'echo-heard' });
    const is = isOwn ? 'aside' : said;
    this.advance({ type: 'overlap-judged', is, sinceMs: voiced.fromMs, untilMs: voiced.toMs });
  }

  /** Rebuilt only if something has changed: it is read twice per window. */
  #policy(): TurnPolicy {
    const { context } = this.#parts;
    const settings = context.settings();
    const { cast } = context.participants;
    if (this.#known?.settings !== settings || this.#known.cast !== cast)
      this.#known = { settings, cast, policy: this.#policyOf(settings, cast) };
    return this.#known.policy;
  }

  #policyOf({ turnDetection: detection, speaks }: SessionSettings, cast: Cast): TurnPolicy {
    const { speculativeRepliesPerTurn } = this.#parts.context;
    const { bargeInMs, nodEveryMs } = cast;
    return {
      settleMs: detection?.silenceMs ?? 0,
      bargeInMs,
      interrupts: detection?.interruptsReply ?? false,
      answers: detection?.createsReply ?? false,
      userPlays: detection?.createsReply ?? true,
      goesOn: cast.responder.goesOn ?? false,
      ...(detection?.patience === undefined ? {} : { patience: detection.patience }),
      ...(speculativeRepliesPerTurn === 0 || detection?.createsReply !== true ? {} : { draftLeadMs }),
      ...(nodEveryMs === undefined || !speaks ? {} : { nodEveryMs }),
      ...(detection?.idleMs === undefined ? {} : { idleMs: detection.idleMs }),
    };
  }

  #judge(): void {
    const { context, listening } = this.#parts;
    const utterance = listening.current;
    if (utterance === undefined) return;
    const { turnDetection } = context.settings();
    if (turnDetection?.patience === undefined) this.advance({ type: 'pause-judged' });
    else this.#pauses.ask(utterance);
  }

  #perform(action: TurnAction): void {
    const { listening, speaking } = this.#parts;
    switch (action.type) {
      case 'utterance-open':
        return this.#open(action.atMs);
      case 'utterance-close':
        return this.#close();
      case 'pause':
        return this.#judge();
      case 'draft':
        return speaking.draft(listening.current?.text ?? '');
      case 'draft-drop':
        return speaking.dropDraft();
      case 'nod':
        return this.#parts.nod();
      case 'overlap-open':
        return listening.openOverlap(action.atMs, speaking.sounding());
      case 'overlap-close':
        return listening.closeOverlap();
      case 'overlap-attribute':
        return this.judgeOverlap(action.utterance);
      case 'overlap-drop':
        return listening.dropOverlap();
      case 'reply-hold':
        return speaking.hold();
      case 'reply-resume':
        return speaking.resume();
      case 'reply-abort':
        return speaking.interrupt(action.unbegun);
      case 'reply':
        return this.#parts.reply(action.to);
      case 'speak-up':
        return this.#parts.speakUp(action.sinceMs);
    }
  }

  #open(atMs: number): void {
    const { context, listening, speaking } = this.#parts;
    const { utterance, startMs } = listening.open(atMs, speaking.sounding());
    if (this.#policy().interrupts) speaking.ended.interrupt();
    context.emit({ type: 'speech-started', itemId: utterance.id, atMs: startMs });
  }

  #close(): void {
    const { context, listening } = this.#parts;
    const { current, heardMs } = listening;
    if (current !== undefined) {
      context.emit({ type: 'speech-stopped', itemId: current.id, atMs: Math.round(heardMs) });
    }
    this.advance({ type: 'utterance-closed', utterance: listening.commit() });
  }
}

/** The turn detector's verdict on a pause; undefined if it failed. */
export interface PauseJudged {
  readonly type: 'pause-judged';
  readonly pause: object;
  readonly completeness: number | undefined;
}

/** Asks the turn detector about the user's present pause; only the answer to the last question counts. */
export class PauseJudge {
  readonly #context: SessionContext<PauseJudged>;
  #asked = new AbortController();

  constructor(context: SessionContext<PauseJudged>) {
    this.#context = context;
  }

  /** Asks for the end-of-turn probability, which comes as `pause-judged`; empty without a detector or if it fails. */
  ask(utterance: Utterance): void {
    this.#asked.abort(new Error('superseded by a new pause'));
    this.#asked = new AbortController();
    void this.#judge(utterance, this.#asked.signal);
  }

  isLast(pause: object): boolean {
    return pause === this.#asked.signal;
  }

  async #judge(utterance: Utterance, pause: AbortSignal): Promise<void> {
    const { turnDetector, settings, post, onFault, conversation } = this.#context;
    const { language } = settings();
    const { line: before, said } = conversation.latest;
    let completeness: number | undefined;
    try {
      completeness = await turnDetector?.endOfTurnProbability(utterance.tail(), {
        signal: pause,
        text: said === '' ? utterance.text : `${said} ${utterance.text}`,
        ...(language === undefined ? {} : { language }),
        ...(before === undefined ? {} : { before }),
      });
    } catch (fault) {
      if (pause.aborted) return;
      onFault(fault);
    }
    post({ type: 'pause-judged', pause, completeness });
  }
}
