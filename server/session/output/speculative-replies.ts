import type { Message } from '../../../agents/chat.ts';
import { wordsOf } from '../input/overlap-classifier.ts';
import type { SessionContext } from '../history/context.ts';
import type { Speculation } from '../contract/events.ts';
import { messagesOf } from '../history/conversation.ts';
import { Reply } from './reply.ts';
import { TurnTimings } from '../contract/turn-timings.ts';

/** A speculative reply, unknown to the client. */
interface Draft {
  readonly answers: string;
  readonly reply: Reply;
  readonly confirm: () => void;
}

/**
 * Speculative replies, begun before the end of the turn is certain. One that is not wanted is aborted and leaves no
 * trace but its cost: it is in no history, nothing was sent to the client, and its tool calls have not been made.
 */
export class SpeculativeReplies {
  readonly #context: SessionContext;
  readonly #run: (reply: Reply, history: readonly Message[]) => void;
  #draft: Draft | undefined;
  #made = 0;
  #wastedTokens = 0;
  #wastedSpeechMs = 0;

  /** `run` makes a reply, and ends it with `finish`. */
  constructor(context: SessionContext, run: (reply: Reply, history: readonly Message[]) => void) {
    this.#context = context;
    this.#run = run;
  }

  /** Begins a speculative reply to `text`, replacing any other, unless the turn has used up its number. */
  make(text: string): void {
    const answers = wordsOf(text).join(' ');
    if (answers === '' || answers === this.#draft?.answers) return;
    this.drop();
    const { clock, participants, speculativeRepliesPerTurn } = this.#context;
    if (this.#made >= speculativeRepliesPerTurn) return;
    this.#made += 1;
    const confirmed = Promise.withResolvers<void>();
    const reply = new Reply(this.#context, { inConversation: true }, new TurnTimings(clock), confirmed.promise);
    this.#draft = { answers, reply, confirm: confirmed.resolve };
    this.#run(reply, [...messagesOf(participants.items), participants.saying(text)]);
  }

  is(reply: Reply): boolean {
    return this.#draft?.reply === reply;
  }

  drop(): void {
    const reply = this.#draft?.reply;
    this.#draft = undefined;
    if (reply === undefined) return;
    reply.abort('turn_detected');
    this.#wastedTokens += reply.spent.tokens;
    this.#wastedSpeechMs += reply.spent.speechMs;
  }

  /** Returns the speculative reply to exactly these words, to be confirmed; drops any other. */
  take(text: string | undefined): Draft | undefined {
    const draft = this.#draft;
    if (text === undefined || draft?.answers !== wordsOf(text).join(' ')) {
      this.drop();
      return undefined;
    }
    this.#draft = undefined;
    return draft;
  }

  /** Returns the cost of this turn's speculative replies, and resets it for the next turn. */
  account(used: boolean): Speculation | undefined {
    if (this.#context.speculativeRepliesPerTurn === 0) return undefined;
    const [drafts, wastedTokens, wastedSpeechMs] = [this.#made, this.#wastedTokens, this.#wastedSpeechMs];
    this.#made = 0;
    this.#wastedTokens = 0;
    this.#wastedSpeechMs = 0;
    return { drafts, used, wastedTokens, wastedSpeechMs: Math.round(wastedSpeechMs) };
  }
}
