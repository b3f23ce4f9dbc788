import type { SpeakerEncoder } from '../../voices/speaker-encoder.ts';
import type { TurnDetector } from '../../voices/turn-detector.ts';
import type { Vad } from '../../voices/vad.ts';
import type { Item, Speaker } from './contract/item.ts';
import type { Cast } from './contract/responder.ts';
import type { SavedState, SessionSettings } from './contract/settings.ts';
import type { ProbeLine } from './input/silence.ts';
import type { ListeningInput, Inbound, VadWindow } from './input/utterance.ts';
import { type SpeakingInput, Speaking } from './output/speaking.ts';
import { Acting, type ActingInput } from './history/acting.ts';
import { type PauseJudged, TurnTaking } from './turns/turn-taking.ts';
import { type VoiceJudged, OwnVoiceDetector } from './input/echo/echo-voice.ts';
import type { ErrorCode } from './contract/errors.ts';
import type { Bounds, Ports, SessionContext } from './history/context.ts';
import { Queue } from '../../voices/runtime/streams.ts';
import { Participants } from './history/participants.ts';
import { Conversation } from './history/conversation.ts';
import { addSilence, changeItems, fullProblem, type ItemCommand, Reports } from './history/item-commands.ts';
import {
  type Problem,
  type ReplyRequest,
  type SessionCommand,
  type SessionEvent,
  problemEvent,
} from './contract/events.ts';
import { Microphone } from './input/microphone.ts';
import { Listening } from './input/listening.ts';
import { Players } from './input/players.ts';
import { MessageMarks } from './input/message-marks.ts';
import { TurnTimings } from './contract/turn-timings.ts';

/** The engines that a session asks by itself; all others are behind its responder. */
export interface SessionEngines {
  readonly vad: Vad;
  /** Judges whether the user has finished; absent if pauses are not judged. */
  readonly turnDetector?: TurnDetector | undefined;
  /** Embeds voices to distinguish them; without one, the character's own voice is recognized only by its words. */
  readonly speakerEncoder?: SpeakerEncoder | undefined;
}

export interface SessionParts extends Cast, SessionEngines, Bounds, Ports, SavedState, Pick<SessionContext, 'recall'> {
  /** The client falls silent as soon as it is notified that a reply is held, and discards what it has not played. */
  readonly stopsAtOnce?: boolean;
  /** Tests if data of the client arrives; absent if it cannot stall. */
  readonly probeLine?: ProbeLine | undefined;
  readonly settings: SessionSettings;
  /** History of a conversation to continue. */
  readonly items?: readonly Item[] | undefined;
  /** Ids of those items that date from before the present participants joined. */
  readonly before?: ReadonlySet<string> | undefined;
}

