import { emotions, type Emotion } from '../characters/emotion.ts';

/** Text, and how it and what follows is said from here on, where that changes. */
export interface FeltText {
  readonly text: string;
  readonly emotion?: Emotion;
}

/** Feeds text deltas through; `rest` gives what was held back at the end. */
export interface EmotionTags {
  add(delta: string): FeltText[];
  rest(): FeltText[];
}

const wholeTag = /^\[\s*(\p{L}[\p{L}\s-]{0,22})\]/u;
const tagSoFar = /^\[\s*(?:\p{L}[\p{L}\s-]{0,22})?$/u;
const sentenceEnd = /(?:^|[.!?…。！？\n]["”’」』)）]*)\s*$/u;

/** Whether a sentence, or nothing, ends here. */
export function endsSentence(text: string): boolean {
  return sentenceEnd.test(text);
}

/**
 * Takes the tag off the head of a sentence ("[sad] He is gone."). A tag that names an emotion tells how what follows is
 * said; any other word is dropped with its brackets. Brackets inside a sentence stay. Text is held back only while it may
 * still become a tag.
 */
export function emotionTags(): EmotionTags {
  let held = '';
  /** The end of what was given out: as much as it takes to see whether a sentence ended. */
  let before = '';
  let emotion: Emotion | undefined;
  let isBehindTag = false;

  const give = (text: string): FeltText[] => {
    const said = isBehindTag && /^$|\s$/.test(before) ? text.trimStart() : text;
    if (said === '') return [];
    before = (before + said).slice(-12);
    isBehindTag = false;
    const felt: FeltText = { text: said, ...(emotion === undefined ? {} : { emotion }) };
    emotion = undefined;
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
      emotion = emotionNamed(tag[1] ?? '') ?? emotion;
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

/** The emotion that a tag names, if it names one. */
export function emotionNamed(word: string): Emotion | undefined {
  return emotions.find((each) => each === word.trim().toLowerCase());
}
