import type { Emotion } from '../../characters/emotion.ts';
import { basicEmotions, calmFeelings, type BasicEmotion, type Feelings } from '../feelings.ts';

/** Event that changes a character's feelings. */
export type FeltEvent =
  /** Somebody speaks to the character. */
  | { readonly type: 'heard'; readonly text: string }
  /** The character says something with this emotion. */
  | { readonly type: 'said'; readonly emotion: Emotion }
  /** Somebody interrupts the character. */
  | { readonly type: 'interrupted' }
  /** Something happens to the character: changes by name, others than its feelings are left aside. */
  | { readonly type: 'happened'; readonly change: Readonly<Record<string, number>> }
  | { readonly type: 'time'; readonly ms: number };

/** Half-life of a deviation from calm: one minute for emotions, twenty for intimacy. */
const emotionHalfLifeMs = 60_000;
const intimacyHalfLifeMs = 1_200_000;

type Change = Partial<Record<BasicEmotion | 'intimacy', number>>;

/** Effect of words on the listener: a small list of plain cases, English and Chinese. */
const lexicon: readonly (readonly [RegExp, Change])[] = [
  [
    /\b(?:thank(?:s| you)|bless you|well done|wonderful|brilliant|i (?:like|admire|trust) you)\b|谢谢|多谢|佩服|了不起|真棒/iu,
    { happiness: 2, anger: -1, intimacy: 0.6 },
  ],
  [
    /\b(?:(?:my )?dear friend|i love you|i missed you|you are my friend)\b|我爱你|想你|好朋友/iu,
    { happiness: 2, intimacy: 1.2 },
  ],
  [/\b(?:haha\w*|how funny|joke|merry|congratulations)\b|哈哈|恭喜|开心/iu, { happiness: 1.5 }],
  [/\b(?:i(?:'m| am|’m) (?:so )?sorry|forgive me|i apologi[sz]e)\b|对不起|抱歉|原谅/iu, { anger: -2, intimacy: 0.4 }],
  [
    /\b(?:stupid|idiot|fool|liar|coward|shut up|i hate you|you (?:are|'re|’re) (?:useless|boring|a fraud))\b|笨蛋|傻瓜|骗子|闭嘴|讨厌你|胆小鬼|弼马温/iu,
    { anger: 3, happiness: -1, intimacy: -1.2 },
  ],
  [
    /\b(?:is dead|has died|died|killed|lost (?:him|her|them|my)|lonely|grave|funeral|weep\w*|i(?:'m| am|’m) (?:so )?sad)\b|死了|去世|孤独|难过|伤心|哭/iu,
    { sadness: 2.5, happiness: -1 },
  ],
  [
    /\b(?:danger|beware|run for|fire!|help!|monster|ghost|he is coming|they are coming|gun)\b|危险|救命|妖怪|鬼|小心|快跑/iu,
    { fear: 2, surprise: 1 },
  ],
  [/\b(?:disgust\w*|vile|rotten|stench|filth\w*|revolting)\b|恶心|肮脏|臭/iu, { disgust: 3 }],
  [/\b(?:suddenly|surprise|guess what|unbelievable|you won't believe)\b|突然|没想到|居然|竟然/iu, { surprise: 2.5 }],
  [
    /\b(?:my (?:mother|father|wife|husband|son|daughter|childhood|secret)|between us|i feel|to tell you the truth)\b|我(?:妈|爸|妻子|丈夫|儿子|女儿|小时候)|秘密|说实话/iu,
    { intimacy: 0.5 },
  ],
];

const ownWords: Readonly<Record<Emotion, Change>> = {
  calm: { anger: -1, fear: -1, sadness: -0.5 },
  cheerful: { happiness: 1.5 },
  tender: { happiness: 0.5, intimacy: 0.5, anger: -1 },
  sad: { sadness: 1.5 },
  angry: { anger: 1.5 },
  afraid: { fear: 1.5 },
  surprised: { surprise: 1.5 },
};

/** Feelings after an event; deterministic. Values stay from 0 to 10. */
export function feel(feelings: Feelings, event: FeltEvent): Feelings {
  switch (event.type) {
    case 'heard':
      return lexicon
        .filter(([words]) => words.test(event.text))
        .reduce((state, [, change]) => moved(state, change), moved(feelings, { intimacy: 0.1 }));
    case 'said':
      return moved(feelings, ownWords[event.emotion]);
    case 'happened':
      return moved(feelings, event.change);
    case 'interrupted':
      return moved(feelings, { anger: 1, surprise: 0.5, intimacy: -0.2 });
    case 'time': {
      const rest = (halfLifeMs: number): number => 0.5 ** (Math.max(0, event.ms) / halfLifeMs);
      return mapped(feelings, (value, calm, name) => {
        return calm + (value - calm) * rest(name === 'intimacy' ? intimacyHalfLifeMs : emotionHalfLifeMs);
      });
    }
  }
}

/** Rounds to whole numbers, as used in prompts and sent to clients. */
export function rounded(feelings: Feelings): Feelings {
  return mapped(feelings, (value) => Math.round(value));
}

const words: readonly (readonly [BasicEmotion, string, Emotion])[] = [
  ['anger', 'angry', 'angry'],
  ['fear', 'afraid', 'afraid'],
  ['sadness', 'sad', 'sad'],
  ['disgust', 'disgusted', 'angry'],
  ['surprise', 'taken by surprise', 'surprised'],
  ['happiness', 'happy', 'cheerful'],
];
/** Deviation from calm at which an emotion enters the prompt, and at which it colours the voice. */
const toldFrom = 2;
const heardFrom = 4;
const closeFrom = 7;

const chineseWords: Readonly<Record<BasicEmotion, string>> = {
  anger: '生气',
  fear: '害怕',
  sadness: '难过',
  disgust: '厌恶',
  surprise: '惊讶',
  happiness: '高兴',
};

/** Returns one short line for the prompt; empty if the character is about calm. */
export function feelingsInWords(feelings: Feelings, isChinese = false): string {
  const stirred = stirredBy(feelings).filter(({ by }) => by >= toldFrom);
  const parts = stirred.slice(0, 2).map(({ name, word, by }) => {
    if (isChinese) return `${by >= heardFrom ? '很' : '有点'}${chineseWords[name]}`;
    return `${by >= heardFrom ? 'very' : 'a little'} ${word}`;
  });
  if (feelings.intimacy >= closeFrom) parts.push(isChinese ? '和对方很亲近' : 'close to whom you talk with');
  if (feelings.intimacy < 1) parts.push(isChinese ? '和对方很疏远' : 'distant from whom you talk with');
  if (parts.length === 0) return '';
  return isChinese
    ? `你现在${parts.join('，')}；让话里听得出来，但不要说破。`
    : `You feel ${parts.join(' and ')}; let it be heard, and do not speak of it.`;
}

/** Default emotion of a reply without emotion tags; undefined means unchanged. */
export function emotionOf(feelings: Feelings): Emotion | undefined {
  const [strongest] = stirredBy(feelings);
  if (strongest !== undefined && strongest.by >= heardFrom) return strongest.emotion;
  return feelings.intimacy >= closeFrom ? 'tender' : undefined;
}

/**
 * Strength of an emotion, if it is known only from the character's feelings: from 0.5 for one that they do not show, to 1
 * for one that is 8 of 10 above calm.
 */
export function intensityOf(emotion: Emotion, feelings: Feelings): number {
  const by = Math.max(0, ...stirredBy(feelings).flatMap((one) => (one.emotion === emotion ? [one.by] : [])));
  const share = emotion === 'tender' ? feelings.intimacy / 10 : by / 8;
  return Math.round((0.5 + 0.5 * Math.min(1, share)) * 100) / 100;
}

function stirredBy({ emotions }: Feelings): { name: BasicEmotion; word: string; emotion: Emotion; by: number }[] {
  return words
    .map(([name, word, emotion]) => ({ name, word, emotion, by: emotions[name] - calmFeelings.emotions[name] }))
    .toSorted((left, right) => right.by - left.by);
}

function moved(feelings: Feelings, change: Change): Feelings {
  return mapped(feelings, (value, _calm, name) => Math.min(10, Math.max(0, value + (change[name] ?? 0))));
}

function mapped(
  { emotions, intimacy }: Feelings,
  change: (value: number, calm: number, name: BasicEmotion | 'intimacy') => number,
): Feelings {
  const changed = basicEmotions.map((name) => [name, change(emotions[name], calmFeelings.emotions[name], name)]);
  return {
    emotions: Object.fromEntries(changed) as Feelings['emotions'],
    intimacy: change(intimacy, calmFeelings.intimacy, 'intimacy'),
  };
}
