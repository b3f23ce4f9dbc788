import type { Feelings } from '../../agents/feelings.ts';
import type { WorldChange } from '../../agents/surroundings.ts';
import type { SpeakerEncoder } from '../../voices/speaker-encoder.ts';
import type { TurnDetector } from '../../voices/turn-detector.ts';
import type { Vad } from '../../voices/vad.ts';
import type { Item } from './contract/item.ts';
import type { Cast } from './contract/responder.ts';
import type { SavedState } from './contract/saved-state.ts';
import type { ProbeLine } from './input/silence.ts';
import type { ListeningInput } from './input/utterance.ts';
import { type SpeakingInput, Speaking } from './output/speaking.ts';
import { Acting, type ActingInput } from './history/acting.ts';
import { type PauseJudged, TurnTaking } from './turns/turn-taking.ts';
import { type VoiceJudged, OwnVoiceDetector } from './input/echo/echo-voice.ts';
import type { ErrorCode } from './contract/errors.ts';
import type { Bounds, Ports } from './contract/ports.ts';
import { Queue } from '../../voices/runtime/streams.ts';
import { Participants } from './history/participants.ts';
import type { SessionContext } from './history/context.ts';
import { Conversation, changeItems, fullProblem, type ItemCommand } from './history/conversation.ts';
import {
  type Problem,
  type ReplyRequest,
  type SessionCommand,
  type SessionEvent,
  problemEvent,
} from './contract/events.ts';
import { type VadWindow, type Inbound, Microphone } from './input/microphone.ts';
import { reported } from './history/reports.ts';
import { Listening } from './input/listening.ts';
import { MessageMarks } from './input/message-marks.ts';
import type { SessionSettings } from './contract/settings.ts';
import { TurnTimings } from './contract/turn-timings.ts';

/** The engines that a session asks by itself; all others are behind its responder. */
export interface SessionEngines {
  readonly vad: Vad;
  /** Judges whether the user has finished; absent if pauses are not judged. */
  readonly turnDetector?: TurnDetector | undefined;
  /** Embeds voices to tell them apart; without one, the character's own voice is recognized by its words alone. */
  readonly speakerEncoder?: SpeakerEncoder | undefined;
}

export interface SessionParts extends Cast, SessionEngines, Bounds, Ports, Pick<SessionContext, 'recall'> {
  /** The client falls silent as soon as it is notified that a reply is held, and discards what it has not played. */
  readonly stopsAtOnce?: boolean;
  /** Tests whether what the client sends gets through; absent if nothing can be stuck on its way. */
  readonly probeLine?: ProbeLine | undefined;
  readonly settings: SessionSettings;
  /** History of a conversation to continue. */
  readonly items?: readonly Item[] | undefined;
  /** Ids of those items that date from before the present participants joined. */
  readonly before?: ReadonlySet<string> | undefined;
  /** Feelings of the participants at the end of its last reply, by id. */
  readonly feelings?: Readonly<Record<string, Feelings>> | undefined;
  /** How they stood with the user. */
  readonly relations?: SavedState['relations'];
  /** The world of the client's game in it. */
  readonly world?: WorldChange | undefined;
}

/** Longest time for which a reply continues after an event of the game that breaks it off, to the end of a word. */
const longestWordMs = 120;

/** Everything that can happen to a session; all of it goes through one queue. */
type SessionInput = VadWindow | Inbound | ListeningInput | SpeakingInput | PauseJudged | VoiceJudged | ActingInput;

/** One conversation: the only writer of its own state, fed by one queue. */
export class Session {
  /** Events for the client, in order. Ends when the session ends. */
  readonly events = new Queue<SessionEvent>();
  readonly conversation: Conversation;
  readonly #parts: SessionParts;
  readonly #inputs = new Queue<SessionInput>();
  readonly #microphone: Microphone;
  readonly #listening: Listening;
  readonly #speaking: Speaking;
  readonly #turns: TurnTaking;
  readonly #participants: Participants;
  readonly #voices: OwnVoiceDetector | undefined;
  readonly #marks: MessageMarks;
  #settings: SessionSettings;
  /** Reports of the client so far. */
  #reports = 0;
  readonly #context: SessionContext<SessionInput>;
  /** Absent until the client sends a world, or offers actions. */
  #acting: Acting | undefined;