/** An event of the game that breaks off a reply lets it finish a word that has at most this much left. */
const restOfWordMs = 90;

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
  /** Absent while there is one alone. */
  #players: Players | undefined;
  readonly #listening: Listening;
  readonly #speaking: Speaking;
  readonly #turns: TurnTaking;
  readonly #participants: Participants;
  readonly #voices: OwnVoiceDetector | undefined;
  readonly #marks: MessageMarks;
  #settings: SessionSettings;
  readonly #reports = new Reports();
  readonly #context: SessionContext<SessionInput>;
  /** Absent until the client sends a world, or offers actions. */
  #acting: Acting | undefined;

  constructor(parts: SessionParts) {
    this.#parts = parts;
    this.#settings = parts.settings;
    this.conversation = new Conversation(parts.keptAudioMs, parts.items);
    const emit = (event: SessionEvent): void => this.#tell(event);
    const hears = (): SessionSettings['hears'] => this.#settings.hears;
    const player = (): Speaker | undefined => this.#players?.speaker;
    this.#participants = new Participants(parts.clock, this.conversation, parts, { ...parts, emit, hears, player });
    const context: SessionContext<SessionInput> = {
      ...parts,
      participants: this.#participants,
      conversation: this.conversation,
      acting: () => this.#acting,
      player: () => ({ speaker: player() }),
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
      missesSound: () => (this.#players?.holder ?? 0) === 0 && this.#turns.missesSound,
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
        addSilence(this.#context, this.#listening.heardMs, sinceMs);
        this.#reply({ inConversation: true, situation: 'idle' });
      },
    });
    if (parts.world !== undefined) this.#game().restore(parts.world);
    if ((parts.settings.actions ?? []).length > 0) this.#game();
    this.#playersIn(parts.settings)?.follow(parts.settings);
  }

  /** Queues a command. Commands take effect in the order in which they are sent. */
  send(command: SessionCommand): void {
    if (command.type === 'update') this.#playersIn(command.settings);
    (this.#players ?? this.#microphone).send(command);
  }

  /** Continues with the state of earlier sessions; the world that the client has already sent stays. Settles when done. */
  restore({ feelings, world, story, ...related }: SavedState): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const run = (): void => {
      this.#participants.moods.restore(feelings);
      this.#participants.relations?.restore(related);
      if (story !== undefined) this.#participants.story?.restore(story);
      if (world !== undefined) this.#tell({ type: 'world-taken', ...this.#game().restore(world) });
      resolve();
    };
    this.#inputs.push({ type: 'due', run });
    return promise;
  }

  /** Notes that the client has disconnected, or is back: meanwhile missing audio is not silence. */
  away(isAway: boolean): void {
    (this.#players ?? this.#microphone).away(isAway);
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
    (this.#players ?? this.#microphone).close();
    this.#inputs.end();
  }

  #handle(input: SessionInput): void {
    if ('command' in input) return this.#obey(input.command);
    switch (input.type) {
      case 'heard':
        for (const heard of this.#players?.take(input, this.#settings) ?? [input]) this.#hear(heard);
        return;
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
        this.#players?.give(command.player, this.#settings);
        return this.#commitByClient(command.ref);
      case 'audio-clear':
        this.#players?.give(command.player, this.#settings);
        this.#listening.clear();
        this.#turns.advance({ type: 'utterance-taken' });
        return this.#tell({ type: 'audio-cleared' });
      case 'update':
        return this.#update(command);
      case 'reply':
        return this.#replyForClient(command.request, command.ref);
      case 'reply-cancel':
        if (this.#speaking.cancel('client_cancelled', command.id)) return;
        // LiveKit ignores errors whose message begins like this one.
        return this.#refuse('response_cancel_not_active', 'Cancellation failed: no active response found', command.ref);
      case 'reject':
        return this.#tell(problemEvent(command.problem, command.ref));
      case 'heard':
        return this.#speaking.heard(command);
      case 'item-add':
        return this.#addItem(command);
      case 'world':
        return this.#report(this.#game().take(command, this.#turns.floor), command.ref);
      case 'report':
        return this.#report(this.#reports.take(this.conversation.items, command, this.#context.emit), command.ref);
      case 'trigger':
        return this.#report(this.#participants.trigger(command), command.ref);
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
    const isOther = (settings.turnDetection === null) !== (this.#settings.turnDetection === null);
    const hasLeft = this.#players?.letGo(this.#settings, isOther) === true;
    if (isOther || hasLeft) {
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
    if (utterance === undefined)
      return this.#refuse('input_audio_buffer_commit_empty', 'There is no audio in the buffer to commit.', ref);
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

  /** The players, once the client has named some. */
  #playersIn({ players = [] }: SessionSettings): Players | undefined {
    if (players.length === 0) return this.#players;
    const around = { main: this.#microphone, listening: this.#listening, turns: this.#turns };
    return (this.#players ??= new Players({ ...this.#parts, ...around, push: (heard) => this.#inputs.push(heard) }));
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

  /** Stops the reply: after the present word if that is nearly over, else at once. Its line ends with a dash. */
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
    const leftMs = (word?.endMs ?? 0) - heardMs;
    if (leftMs > 0 && leftMs <= restOfWordMs) this.#acting?.after(leftMs, stop);
    else stop();
  }

  #tell(event: SessionEvent): void {
    this.#participants.note(event);
    if (event.type === 'speech-started' && this.#settings.turnDetection?.interruptsReply === true)
      this.#acting?.interrupt();
    this.events.push(this.#marks.marked(event));
    this.#participants.noted(event);
  }

  #report(problem: Problem | undefined, ref: string | undefined): void {
    if (problem !== undefined) this.#tell(problemEvent(problem, ref));
  }

  #refuse(code: ErrorCode, message: string, ref: string | undefined): void {
    this.#tell(problemEvent({ code, message }, ref));
  }
}
