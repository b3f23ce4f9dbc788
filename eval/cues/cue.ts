import type { AudioFrame } from '../../voices/audio.ts';
import type { CallOptions } from '../../voices/engine.ts';

/** One reply of a dialogue: its audio, and its text as reported by the system. */
export interface CueReply {
  readonly sound: AudioFrame;
  readonly text: string;
}

/** Input of a cue measurement. */
export interface CueDialogue {
  readonly role: string;
  readonly language: 'en' | 'zh';
  readonly replies: readonly CueReply[];
}

/** Result of a cue. An unavailable value is null, and `why` gives the reason. */
export interface CueResult {
  readonly values: Readonly<Record<string, number | null>>;
  readonly why?: string;
}

/** A paralinguistic cue: measured by signal processing or a model, not by the judge. */
export interface Cue {
  readonly name: string;
  /** Human-readable description and unit of each value. */
  readonly units: Readonly<Record<string, string>>;
  measure(dialogue: CueDialogue, options: CallOptions): Promise<CueResult>;
}

/**
 * Returns a placeholder for a cue whose model is not installed: every measurement reports `why`, so none is silently
 * missing.
 */
export function missingCue(name: string, units: Cue['units'], why: string): Cue {
  const values = Object.fromEntries(Object.keys(units).map((key) => [key, null]));
  return { name, units, measure: () => Promise.resolve({ values, why }) };
}
