/** What a system answered in one round. */
export interface Answer {
  /** What the system says that it said. */
  readonly text: string;
  /** What it heard of the user; null where it does not tell, or was given text. */
  readonly heard: string | null;
  /** Name in the run's audio store; null where no sound came. */
  readonly audio: string | null;
  readonly seconds: number;
  /** From the end of the user's speech (or text) to the first sound, at the client; null where there is none to measure. */
  readonly firstAudioMs: number | null;
  /** The server's own account of the wait, where it gives one. */
  readonly latency: unknown;
  /** Which mind answered, where the server tells. */
  readonly mind: string | null;
}

/** A system's part of one dialogue. */
export interface DialogueOutput {
  /** What the system told of itself: model, voice, engines. Null where it tells nothing. */
  readonly system: unknown;
  readonly answers: readonly Answer[];
}
