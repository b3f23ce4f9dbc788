import { parseTolerant } from '../construction/json/tolerant-json.ts';

export type Parser = 'strict' | 'tolerant';

/** The six basic emotions, in one order everywhere. */
export const emotionNames = {
  en: ['happiness', 'sadness', 'disgust', 'fear', 'surprise', 'anger'],
  zh: ['快乐', '悲伤', '厌恶', '恐惧', '惊讶', '愤怒'],
} as const;

/** Scores of the six emotions, 0 to 10. */
export type Emotions = readonly [number, number, number, number, number, number];

type Members = Readonly<Record<string, unknown>>;

/** The last flat object of a reply; tolerantly the last that has one of `keys`. */
function lastObject(text: string, keys: readonly string[], parser: Parser): Members | undefined {
  const objects = [...text.matchAll(/\{[^{}]*\}/g)].map(([part]) => parseTolerant(part));
  const read = objects.map((each) => (each.kind === 'value' ? (each.value as Members) : undefined));
  return parser === 'strict'
    ? read.at(-1)
    : read.findLast((each) => each !== undefined && keys.some((key) => key in each));
}

/** Reads which of the candidates a reply names; other words are left out. Undefined if it cannot be read. */
export function labelsIn(
  text: string,
  key: 'character' | 'style',
  candidates: readonly string[],
  parser: Parser,
): string[] | undefined {
  const found = lastObject(text, [key], parser)?.[key];
  const whole = parser === 'tolerant' && Array.isArray(found) ? found.join(',') : found;
  if (typeof whole !== 'string') return undefined;
  const separator = parser === 'strict' ? /[,，]/ : /[,，、;；]/;
  const named = new Set(
    whole
      .toLowerCase()
      .split(separator)
      .map((label) => label.trim()),
  );
  return candidates.filter((candidate) => named.has(candidate.toLowerCase()));
}

/** Reads the six scores of emotions; tolerantly in either language, within 0 to 10. */
export function emotionsIn(text: string, language: 'en' | 'zh', parser: Parser): Emotions | undefined {
  const names = [...emotionNames.en, ...emotionNames.zh];
  const found = lastObject(text, names, parser);
  const scores = emotionNames.en.map((name, at) => {
    const [own, other] = [emotionNames[language][at] ?? '', language === 'en' ? emotionNames.zh[at] : name];
    const value = found?.[own] ?? (parser === 'strict' ? undefined : found?.[other ?? '']);
    const score = numberOf(value, parser);
    return parser === 'strict' && score !== undefined ? Math.trunc(score) : score;
  });
  const [happiness, sadness, disgust, fear, surprise, anger] = scores;
  if (happiness === undefined || sadness === undefined || disgust === undefined) return undefined;
  if (fear === undefined || surprise === undefined || anger === undefined) return undefined;
  return [happiness, sadness, disgust, fear, surprise, anger];
}

/** Reads the closeness. */
export function relationshipIn(text: string, parser: Parser): number | undefined {
  return numberOf(lastObject(text, ['relationship'], parser)?.['relationship'], parser);
}

function numberOf(value: unknown, parser: Parser): number | undefined {
  if (typeof value !== 'number' && typeof value !== 'string') return undefined;
  const plain =
    parser === 'strict'
      ? String(value).trim()
      : String(value)
          .replace(/\s*(?:\/\s*10|分)\s*$/, '')
          .trim();
  const number = plain === '' ? Number.NaN : Number(plain);
  if (!Number.isFinite(number)) return undefined;
  return parser === 'tolerant' && (number < 0 || number > 10) ? undefined : number;
}

/** Reads an MBTI type; strictly also one that is too short, as the released code does. */
export function personalityIn(text: string, parser: Parser): string | undefined {
  const found = lastObject(text, ['personality'], parser)?.['personality'];
  if (typeof found !== 'string') return undefined;
  if (parser === 'tolerant') return /[IE][NS][TF][JP]/.exec(found.toUpperCase().replaceAll(/[^A-Z]/g, ''))?.[0];
  const pairs = ['IE', 'NS', 'TF', 'JP'];
  const type = found.trim();
  return Array.from(type).every((letter, at) => pairs[at]?.includes(letter)) ? type : undefined;
}

/** Reads which of four roles the judge recognizes. */
export function choiceIn(text: string, parser: Parser): string | undefined {
  const found = lastObject(text, ['answer'], parser)?.['answer'];
  if (typeof found !== 'string') return undefined;
  return parser === 'strict'
    ? /^[A-D]$/.exec(found.trim().toUpperCase())?.[0]
    : /^[\s(["'“]*([A-Da-d])(?![A-Za-z])/.exec(found)?.[1]?.toUpperCase();
}

/** Reads a yes or no. */
export function truthIn(text: string, key: 'is_real_dialogue' | 'is_coherent', parser: Parser): boolean | undefined {
  const found = lastObject(text, [key], parser)?.[key];
  if (parser === 'tolerant' && typeof found === 'boolean') return found;
  if (typeof found !== 'string') return undefined;
  const word = parser === 'tolerant' ? found.trim().toLowerCase() : found;
  return word === 'true' ? true : word === 'false' ? false : undefined;
}
