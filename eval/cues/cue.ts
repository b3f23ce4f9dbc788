import type { AudioFrame } from '../../voices/audio.ts';
import type { CallOptions } from '../../voices/engine.ts';

/** One reply of a dialogue, as it sounds and as the system says that it reads. */
export interface CueReply {
  readonly sound: AudioFrame;
  readonly text: string;
}

/** What a cue is measured on. */
export interface CueDialogue {
  readonly role: string;
  readonly language: 'en' | 'zh';
  readonly replies: readonly CueReply[];
}

/** What a cue gave. A value that could not be had is null, and `why` says why. */
export interface CueResult {
  readonly values: Readonly<Record<string, number | null>>;
  readonly why?: string;
}

/** Something that instruments measure, and no judge can imagine. */
export interface Cue {
  readonly name: string;
  /** Of each value, for people: what it is, and its unit. */
  readonly units: Readonly<Record<string, string>>;
  measure(dialogue: CueDialogue, options: CallOptions): Promise<CueResult>;
}

/** A cue whose part is not installed: every measurement says so, and none is dropped. */
export function missingCue(name: string, units: Cue['units'], why: string): Cue {
  const values = Object.fromEntries(Object.keys(units).map((key) => [key, null]));
  return { name, units, measure: () => Promise.resolve({ values, why }) };
}
