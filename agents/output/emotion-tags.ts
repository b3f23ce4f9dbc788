import { emotions, type Emotion, type Felt } from '../../characters/emotion.ts';
import type { TextFilter } from './text-filter.ts';

/** Text with the emotion that it and what follows is said with, if that changes here. */
export interface FeltText extends Felt {
  readonly text: string;
}

const wholeTag = /^\[\s{0,8}(\p{L}[\p{L}\s-]{0,22})\]/u;
const tagSoFar = /^\[\s{0,8}(?:\p{L}[\p{L}\s-]{0,22})?$/u;
const sentenceEnd = /(?:^|[.!?…。！？\n]["”’」』)）]*)\s*$/u;

/** True if the text is empty or ends a sentence. */
export function endsSentence(text: string): boolean {
  return sentenceEnd.test(text);
}

/**
 * Removes the tag at the start of a sentence ("[sad] He is gone."). A tag that names an emotion applies to what
 * follows, as strong as a word before it says ("[very angry]"); any other word is dropped with its brackets. Brackets inside a sentence stay. Text is held back only while
 * it may still become a tag.
 */
export function emotionTags(): TextFilter<FeltText[]> {
  let held = '';
  /** Tail of the output, long enough to see whether a sentence ended. */
  let before = '';
  let now: Felt | undefined;
  let isBehindTag = false;

  const give = (text: string): FeltText[] => {
    const said = isBehindTag && /^$|\s$/.test(before) ? text.trimStart() : text;
    if (said === '') return [];
    before = (before + said).slice(-12);
    isBehindTag = false;
    const felt: FeltText = { text: said, ...now };
    now = undefined;
    return [felt];
  };
  const take = (isLast: boolean): FeltText[] => {
    const given: FeltText[] = [];
    while (held !== '') {
      const at = held.indexOf('[');
      given.push(...give(at < 0 ? held : held.slice(0, at)));
      held = at < 0 ? '' : held.slice(at);
      if (held === '') break;
      const tag = sentenceEnd.test(before) ? wholeTag.exec(held) : null;
      if (tag === null && sentenceEnd.test(before) && !isLast && tagSoFar.test(held)) break;
      if (tag === null) {
        given.push(...give('['));
        held = held.slice(1);
        continue;
      }
      held = held.slice(tag[0].length);
      isBehindTag = true;
      now = emotionNamed(tag[1] ?? '') ?? now;
    }
    return given;
  };
  return {
    add(delta) {
      held += delta;
      return take(false);
    },
    rest: () => take(true),
  };
}

/** Synonyms that models write instead of the given emotion names. */
const otherNames: Readonly<Record<Emotion, string>> = {
  calm: 'neutral quiet composed serene 平静 平和 淡定 冷静',
  cheerful: 'happy joyful joy excited amused playful 开心 高兴 快乐 欢快 喜悦 兴奋',
  tender: 'gentle warm loving affectionate soft 温柔 深情 亲切 温和',
  sad: 'sorrowful melancholy sorrow unhappy 悲伤 难过 伤心 哀伤 忧伤',
  angry: 'furious annoyed irritated anger 生气 愤怒 恼怒 气愤',
  afraid: 'fearful scared frightened nervous anxious fear 害怕 恐惧 惊恐 紧张',
  surprised: 'astonished shocked surprise amazed 惊讶 吃惊 惊奇 诧异',
};
const byName: ReadonlyMap<string, Emotion> = new Map(
  emotions.flatMap((emotion) => [emotion, ...otherNames[emotion].split(' ')].map((name) => [name, emotion] as const)),
);

/** Words of degree that models write before the name of an emotion. */
const degrees: readonly (readonly [intensity: number, words: string])[] = [
  [0.3, 'slightly|mildly|faintly|somewhat|a little|a bit|有点|有些|略带|稍微'],
  [0.6, 'rather|quite|fairly|pretty|moderately|相当|比较'],
  [1, 'very|deeply|extremely|intensely|terribly|really|so|utterly|非常|极其|极度|很|十分'],
];
const degreePatterns = degrees.map(
  ([intensity, words]) => [intensity, new RegExp(`^(?:${words})\\s*(?=\\p{L})`, 'u')] as const,
);

/** Returns the emotion that a tag names, with its intensity if a word states it; or undefined. */
export function emotionNamed(words: string): Felt | undefined {
  const said = words.trim().toLowerCase();
  const emotion = byName.get(said);
  if (emotion !== undefined) return { emotion };
  for (const [intensity, degree] of degreePatterns) {
    const named = byName.get(said.replace(degree, ''));
    if (named !== undefined) return { emotion: named, intensity };
  }
  return undefined;
}
