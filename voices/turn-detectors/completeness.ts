import { writingOf } from '../text/scripts.ts';
import { englishCues } from './completeness-english.ts';

/** Cues in a transcript for whether its speaker has finished; most are 0 or 1. */
export type TextCues = Readonly<Record<string, number>>;

/** Weights of a logistic regression: natural logarithms of odds ratios. */
export type CueWeights = Readonly<Record<string, number>>;

/**
 * Weights of the cues (see `test/bench/MEASURED.md`): a logistic regression on 37,886 sentences of the
 * packs in `characters/`, whole and cut short after each of their words, with the final marks that Moonshine writes;
 * the area under the curve is 0.92 on unseen packs. Those marked were set by hand, because they are too rare there.
 */
const english: CueWeights = {
  bias: 1.53,
  asked: 1.21,
  unasked: -3.08,
  questionMark: 1.15,
  comma: -3.18,
  unmarked: -3.57,
  oneWord: -3.69,
  twoWords: -2.2,
  threeWords: -1.12,
  article: -4.46,
  conjunction: -3.08,
  preposition: -2.11,
  particle: -1.96,
  subject: -2.95,
  auxiliary: -2.39,
  questionWord: -1.4,
  verb: -1.53,
  pointer: -1.31,
  degree: -1.3,
  // By hand.
  answer: -0.5,
  filler: -5,
  fillerPhrase: -3,
  waits: -2,
  possessive: -2,
  number: -1,
  counting: -1.5,
  digits: -1,
};

/** The same for Chinese: 4,007 sentences of one pack, area under the curve 0.85 in held-out fifths. */
const chinese: CueWeights = {
  bias: 0.48,
  asks: 0.47,
  questionMark: 0.91,
  comma: -1.68,
  unmarked: -1.25,
  oneOrTwo: -2.38,
  threeOrFour: -1.17,
  particle: 0.81,
  done: 1.05,
  of: -0.26,
  preposition: -0.5,
  verb: -1.09,
  pronoun: -0.41,
  pointer: -0.49,
  // By hand.
  answer: 2,
  filler: -4,
  waits: -2,
  conjunction: -4,
  number: -1,
};

/** Limit of the logit from words alone, 2 % and 98 %: people do stop after "the", and go on after "thank you". */
const mostLogit = 4;

/**
 * Returns how complete a transcript looks, as log-odds: 0 is undecided, above is complete. Supports English and
 * Chinese; returns 0 for other languages and for text without words. Pure.
 */
export function textLogit(text: string, language?: string): number {
  const cues = textCues(text, language);
  if (cues === undefined) return 0;
  const weights = cues.language === 'zh' ? chinese : english;
  return Math.max(-mostLogit, Math.min(mostLogit, logistic(cues.cues, weights)));
}

/** Number of characters at the end of a transcript that are examined. */
const lookedAt = 1_000;

/** Returns the cues of a transcript and the language they are for; undefined if there is nothing to go by. */
export function textCues(
  transcript: string,
  language?: string,
): { readonly language: 'en' | 'zh'; readonly cues: TextCues } | undefined {
  const text = transcript.slice(-lookedAt);
  const writing = writingOf(text);
  if (writing.script === undefined && !/\p{N}/u.test(text)) return undefined;
  // A Chinese speaker may say an English sentence, so the script of the text counts most.
  if (writing.script === 'han') return { language: 'zh', cues: chineseCues(text) };
  const isEnglish = writing.script === 'latin' && (language === undefined || /^(en|zh)\b/i.test(language));
  return isEnglish ? { language: 'en', cues: englishCues(text) } : undefined;
}

/** Returns the weighted sum of cues and the bias: a logit. Cues without a weight do not count. */
export function logistic(cues: TextCues, weights: CueWeights): number {
  return Object.entries(cues).reduce((sum, [cue, value]) => sum + value * (weights[cue] ?? 0), weights['bias'] ?? 0);
}

