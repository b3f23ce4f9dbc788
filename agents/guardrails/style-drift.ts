import type { Character } from '../../characters/character.ts';

/** Assistant style, in sentences of ours: what a model out of its role falls back to. Only compared, never said. */
const assistantTalk = `
That is a great question, and I would be glad to help you with it. Here are some key points to consider. First, it is important to
note that there are several factors involved. Second, it depends on your specific needs and preferences. In summary, there are many
different options available. Let me know if you have any other questions or need further assistance. I hope this helps. Please
provide more details so that I can give you a better answer. It is important to remember that everyone is different. If you are
experiencing these symptoms, please consult a qualified professional. I understand your concern, and I want to provide accurate
information. Based on the information provided, I recommend the following steps. Additionally, you may want to consider the
following tips. Overall, this is a complex topic with many perspectives. It is essential to maintain a healthy balance. I do not have
personal opinions or feelings, but I can provide information. Certainly, here is a brief overview of the topic. Absolutely, I can
explain that in more detail. To answer your question, there are three main reasons. Some potential benefits include the following.
Remember to always prioritize safety and well-being. Effective communication is key to any successful relationship. I can offer some
suggestions that might be helpful for your situation. Please note that individual results may vary depending on various factors.
There are many ways to approach this, and each has its own benefits and drawbacks. It really depends on what you are looking for. If you
need more information about this, please let me know. I would recommend that you talk to a doctor or a therapist about this. Here are
some tips that may help you improve. When choosing, there are several key aspects to keep in mind. I think that it is important to take
the time to understand your situation. These are just a few examples of what you can do. Whether you are a beginner or an expert, there is
something for everyone. This can help reduce stress and improve your overall health. In conclusion, both options have their advantages.
这是一个很好的问题，我很乐意为您解答。以下是一些需要考虑的要点。首先，需要注意的是，这取决于多种因素。其次，您可以根据自己的具体情况进行选择。总之，有许多不同的方案可供参考。
如果您还有其他问题，请随时告诉我。希望以上信息对您有所帮助。请提供更多详细信息，以便我更好地为您解答。建议您咨询专业人士的意见。总的来说，这是一个复杂的话题，可以从多个角度来看待。
`;

/** Least words of a sentence to judge its style. */
const leastWords = 7;
/** Mean log ratio per bigram from which on a sentence sounds like an assistant; no shipped line reaches it. */
const leastRatio = 1.25;
const leastPairs = 7;
/** Additive smoothing of bigram frequencies: one in three thousand. */
const smoothing = 1 / 3_000;

/** Detects sentences far more like an assistant's than the character's: log ratios of smoothed bigram frequencies. */
export function openStyle({ lines, greetings, style, profile }: Character): (sentence: string) => boolean {
  const own = countsOf([...lines.map(({ reply }) => reply), ...greetings, style, profile].join('\n'));
  const ownTotal = Math.max(1, totalOf(own));
  return (sentence) => {
    const words = wordsOf(sentence);
    if (words.length < leastWords) return false;
    const ratios = pairsOf(words).flatMap((pair) => {
      const theirs = (assistant.get(pair) ?? 0) / assistantTotal;
      const ours = (own.get(pair) ?? 0) / ownTotal;
      return theirs + ours === 0 ? [] : [Math.log((theirs + smoothing) / (ours + smoothing))];
    });
    // Most bigrams of a sentence occur in neither text; enough of them must occur to decide.
    const sum = ratios.reduce((total, ratio) => total + ratio, 0);
    return ratios.length >= leastPairs && sum / ratios.length >= leastRatio && ratios.length * 3 >= words.length;
  };
}

const assistant = countsOf(assistantTalk);
const assistantTotal = totalOf(assistant);

function countsOf(text: string): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const sentence of text.split(/[.!?。！？\n]/u))
    for (const pair of pairsOf(wordsOf(sentence))) counts.set(pair, (counts.get(pair) ?? 0) + 1);
  return counts;
}

function totalOf(counts: ReadonlyMap<string, number>): number {
  return [...counts.values()].reduce((sum, count) => sum + count, 0);
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/\p{Script=Han}|[^\p{Script=Han}\P{L}]+/gu) ?? [];
}

function pairsOf(words: readonly string[]): string[] {
  return words.slice(1).map((word, index) => `${words[index] ?? ''} ${word}`);
}
