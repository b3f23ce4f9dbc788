/** A system's answer in one round. */
export interface Answer {
  /** Text of the answer, as reported by the system. */
  readonly text: string;
  /** The system's transcript of the user; null if it reports none or was given text. */
  readonly heard: string | null;
  /** Name in the run's audio store; null if no audio arrived. */
  readonly audio: string | null;
  readonly seconds: number;
  /** Delay from the end of the user's speech (or text) to the first audio at the client; null if unknown. */
  readonly firstAudioMs: number | null;
  /** The server's own latency breakdown, if it sends one. */
  readonly latency: unknown;
  /** Name of the reply source that answered, if the server reports it. */
  readonly mind: string | null;
}

/** A system's output for one dialogue. */
export interface DialogueOutput {
  /** The system's description of itself: model, voice, engines. Null if it gives none. */
  readonly system: unknown;
  readonly answers: readonly Answer[];
}