/** Converts a logit to a probability. */
export function probabilityOf(logit: number): number {
  return 1 / (1 + Math.exp(-logit));
}

const endings = (list: string): RegExp => new RegExp(`(?:${list.split(' ').join('|')})$`, 'u');

/** Sentence endings that are cues; a text may have several. */
const kinds: Readonly<Record<string, RegExp>> = {
  /** Sentence-final particles. */
  particle: endings('吗 呢 吧 啊 呀 嘛 啦 哦 喔 哪 么 咧 呗 罢'),
  done: endings('了 过'),
  of: endings('的 地 得'),
  conjunction: endings(
    '因为 但是 可是 然后 而且 或者 还是 如果 虽然 所以 不过 就是 要是 只要 只有 除非 以及 并且 于是 那么 比如 例如 和 跟 与 及 或 而 但 且 若 虽',
  ),
  preposition: endings('在 把 被 给 对 向 从 为 往 以 于 关于 对于 根据 按照 通过 由 将 让 使 叫 比 像 除了'),
  verb: endings(
    '是 有 要 想 会 能 可以 应该 需要 觉得 认为 希望 知道 告诉 说 去 来 做 问 听说 打算 正在 已经 不 没 没有 很 太 更 最 都 也 就 才 又 再 还',
  ),
  pronoun: endings('我 你 他 她 它 您 我们 你们 他们 咱们 俺'),
  pointer: endings('这 那 这个 那个 一个 一种 这种 那种 哪个 每 每个 几 几个 某 个 些 一些 第'),
  filler: endings('嗯 呃 额 唔 那个 就是说 怎么说'),
  number: endings('[零〇一二三四五六七八九十百千万亿两\\d]+ 年 月 点'),
};

const answers =
  /^(?:好|好的|好啊|好吧|行|可以|对|对的|是|是的|不|不是|不行|不要|不用|没有|没|有|会|哦|知道了|明白了|谢谢|谢谢你|多谢|再见|拜拜|你好|您好|大圣好|没事|没关系|当然|当然可以|真的|真的吗|为什么|什么|怎么了|算了|停|等等|继续|走吧)$/u;

const asks =
  /什么|怎么|为什么|为何|哪里|哪儿|哪个|谁|多少|几|吗|呢|是不是|能不能|会不会|有没有|好不好|可不可以|如何|何时|难道/u;

const waits = /^(?:如果|要是|假如|因为|虽然|既然|当|只要|除非|无论|不管|由于|自从|等)/u;

/**
 * Extracts cues from the last sentence of a Chinese transcript: its ending, question words, and the recognizer's final
 * punctuation mark.
 */
function chineseCues(text: string): TextCues {
  const trimmed = text.trim();
  const sentence = trimmed.match(/[^。！？!?]+[。！？!?]*$/u)?.[0] ?? trimmed;
  const plain = sentence.replaceAll(/[^\p{L}\p{N}]/gu, '');
  const isAnswer = answers.test(plain);
  const flag = (fact: boolean): number => (fact ? 1 : 0);
  const cues: Record<string, number> = {
    answer: flag(isAnswer),
    asks: flag(asks.test(plain)),
    waits: flag(waits.test(plain) && !/[，,].{2}/u.test(sentence)),
    oneOrTwo: flag(plain.length <= 2 && !isAnswer),
    threeOrFour: flag(plain.length > 2 && plain.length <= 4 && !isAnswer),
    questionMark: flag(/[？?]$/u.test(trimmed)),
    comma: flag(/(?:[，,、；;：:]|…+|\.{2,})$/u.test(trimmed)),
    // A recognizer without punctuation says nothing by leaving the last mark out.
    unmarked: flag(/[\p{L}\p{N}]$/u.test(trimmed) && /[。，！？,.!?]/u.test(trimmed)),
  };
  for (const [name, pattern] of Object.entries(kinds)) cues[name] = flag(!isAnswer && pattern.test(plain));
  return cues;
}
