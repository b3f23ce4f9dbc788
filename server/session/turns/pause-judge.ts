import type { SessionContext } from '../history/context.ts';
import type { Utterance } from '../input/utterance.ts';

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

  /**
   * Asks for the end-of-turn probability. The answer comes as `pause-judged`; without a detector, or if it fails, it
   * comes empty.
   */
  ask(utterance: Utterance): void {
    this.#asked.abort(new Error('superseded by a new pause'));
    this.#asked = new AbortController();
    void this.#judge(utterance, this.#asked.signal);
  }

  isLast(pause: object): boolean {
    return pause === this.#asked.signal;
  }

  async #judge(utterance: Utterance, pause: AbortSignal): Promise<void> {
    const { turnDetector, settings, post, onFault } = this.#context;
    const { language } = settings();
    let completeness: number | undefined;
    try {
      completeness = await turnDetector?.endOfTurnProbability(utterance.tail(), {
        signal: pause,
        text: utterance.text,
        ...(language === undefined ? {} : { language }),
      });
    } catch (fault) {
      if (pause.aborted) return;
      onFault(fault);
    }
    post({ type: 'pause-judged', pause, completeness });
  }
}
