/** Emotion labels of speech; `calm` is neutral. */
export const emotions = ['calm', 'cheerful', 'tender', 'sad', 'angry', 'afraid', 'surprised'] as const;

export type Emotion = (typeof emotions)[number];
