/** How a sentence may be said, in plain labels; `calm` is how one talks when nothing stirs. */
export const emotions = ['calm', 'cheerful', 'tender', 'sad', 'angry', 'afraid', 'surprised'] as const;

export type Emotion = (typeof emotions)[number];
