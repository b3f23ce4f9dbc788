import type { ErrorCode } from '../errors.ts';
import { Queue } from '../../voices/queue.ts';
import type { SessionContext, SessionInput, SessionParts } from './context.ts';
import { Conversation } from './conversation.ts';
import type { ReplyRequest, SessionCommand, SessionEvent } from './events.ts';
import type { Heard } from './hear.ts';
import { Intake } from './intake.ts';
import { changeItems, type ItemCommand } from './items.ts';
import { Listening, type Understood } from './listening.ts';
import type { SessionSettings } from './settings.ts';
import { Speaking } from './speaking.ts';
import { Trace } from './trace.ts';
import {
  initialTurn,
  missesSound,
  step,
  type TurnAction,
  type TurnEvent,
  type TurnPolicy,
  type TurnState,
} from './turn.ts';
import type { Utterance } from './utterance.ts';

/** One conversation: a single writer of its own state, fed by one queue. */
export class Session {
  /** What the client is to be told, in order. Ends when the session does. */
  readonly events = new Queue<SessionEvent>();
  readonly conversation: Conversation;
  readonly #parts: SessionParts;
  readonly #inputs = new Queue<SessionInput>();
  readonly #intake: Intake;
  readonly #listening: Listening;
  readonly #speaking: Speaking;
  #settings: SessionSettings;
  #turn: TurnState = initialTurn;
  /** The utterance whose transcript the character will answer. */
  #answering: Utterance | undefined;
  #unclear = false;

