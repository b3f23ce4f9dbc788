import type { TextCues } from './completeness.ts';

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
export function chineseCues(text: string): TextCues {
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
