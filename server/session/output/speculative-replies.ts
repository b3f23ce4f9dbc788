import type { Message } from '../../../agents/chat.ts';
import { wordsOf } from '../history/backchannels.ts';
import type { SessionContext } from '../contract/context.ts';
import type { Speculation } from '../contract/events.ts';
import { messagesOf } from '../history/history.ts';
import { newReply, type Reply } from './reply.ts';
import { Trace } from '../contract/turn-timings.ts';

/** An answer that is being made, unknown to the client. */
interface Draft {
  readonly answers: string;
  readonly reply: Reply;
  readonly confirm: () => void;
}

/**
 * Answers prepared before it is certain that the user has finished. A draft that is not wanted is aborted, and no trace of it
 * stays but its cost: it is in nobody's history, the client has not been told, and what it would call has not been called.
 */
export class Drafts {
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

  /** Prepares the answer to `text`, instead of any other, as long as the turn may have more drafts. */
  make(text: string): void {
    const answers = wordsOf(text).join(' ');
    if (answers === '' || answers === this.#draft?.answers) return;
    this.drop();
    const { clock, company, draftsPerTurn } = this.#context;
    if (this.#made >= draftsPerTurn) return;
    this.#made += 1;
    const confirmed = Promise.withResolvers<void>();
    const reply = newReply(this.#context, { inConversation: true }, new Trace(clock), confirmed.promise);
    this.#draft = { answers, reply, confirm: confirmed.resolve };
    this.#run(reply, [...messagesOf(company.items), { role: 'user', text }]);
  }

  is(reply: Reply): boolean {
    return this.#draft?.reply === reply;
  }

  /** Aborts what is being prepared. */
  drop(): void {
    const reply = this.#draft?.reply;
    this.#draft = undefined;
    if (reply === undefined) return;
    reply.abort('turn_detected');
    this.#wastedTokens += reply.spent.tokens;
    this.#wastedSpeechMs += reply.spent.speechMs;
  }

  /** The draft that answers just these words, to be confirmed; any other is dropped. */
  take(text: string | undefined): Draft | undefined {
    const draft = this.#draft;
    if (text === undefined || draft?.answers !== wordsOf(text).join(' ')) {
      this.drop();
      return undefined;
    }
    this.#draft = undefined;
    return draft;
  }

  /** What this turn's drafts came to. The next turn begins at zero. */
  account(used: boolean): Speculation | undefined {
    if (this.#context.draftsPerTurn === 0) return undefined;
    const [drafts, wastedTokens, wastedSpeechMs] = [this.#made, this.#wastedTokens, this.#wastedSpeechMs];
    this.#made = 0;
    this.#wastedTokens = 0;
    this.#wastedSpeechMs = 0;
    return { drafts, used, wastedTokens, wastedSpeechMs: Math.round(wastedSpeechMs) };
  }
}
