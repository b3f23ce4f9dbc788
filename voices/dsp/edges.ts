/** When a run of windows counts as speech, and when it is over. All probabilities in [0, 1]. */
export interface EdgePolicy {
  /** Speech begins in a window of at least this probability; 0.5 unless given. */
  readonly threshold?: number;
  /** Speech is doubted in a window below this one; between the two nothing changes. 0.35 unless given. */
  readonly exitThreshold?: number;
  /** Shorter speech is never reported. At most one window long (0, say) means: report at once. */
  readonly minSpeechMs: number;
  /**
   * Shorter gaps are bridged. Counted from the end of the gap's first window, as Silero's own iterator does: speech may
   * have filled most of that window.
   */
  readonly minSilenceMs: number;
  /** Length of a window: 32 for Silero. */
  readonly windowMs: number;
  /** Speech is under way when the first window comes; false unless given. */
  readonly speaking?: boolean;
}

/**
 * Where speech begins or ends, in audio time of the windows pushed: the start of the first window of the speech, or of
 * the first window of the silence. Both lie in the past by the time they are reported.
 */
export interface Edge {
  readonly type: 'speech-start' | 'speech-end';
  readonly atMs: number;
}

/** Turns one probability per window into edges; start and end alternate, and their times never go back. */
export interface Edges {
  push(probability: number): Edge | undefined;
  /** True from the report of a start to the report of its end. */
  readonly speaking: boolean;
}

/** Opens a hysteresis with its own clock, which starts at 0 and moves `windowMs` with each push. */
export function createEdges(policy: EdgePolicy): Edges {
  const { threshold = 0.5, exitThreshold = 0.35, windowMs } = policy;
  const speechWindows = Math.ceil(policy.minSpeechMs / windowMs);
  const silenceWindows = Math.ceil(policy.minSilenceMs / windowMs) + 1;
  let windows = 0;
  let speaking = policy.speaking ?? false;
  /** The first window of the run that may become the next edge. */
  let since: number | undefined;

  const turn = (type: Edge['type'], start: number): Edge => {
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
