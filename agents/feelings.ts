/** The six basic emotions of Ekman, as Beyond Dialogue counts them. */
export const basicEmotions = ['happiness', 'sadness', 'disgust', 'fear', 'surprise', 'anger'] as const;

export type BasicEmotion = (typeof basicEmotions)[number];

/** How a character feels in a talk: whole numbers from 0 to 10. */
export interface Feelings {
  readonly emotions: Readonly<Record<BasicEmotion, number>>;
  /** How close it is to whom it talks with. */
  readonly intimacy: number;
}

/** At rest, with a stranger who is welcome. */
export const calmFeelings: Feelings = {
  emotions: { happiness: 3, sadness: 0, disgust: 0, fear: 0, surprise: 1, anger: 0 },
  intimacy: 3,
};
