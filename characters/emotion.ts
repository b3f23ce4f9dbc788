/** Emotion labels of speech; `calm` is neutral. */
export const emotions = ['calm', 'cheerful', 'tender', 'sad', 'angry', 'afraid', 'surprised'] as const;

export type Emotion = (typeof emotions)[number];

/** An emotion and how strong it is, from 0 to 1; without an intensity, it is not known. */
export interface Felt {
  readonly emotion?: Emotion | undefined;
  readonly intensity?: number | undefined;
}