  constructor(parts: SessionParts) {
    this.#parts = parts;
    this.#settings = parts.settings;
    this.conversation = new Conversation(parts.keptAudioMs, parts.items);
    const context: SessionContext = {
      ...parts,
      conversation: this.conversation,
      settings: () => this.#settings,
      emit: (event) => this.events.push(event),
      post: (input) => this.#inputs.push(input),
      replyEnded: (reply) => {
        const heardByMs = this.#listening.heardMs + reply.unheardMs;
        // After a call it is the client's turn: the character waits for what comes back.
        this.#advance({ type: 'reply-end', ...(reply.calls.length > 0 ? {} : { heardByMs }) });
      },
    };
    this.#intake = new Intake({
      vad: parts.vad,
      clock: parts.clock,
      threshold: () => this.#settings.turnDetection?.threshold ?? 0.5,
      missesSound: () => missesSound(this.#turn, this.#policy()),
    });
    this.#listening = new Listening(context);
    this.#speaking = new Speaking(context);
  }

  /** Hands a command in; commands take effect in the order they came. */
  send(command: SessionCommand): void {
    this.#intake.send(command);
  }

  /** The client has dropped and may come back: what it does not send meanwhile is not silence. */
  away(isAway: boolean): void {
    this.#intake.away(isAway);
  }

  /** Sound handed in that has not been heard yet. */
  get waitingAudioMs(): number {
    return this.#intake.sentAudioMs - this.#listening.heardMs;
  }

  /** Lives until `close`. Never throws: a fault inside one input is reported and the next is taken. */
  async run(): Promise<void> {
    const taking = this.#intake
      .run((input) => this.#inputs.push(input))
      .catch((fault: unknown) => {
        this.#parts.onFault(fault);
        this.close();
      });
    for await (const input of this.#inputs) {
      try {
        this.#handle(input);
      } catch (fault) {
        this.#parts.onFault(fault);
        this.events.push({ type: 'problem', problem: { code: 'internal_error', message: 'Something went wrong.' } });
      }
    }
    this.#listening.close();
    this.#speaking.close();
    this.events.end();
    await taking;
  }

  /** Ends the session: what is being said stops, and `run` returns. */
  close(): void {
    this.#intake.close();
    this.#inputs.end();
  }

  #handle(input: SessionInput): void {
    if ('command' in input) return this.#obey(input.command);
    switch (input.type) {
      case 'heard':
        return this.#hear(input);
      case 'transcript':
        return this.#answer(this.#listening.understand(input.utterance, input.part));
      case 'transcript-failure':
        return this.#answer(this.#listening.misunderstand(input.utterance, input.reason));
      case 'reply-step':
        return this.#speaking.advance(input.reply, input.step);
      case 'reply-finish':
        return this.#speaking.finish(input.reply, input.failure);
    }
  }

  #obey(command: SessionCommand): void {
    switch (command.type) {
      case 'audio':
        return; // Already heard.
      case 'audio-commit':
        return this.#commitByClient(command.ref);
      case 'audio-clear':
        this.#listening.clear();
        this.#advance({ type: 'utterance-taken' });
        return this.events.push({ type: 'audio-cleared' });
      case 'update':
        return this.#update(command.settings, command.echo);
      case 'reply':
        return this.#replyForClient(command.request, command.ref);
      case 'reply-cancel':
        if (!this.#speaking.cancel('client_cancelled', command.id)) {
          // LiveKit passes over errors that begin like this one.
          this.#refuse('response_cancel_not_active', 'Cancellation failed: no active response found', command.ref);
        }
        return;
      case 'reject':
        return this.events.push({ type: 'problem', problem: command.problem, ...refOf(command.ref) });
      case 'heard':
        return this.#speaking.heard(command.replyId, command.heardMs);
      case 'item-add':
        return this.#addItem(command);
      default:
        return this.#changeItem(command);
    }
  }

  #changeItem(command: Exclude<ItemCommand, { readonly type: 'item-add' }>): void {
    const changed = changeItems(command, this.conversation, (event) => this.events.push(event));
    if (changed && command.type === 'item-truncate') this.#speaking.stopAt(command.id, command.heardMs);
  }

  #addItem(command: Extract<ItemCommand, { readonly type: 'item-add' }>): void {
    this.#advance({ type: 'user-active', atMs: this.#listening.heardMs });
    // What is typed now is what the next reply answers, not speech from before.
    this.#unclear = false;
    this.#listening.takeTrace();
    changeItems(command, this.conversation, (event) => this.events.push(event));
    if (this.conversation.get(command.item.id) !== command.item) return;
    this.#listening.adopt(command.item);
    this.conversation.forgetOldMedia();
  }

  #update(settings: SessionSettings, echo: unknown): void {
    // Sound appended under push to talk is no utterance of the VAD's, and the other way round.
    if ((settings.turnDetection === null) !== (this.#settings.turnDetection === null)) {
      this.#listening.clear();
      this.#advance({ type: 'utterance-taken' });
    }
    this.#settings = settings;
    this.events.push({ type: 'updated', echo });
  }

  #hear(heard: Heard): void {
    this.#listening.take(heard);
    if (this.#settings.turnDetection === null) {
      if (this.#listening.openId === undefined) this.#listening.open(heard.frame.atMs);
      return;
    }
    if (heard.edge !== undefined) this.#advance(heard.edge);
    this.#advance({ type: 'clock', atMs: this.#listening.heardMs, voicedMs: this.#listening.voicedMs });
  }

  #advance(event: TurnEvent): void {
    const next = step(this.#turn, event, this.#policy());
    this.#turn = next.state;
    for (const action of next.actions) this.#perform(action);
  }

  #policy(): TurnPolicy {
    const detection = this.#settings.turnDetection;
    return {
      settleMs: detection?.silenceMs ?? 0,
      bargeInMs: this.#parts.bargeInMs,
      interrupts: detection?.interruptsReply ?? false,
      ...(detection?.idleMs === undefined ? {} : { idleMs: detection.idleMs }),
    };
  }

  #perform(action: TurnAction): void {
    if (action.type === 'reply-abort') {
      this.#answering = undefined;
      this.#speaking.cancel('turn_detected');
      return;
    }
    if (action.type === 'utterance-open') {
      const { utterance, startMs } = this.#listening.open(action.atMs);
      return this.events.push({ type: 'speech-started', itemId: utterance.id, atMs: startMs });
    }
    if (action.type === 'speak-up') {
      this.#listening.commitSilence(action.sinceMs);
      return this.#reply({ inConversation: true, situation: 'idle' }, new Trace(this.#parts.clock));
    }
    const { openId, heardMs } = this.#listening;
    if (openId !== undefined) this.events.push({ type: 'speech-stopped', itemId: openId, atMs: Math.round(heardMs) });
    const utterance = this.#listening.commit();
    if (this.#settings.turnDetection?.createsReply === true) this.#answering = utterance;
    if (this.#answering === undefined && this.#speaking.current === undefined) this.#advance({ type: 'reply-end' });
  }

  /** Acts on an understood utterance: answers it, or gives the floor back. */
  #answer(understood: Understood | undefined): void {
    if (understood === undefined) return;
    const { utterance, outcome } = understood;
    this.#unclear = outcome !== 'words';
    if (!this.#listening.waiting) this.#speaking.release();
    if (utterance !== this.#answering) return;
    this.#answering = undefined;
    this.#listening.takeTrace();
    const busy = this.#speaking.current !== undefined;
    if (outcome === 'nothing' || outcome === 'failed' || busy) {
      if (!busy) this.#advance({ type: 'reply-end', heardByMs: this.#listening.heardMs });
      return;
    }
    this.#reply({ inConversation: true }, utterance.trace);
  }

  #commitByClient(ref: string | undefined): void {
    const utterance = this.#listening.commit();
    if (utterance === undefined) {
      return this.#refuse('input_audio_buffer_commit_empty', 'There is no audio in the buffer to commit.', ref);
    }
    this.#advance({ type: 'utterance-taken' });
  }

  #replyForClient(request: ReplyRequest, ref: string | undefined): void {
    if (request.inConversation && this.#speaking.current !== undefined) {
      const message = 'The conversation already has an active response. Cancel it, or wait for it to end.';
      return this.#refuse('conversation_already_has_active_response', message, ref);
    }
    this.#reply(request, this.#listening.takeTrace() ?? new Trace(this.#parts.clock));
  }

  #reply(request: ReplyRequest, trace: Trace): void {
    if (request.inConversation) this.#advance({ type: 'reply-start' });
    const fromHistory = request.items === undefined;
    const unclear = (): boolean => {
      const was = fromHistory && this.#unclear;
      this.#unclear = false;
      return was;
    };
    this.#speaking.start(request, trace, { hold: fromHistory && this.#listening.waiting, unclear });
  }

  #refuse(code: ErrorCode, message: string, ref: string | undefined): void {
    this.events.push({ type: 'problem', problem: { code, message }, ...refOf(ref) });
  }
}

function refOf(ref: string | undefined): { ref?: string } {
  return ref === undefined ? {} : { ref };
}
