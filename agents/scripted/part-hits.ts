import type { FindLines, LineHit } from '../retrieval/line-index.ts';
import { likenessOf } from '../retrieval/word-vectors.ts';
import { suitability, type PartHit } from './line-search.ts';

/** Base factor on the fit of the last part of a message, and of earlier parts; longer parts count more. */
const lastPartShare = 0.7;
const earlierPartShare = 0.45;
/** Factor for a greeting before something else, or trailing words after it: answered only if nothing else matches. */
const besideShare = 0.47;
const besideSureShare = 0.35;
const trailing =
  /^\s*(?:i (?:do not|don['’]t) know(?: why| what| how)?|you know(?: that)?|i (?:think|guess|suppose)|和?不知道为(?:什么|啥))[\s?？]*$/iu;
const greeting =
  /^\s*(?:(?:hello|hi|hey|good (?:day|morning|afternoon|evening))\b(?:\s+[\p{L}'’.]+){0,3}|wait|stop|hold on|hang on|okay|ok|all right|alright|right|fine|sure|yes|yeah|no|well|clever|(?:very )?good|nice|lovely|interesting|fair enough|i see|你好|您好|嗨|喂|等等|等一下|等会儿)[\s?？]*$/iu;
/** Parts of a message that are searched for by themselves, the last ones. */
const mostParts = 32;
/** Factor on the fit of a message of several parts, taken as a whole. */
const wholeShare = 0.85;

/** Lines that fit the whole message, or one of its parts, best first; later and longer parts count more. */
export function hitsOf(find: FindLines, userMessage: string): readonly PartHit[] {
  const parts = partsOf(userMessage);
  const whole = scaled(find(userMessage), 1, userMessage);
  if (parts.length < 2) return whole;
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  const ofParts = parts.flatMap((part, index) => {
    const isBeside = (index < parts.length - 1 && greeting.test(part)) || trailing.test(part);
    if (isBeside) return scaled(find(part), besideShare, part);
    const base = index === parts.length - 1 ? lastPartShare : earlierPartShare;
    return scaled(find(part), base + (1 - base) * (part.length / length), part);
  });
  return [...scaled(whole, wholeShare, parts.at(-1) ?? ''), ...ofParts].toSorted((left, right) => right.fit - left.fit);
}

/**
 * Splits into sentences and clauses; a last clause of one or two words is an address ("..., my queen") and stays
 * attached.
 */
function partsOf(userMessage: string): string[] {
  const joined = userMessage.replace(/,(?=\s*[\p{L}'’]+(?:\s+[\p{L}'’]+)?[.!?\s]*$)/u, ' ');
  // A mark of a question stays: it decides the shape of the part.
  const parts = (joined.match(/[^.!?;,。！？；，…]+[?？]?/gu) ?? []).filter((part) => /[\p{L}\p{N}]/u.test(part));
  return parts.slice(-mostParts);
}

function scaled(hits: readonly LineHit[], share: number, part: string): PartHit[] {
  const sure = suretiesOf(hits, part);
  return hits.map((hit, at) => {
    const scaledSure = sure?.[at];
    return {
      pair: hit.pair,
      fit: hit.fit * share,
      part,
      ...(scaledSure === undefined ? {} : { sure: scaledSure * (share === besideShare ? besideSureShare : share) }),
    };
  });
}

/**
 * Logistic regression on the fit, its suitability, the likeness, and the leads of fit and likeness over the best other
 * line. Fitted on 33,000 searches in whole packs and in parts of them: triggers searched for without themselves, and those
 * of other packs (`test/bench/agents/vectors`).
 */
const sureness = { bias: -6.79, fit: 1.36, suitability: 2.05, lead: 2, likeness: 4.37, likenessLead: 7.64 };

/** Less suitable lines answer another question, however few lines there are. */
const leastSuitable = 0.66;
const otherKindShare = 0.5;
/** A line with most of the words answers, whatever others do. */
const strongFit = 0.72;
const strongSure = 0.5;

/** Probability of each hit that its line answers the part. */
function suretiesOf(hits: readonly LineHit[], part: string): readonly number[] | undefined {
  if (hits.every(({ likeness }) => likeness === undefined)) return undefined;
  const suitable = hits.map((hit) => suitability({ ...hit, part }));
  const leadsOf = leadsAmong(hits);
  const leads = leadsOf(hits.map(({ fit }, at) => fit * (suitable[at] ?? 0)));
  const likenessLeads = leadsOf(hits.map(({ likeness = 0 }) => likeness));
  return hits.map(({ fit, likeness = 0 }, at) => {
    const sum =
      sureness.bias +
      sureness.fit * fit +
      sureness.suitability * (suitable[at] ?? 0) +
      sureness.lead * (leads[at] ?? 0) +
      sureness.likeness * likeness +
      sureness.likenessLead * (likenessLeads[at] ?? 0);
    const suits = suitable[at] ?? 0;
    const sure = Math.max(1 / (1 + Math.exp(-sum)), fit * suits >= strongFit ? strongSure : 0);
    return suits < leastSuitable ? sure * suits * otherKindShare : sure;
  });
}

/** Likeness from which on two lines have a trigger in common: either answers. */
const twinLikeness = 0.88;

function areTwins(one: LineHit | undefined, other: LineHit | undefined): boolean {
  const others = other?.meanings ?? [];
  return (one?.meanings ?? []).some((ask) => others.some((each) => likenessOf(ask, each) >= twinLikeness));
}

/** Returns the lead of each line's number over the highest of another line that is no twin. */
function leadsAmong(hits: readonly LineHit[]): (numbers: readonly number[]) => readonly number[] {
  return (numbers) => {
    const order = [...numbers.keys()].toSorted((left, right) => (numbers[right] ?? 0) - (numbers[left] ?? 0));
    return numbers.map((number, at) => {
      const rival = order.find((other) => other !== at && !(number > 0 && areTwins(hits[at], hits[other])));
      return number - (rival === undefined ? 0 : (numbers[rival] ?? 0));
    });
  };
}
