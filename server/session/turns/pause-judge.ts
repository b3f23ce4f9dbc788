import type { SessionContext } from '../contract/context.ts';
import type { Utterance } from '../input/utterance.ts';

/** Asks the turn detector about the pause the user is in; only its answer to the last question counts. */
export class PauseJudge {
  readonly #context: SessionContext;
  #asked = new AbortController();

  constructor(context: SessionContext) {
    this.#context = context;
  }

  /** Asks whether the user has finished. The answer comes as `pause-judged`; without a detector, or when it fails, at once and empty. */
  ask(utterance: Utterance): void {
    this.#asked.abort(new Error('asked anew'));
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
      completeness = await turnDetector?.completeness(utterance.tail(), {
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
