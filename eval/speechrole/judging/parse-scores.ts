import { metricKeys, type MetricKey } from './metrics.ts';

/** Two scores from a judge: of the recording heard first, and of the one heard second. */
export type ScorePair = readonly [first: number, second: number];

/** Parser leniency. `strict` reads exactly what the reference implementation reads. */
export type Strictness = 'strict' | 'tolerant';

/** Python's `\d` and `int` accept the digits of every script; judges of Chinese use full-width ones. */
const digit = '[0-9０-９]';
const strictPair = new RegExp(`\\[Scores\\]:\\s*\\((${digit}+),\\s*(${digit}+)\\)`);

/** Reads the first `[Scores]: (8, 9)` of a free text like the reference's first judge: integers only, of any size. */
export function strictScores(text: string): ScorePair | null {
  const found = strictPair.exec(text);
  if (found === null) return null;
  return [wholeNumber(found[1] as string), wholeNumber(found[2] as string)];
}

function wholeNumber(digits: string): number {
  return Number(digits.replaceAll(/[０-９]/g, (wide) => String('０１２３４５６７８９'.indexOf(wide))));
}

/**
 * Tolerant variant for judges that decorate: bold, code and fences, decimals, `8/10`, `Model A: 8`, other brackets,
 * full-width characters, trailing words. Agrees with the strict parser wherever that finds scores from 1 to 10. Scores
 * outside 1 to 10 count as missing.
 */
export function tolerantScores(text: string): ScorePair | null {
  const strict = strictScores(text);
  if (strict !== null) return withinRange(strict);
  const plain = undecorated(text);
  const label = '\\[?\\s*(?:final |overall )?scores?\\s*\\]?';
  const number = '(\\d+(?:\\.\\d+)?)(?:\\s*/\\s*10)?';
  const named = (which: string): string =>
    `(?:(?:the )?(?:score of )?(?:model|response|speaker)?\\s*${which}\\s*[:=]\\s*)?`;
  const pair = `[([{]?\\s*${named('a')}${number}\\s*[,;&]?\\s*(?:and\\s*)?${named('b')}${number}`;
  const found = new RegExp(`${label}\\s*[:=]\\s*${pair}`, 'i').exec(plain);
  return found === null ? null : withinRange([Number(found[1]), Number(found[2])]);
}

function undecorated(text: string): string {
  return text
    .normalize('NFKC')
    .replaceAll(/[*_`#>]/g, '')
    .replaceAll('【', '[')
    .replaceAll('】', ']');
}

function withinRange(pair: ScorePair): ScorePair | null {
  return pair.every((score) => score >= 1 && score <= 10) ? pair : null;
}

/** A judge's scores for all metrics of one reply. */
export type MetricScores = Readonly<Record<MetricKey, ScorePair>>;

/**
 * Reads the JSON of the reference's second judge: the whole text, or the content of the first fence. Every metric must
 * be present, with `score_a` and `score_b`, or a list `score`. Numbers are truncated to integers, as by Python's `int`.
 */
export function strictMetricScores(text: string): MetricScores | null {
  const value = parseJson(text) ?? parseJson(/```(?:json)?\s*(\{.*?\})\s*```/s.exec(text)?.[1]);
  if (!isRecord(value)) return null;
  const scores: Partial<Record<MetricKey, ScorePair>> = {};
  for (const key of metricKeys) {
    const entry = value[key];
    if (!isRecord(entry)) return null;
    const list = entry['score'];
    const pair =
      'score_a' in entry && 'score_b' in entry ? [entry['score_a'], entry['score_b']] : Array.isArray(list) ? list : [];
    const [first, second] = pair.map(pythonInt);
    if (typeof first !== 'number' || typeof second !== 'number') return null;
    scores[key] = [first, second];
  }
  return scores as MetricScores;
}

function pythonInt(value: unknown): number | null {
  if (typeof value === 'number' && Number.isFinite(value)) return Math.trunc(value);
  if (typeof value === 'boolean') return value ? 1 : 0;
  return typeof value === 'string' && /^\s*[+-]?\d+\s*$/.test(value) ? Number(value) : null;
}

/**
 * Tolerant variant for judges that wrap their JSON in words or fences, leave trailing commas, write keys with spaces or
 * in lower case, or use decimals. Missing metrics are left out; the rest still counts.
 */
export function tolerantMetricScores(text: string): Partial<MetricScores> {
  const strict = strictMetricScores(text);
  if (strict !== null)
    return Object.fromEntries(Object.entries(strict).filter(([, pair]) => withinRange(pair) !== null));
  const value = looseJson(text);
  if (value === null) return {};
  const byName = new Map(Object.entries(value).map(([key, entry]) => [plainKey(key), entry]));
  const found: Partial<Record<MetricKey, ScorePair>> = {};
  for (const key of metricKeys) {
    const entry = byName.get(plainKey(key));
    const scores = isRecord(entry) ? scoresIn(entry) : null;
    if (scores !== null) found[key] = scores;
  }
  return found;
}

/**
 * Reads two scores from an object: `score_a` and `score_b`, or a list `score`; numbers, or texts such as `8/10`. Null
 * outside 1 to 10.
 */
export function scoresIn(entry: Readonly<Record<string, unknown>>): ScorePair | null {
  const byName = new Map(Object.entries(entry).map(([key, value]) => [plainKey(key), value]));
  const list = byName.get('score') ?? byName.get('scores');
  const raw = byName.has('scorea') ? [byName.get('scorea'), byName.get('scoreb')] : Array.isArray(list) ? list : [];
  const [first, second] = raw.map(looseNumber);
  return typeof first === 'number' && typeof second === 'number' ? withinRange([first, second]) : null;
}

function looseNumber(value: unknown): number | null {
  if (typeof value === 'number') return value;
  const found = typeof value === 'string' ? /^\s*(\d+(?:\.\d+)?)\s*(?:\/\s*10)?\s*$/.exec(value) : null;
  return found === null ? null : Number(found[1]);
}

function plainKey(key: string): string {
  return key.toLowerCase().replaceAll(/[^a-z]/g, '');
}

/** Returns the first JSON object in a text, ignoring what surrounds it; null if there is none. */
export function looseJson(text: string): Record<string, unknown> | null {
  for (let start = text.indexOf('{'); start >= 0; start = text.indexOf('{', start + 1)) {
    const end = endOfObject(text, start);
    if (end < 0) continue;
    const object = text.slice(start, end);
    const value = parseJson(object) ?? parseJson(object.replaceAll(/,(\s*[}\]])/g, '$1'));
    if (isRecord(value)) return value;
  }
  return null;
}

function endOfObject(text: string, start: number): number {
  let depth = 0;
  let quoted = false;
  for (let at = start; at < text.length; at += 1) {
    const sign = text[at];
    if (quoted) {
      if (sign === '\\') at += 1;
      else if (sign === '"') quoted = false;
    } else if (sign === '"') quoted = true;
    else if (sign === '{') depth += 1;
    else if (sign === '}') {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  return -1;
}

/** Parses JSON; undefined if the text is not JSON. */
export function parseJson(text: string | undefined): unknown {
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** True for a JSON object. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