  constructor(parts: SessionParts) {
    this.#parts = parts;
    this.#settings = parts.settings;
    this.conversation = new Conversation(parts.keptAudioMs, parts.items);
    const emit = (event: SessionEvent): void => this.#tell(event);
    this.#participants = new Participants(parts.clock, this.conversation, parts, { ...parts, emit });
    const context: SessionContext<SessionInput> = {
      ...parts,
      participants: this.#participants,
      conversation: this.conversation,
      acting: () => this.#acting,
      settings: () => this.#settings,
      stopsAtOnce: () => parts.stopsAtOnce === true,
      emit,
      post: (input) => this.#inputs.push(input),
    };
    this.#context = context;
    this.#microphone = new Microphone({
      vad: parts.vad,
      clock: parts.clock,
      turnDetection: parts.settings.turnDetection,
      missesSound: () => this.#turns.missesSound,
      probeLine: parts.probeLine,
    });
    this.#listening = new Listening(context);
    this.#marks = new MessageMarks(this.#listening);
    this.#speaking = new Speaking(context, (reply) => this.#turns.replyEnded(reply));
    this.#voices = parts.speakerEncoder === undefined ? undefined : new OwnVoiceDetector(parts.speakerEncoder, context);
    this.#turns = new TurnTaking({
      context,
      voices: this.#voices,
      listening: this.#listening,
      speaking: this.#speaking,
      nod: () => this.#reply({ inConversation: false, situation: 'nod' }),
      reply: (to) => {
        const answers = to?.outcome === 'words' ? { answers: to.utterance.content.transcript ?? '' } : {};
        this.#reply({ inConversation: true }, to?.utterance.trace, answers);
      },
      speakUp: (sinceMs) => {
        this.#listening.commitSilence(sinceMs);
        this.#reply({ inConversation: true, situation: 'idle' });
      },
    });
    if (parts.world !== undefined) this.#game().restore(parts.world);
    if ((parts.settings.actions ?? []).length > 0) this.#game();
  }

  /** Queues a command. Commands take effect in the order in which they are sent. */
  send(command: SessionCommand): void {
    this.#microphone.send(command);
  }

  /** Goes on with the state of earlier sessions; what the client has told of its world by now stays. Settles when it has. */
  restore({ feelings, relations, world }: SavedState): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const run = (): void => {
      this.#participants.moods.restore(feelings);
      this.#participants.relations?.restore(relations);
      if (world !== undefined) this.#tell({ type: 'world-taken', ...this.#game().restore(world) });
      resolve();
    };
    this.#inputs.push({ type: 'due', run });
    return promise;
  }

  /** Notes that the client has disconnected, or is back: meanwhile missing audio is not silence. */
  away(isAway: boolean): void {
    this.#microphone.away(isAway);
  }

  /** Audio received but not yet processed, in milliseconds. */
  get waitingAudioMs(): number {
    return this.#microphone.sentAudioMs - this.#listening.heardMs;
  }

  /** Runs until `close`. Never throws: a fault in one input is reported, and the next is taken. */
  async run(): Promise<void> {
    const taking = this.#microphone
      .run((input) => this.#inputs.push(input))
      .catch((fault: unknown) => {
        this.#parts.onFault(fault);
        this.close();
      });
    for await (const input of this.#inputs) {
      try {
        this.#handle(input);
        this.#react();
        if (this.#marks.isDue) this.#tell({ type: 'marked' });
      } catch (fault) {
        this.#parts.onFault(fault);
        this.#tell(problemEvent({ code: 'internal_error', message: 'An unexpected error occurred.' }));
      }
    }
    this.#listening.close();
    this.#speaking.close();
    this.#voices?.close();
    this.#acting?.close();
    this.events.end();
    await taking;
  }

  /** Ends the session: running replies stop, and `run` returns. */
  close(): void {
    this.#microphone.close();
    this.#inputs.end();
  }

  #handle(input: SessionInput): void {
    if ('command' in input) return this.#obey(input.command);
    switch (input.type) {
      case 'heard':
        return this.#hear(input);
      case 'transcript':
        return this.#understand(input);
      case 'transcript-failure':
        return this.#misunderstand(input);
      case 'voice-judged':
        return this.#turns.judgeOverlap(input.utterance);
      case 'pause-judged':
        return this.#turns.judged(input.pause, input.completeness);
      case 'reply-step':
        return this.#speaking.advance(input.reply, input.step);
      case 'reply-finish':
        return this.#speaking.finish(input.reply, input.failure);
      case 'due':
        return input.run();
    }
  }

  #obey(command: SessionCommand): void {
    this.#marks.begin(command);
    // A speculative reply is based on a conversation that this command may change.
    if (!['audio', 'heard', 'item-retrieve', 'action-done', 'report'].includes(command.type))
      this.#speaking.dropDraft();
    switch (command.type) {
      case 'audio':
        return; // Already processed by the microphone.
      case 'audio-commit':
        return this.#commitByClient(command.ref);
      case 'audio-clear':
        this.#listening.clear();
        this.#turns.advance({ type: 'utterance-taken' });
        return this.#tell({ type: 'audio-cleared' });
      case 'update':
        return this.#update(command);
      case 'reply':
        return this.#replyForClient(command.request, command.ref);
      case 'reply-cancel':
        if (!this.#speaking.cancel('client_cancelled', command.id)) {
          // LiveKit ignores errors whose message begins like this one.
          this.#refuse('response_cancel_not_active', 'Cancellation failed: no active response found', command.ref);
        }
        return;
      case 'reject':
        return this.#tell(problemEvent(command.problem, command.ref));
      case 'heard':
        return this.#speaking.heard(command);
      case 'item-add':
        return this.#addItem(command);
      case 'world':
        return this.#report(this.#game().take(command, this.#turns.floor), command.ref);
      case 'report':
        return this.#takeReport(command);
      case 'action-done':
        return this.#report(this.#game().done(command, this.#turns.floor), command.ref);
      default:
        return this.#changeItem(command);
    }
  }

  #changeItem(command: Exclude<ItemCommand, { readonly type: 'item-add' }>): void {
    const changed = changeItems(command, this.conversation, (event) => this.#tell(event));
    if (changed && command.type === 'item-truncate') this.#speaking.stopAt(command.id, command.heardMs);
  }

  #addItem(command: Extract<ItemCommand, { readonly type: 'item-add' }>): void {
    this.#turns.advance({ type: 'user-active', atMs: this.#listening.heardMs });
    // The next reply answers what is typed now, not speech from before.
    this.#listening.takeUnclear();
    this.#listening.takeTrace();
    changeItems(command, this.conversation, (event) => this.#tell(event));
    if (this.conversation.get(command.item.id) !== command.item) return;
    this.#listening.adopt(command.item);
    this.conversation.forgetOldMedia();
  }

  #update({ settings, echo, cast }: Extract<SessionCommand, { readonly type: 'update' }>): void {
    // Audio under push to talk is not part of an utterance that the VAD opened, and vice versa.
    if ((settings.turnDetection === null) !== (this.#settings.turnDetection === null)) {
      // The client got `speech_started`; send `cleared` so that it does not wait for a commit.
      if (this.#settings.turnDetection !== null && this.#listening.current !== undefined)
        this.#tell({ type: 'audio-cleared' });
      this.#listening.clear();
      this.#turns.advance({ type: 'utterance-taken' });
    }
    this.#settings = settings;
    if ((settings.actions ?? []).length > 0) this.#game();
    // No participant speaks for one that has left.
    if (cast !== undefined) this.#speaking.cancel('client_cancelled');
    if (cast !== undefined) this.#participants.change(cast);
    this.#tell({ type: 'updated', echo });
  }

  #hear(heard: VadWindow): void {
    if (this.#settings.turnDetection !== null) this.#turns.hear(heard);
    else {
      this.#listening.take(heard);
      if (this.#listening.current === undefined) this.#listening.open(heard.frame.atMs);
    }
    this.#microphone.recycle(heard);
    this.#marks.heard(heard.upTo);
  }

  #understand({ utterance, part }: Extract<SessionInput, { type: 'transcript' }>): void {
    if (utterance.tentative) return this.#turns.overlapTranscribed(utterance, part);
    if (part.type === 'transcript-final' && this.#voices?.attributes(utterance, part) === false) return;
    this.#turns.understood(this.#listening.understand(utterance, part));
    if (part.type === 'transcript-partial') this.#turns.transcribed(utterance);
  }

  #misunderstand({ utterance, reason }: Extract<SessionInput, { type: 'transcript-failure' }>): void {
    this.#turns.understood(this.#listening.misunderstand(utterance, reason));
    if (utterance.tentative) this.#turns.overlapTranscribed(utterance, undefined);
  }

  #commitByClient(ref: string | undefined): void {
    const utterance = this.#listening.commit();
    if (utterance === undefined) {
      return this.#refuse('input_audio_buffer_commit_empty', 'There is no audio in the buffer to commit.', ref);
    }
    this.#turns.advance({ type: 'utterance-taken' });
  }

  #replyForClient(request: ReplyRequest, ref: string | undefined): void {
    if (request.inConversation && this.#speaking.current !== undefined) {
      const message = 'The conversation already has an active response. Cancel it, or wait for it to end.';
      return this.#refuse('conversation_already_has_active_response', message, ref);
    }
    const problem = fullProblem(this.conversation) ?? (request.inConversation ? undefined : this.#speaking.fullProblem);
    if (problem !== undefined) return this.#tell(problemEvent(problem, ref));
    this.#reply(request, this.#listening.takeTrace());
  }

  #reply(
    request: ReplyRequest,
    trace = new TurnTimings(this.#parts.clock),
    answering: { readonly answers?: string } = {},
  ): void {
    if (request.inConversation) this.#turns.advance({ type: 'reply-start' });
    const fromHistory = request.items === undefined;
    const unclear = (): boolean => this.#listening.takeUnclear() && fromHistory;
    this.#speaking.start(request, trace, { hold: fromHistory && this.#listening.waiting, unclear, ...answering });
    if (request.inConversation) this.#acting?.replied();
  }

  #game(): Acting {
    return (this.#acting ??= new Acting(this.#context));
  }

  /** Lets the character react to the world, as soon as the game's wish and the turns allow it. */
  #react(): void {
    const due = this.#acting?.due(this.#turns.floor);
    if (due === undefined) return;
    if (due === 'cut') return this.#breakOff();
    if (fullProblem(this.conversation) !== undefined) return this.#acting?.replied();
    this.#reply({ inConversation: true, situation: 'event', ...(due === 'reply-if-any' ? { mayPass: true } : {}) });
  }

  /** Stops the reply after the present word; its line ends with a dash. */
  #breakOff(): void {
    this.#acting?.cuts();
    const reply = this.#speaking.current;
    const part = reply?.item?.content[0];
    const stop = (): void => {
      if (reply === undefined || this.#speaking.current !== reply || this.#turns.floor !== 'character') return;
      if (part?.type === 'audio') part.breaksOff = true;
      this.#speaking.cancel('event');
    };
    const heardMs = reply?.heardMs ?? 0;
    const word = part?.type === 'audio' ? part.words.findLast(({ startMs }) => startMs < heardMs) : undefined;
    const leftMs = Math.min(longestWordMs, (word?.endMs ?? 0) - heardMs);
    if (leftMs > 0) this.#acting?.after(leftMs, stop);
    else stop();
  }

  #tell(event: SessionEvent): void {
    this.#participants.moods.note(event);
    if (event.type === 'speech-started' && this.#settings.turnDetection?.interruptsReply === true)
      this.#acting?.interrupt();
    this.events.push(this.#marks.marked(event));
    this.#participants.relations?.note(event);
  }

  #takeReport({ ref, ...report }: Extract<SessionCommand, { readonly type: 'report' }>): void {
    const outcome = reported(this.conversation.items, report, this.#reports);
    if ('code' in outcome) return this.#report(outcome, ref);
    this.#reports += 1;
    this.#tell(outcome);
  }

  #report(problem: Problem | undefined, ref: string | undefined): void {
    if (problem !== undefined) this.#tell(problemEvent(problem, ref));
  }

  #refuse(code: ErrorCode, message: string, ref: string | undefined): void {
    this.#tell(problemEvent({ code, message }, ref));
  }
}
