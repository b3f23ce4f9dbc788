/** Hysteresis that decides when windows count as speech and when speech has ended. All probabilities are in [0, 1]. */
export interface VadHysteresisPolicy {
  /** Speech starts in a window of at least this probability. Default: 0.5. */
  readonly threshold?: number;
  /** Speech may be ending below this probability; between the two thresholds nothing changes. Default: 0.35. */
  readonly exitThreshold?: number;
  /** Shorter speech is never reported. With at most one window length (0, say), speech is reported at once. */
  readonly minSpeechMs: number;
  /** Shorter gaps are bridged, counted (as by Silero) from the end of their first window, which may hold speech. */
  readonly minSilenceMs: number;
  /** Length of a window; 32 for Silero. */
  readonly windowMs: number;
  /** True if speech is already under way at the first window. Default: false. */
  readonly speaking?: boolean;
}

/** A speech start or end: audio time at which the first window of the speech or of the silence starts. */
export interface SpeechEdge {
  readonly type: 'speech-start' | 'speech-end';
  readonly atMs: number;
}

/** Turns one probability per window into speech starts and ends; these alternate, and their times never go back. */
export interface VadHysteresis {
  push(probability: number): SpeechEdge | undefined;
  /** True from the report of a start until the report of its end. */
  readonly speaking: boolean;
}

/** Creates a hysteresis with its own clock, which starts at 0 and advances by `windowMs` with each push. */
export function createVadHysteresis(policy: VadHysteresisPolicy): VadHysteresis {
  const { threshold = 0.5, exitThreshold = 0.35, windowMs } = policy;
  const speechWindows = Math.ceil(policy.minSpeechMs / windowMs);
  const silenceWindows = Math.ceil(policy.minSilenceMs / windowMs) + 1;
  let windows = 0;
  let speaking = policy.speaking ?? false;
  /** First window of the run that may become the next edge. */
  let since: number | undefined;

  const turn = (type: SpeechEdge['type'], start: number): SpeechEdge => {
    speaking = type === 'speech-start';
    since = undefined;
    return { type, atMs: start * windowMs };
  };
  return {
    get speaking() {
      return speaking;
    },
    push(probability) {
      const current = windows;
      windows += 1;
      if (speaking) {
        if (probability >= threshold) since = undefined;
        if (!(probability < exitThreshold)) return undefined;
        since ??= current;
        return windows - since >= silenceWindows ? turn('speech-end', since) : undefined;
      }
      if (probability < exitThreshold) since = undefined;
      if (probability >= threshold) since ??= current;
      return since !== undefined && windows - since >= speechWindows ? turn('speech-start', since) : undefined;
    },
  };
}
