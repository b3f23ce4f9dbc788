/** Ekman's six basic emotions, as used by Beyond Dialogue. */
export const basicEmotions = ['happiness', 'sadness', 'disgust', 'fear', 'surprise', 'anger'] as const;

export type BasicEmotion = (typeof basicEmotions)[number];

/** A character's feelings in a conversation: whole numbers from 0 to 10. */
export interface Feelings {
  readonly emotions: Readonly<Record<BasicEmotion, number>>;
  /** Closeness to the user. */
  readonly intimacy: number;
}

/** Feelings at rest, with a stranger who is welcome. */
export const calmFeelings: Feelings = {
  emotions: { happiness: 3, sadness: 0, disgust: 0, fear: 0, surprise: 1, anger: 0 },
  intimacy: 3,
};
