import type { DialoguePair } from '../../characters/card.ts';
import { prepareTexts, searchedPart, searchTerms, isFrame } from './words.ts';
import { openBm25 } from './bm25.ts';
import { meaningOf, meaningSize } from './word-vectors.ts';
import { paraphrasesOf, triggerOf, type Trigger } from './paraphrases.ts';

/**
 * A line that may answer a user message, and its fit: 1 if the message is a trigger word for word, 0 if they have
 * nothing in common.
 */
export interface LineHit {
  readonly pair: DialoguePair;
  readonly fit: number;
  /** Likeness of the most similar trigger by word vectors, 0 to 1; undefined in languages that have none. */
  readonly likeness?: number;
  /** Word vectors of the line's triggers. */
  readonly meanings?: readonly Float32Array[];
}

/** Finds the lines that answer a user message, best first, each line once. */
export type FindLines = (userMessage: string) => readonly LineHit[];

const candidateCount = 40;
/** Lines that are candidates for the meaning of their triggers alone. */
const alikeCount = 8;
const replyBoost = 0.2;
const longestMeant = 200; // Longer texts have no one meaning.

const opened = new WeakMap<readonly DialoguePair[], Map<string, FindLines>>();

/**
 * Indexes the triggers of a character's lines; `name` is the character's. BM25 picks candidates; their fit is the share
 * of the message and of the trigger that they have in common, words weighted by rarity, so that one threshold serves
 * every pack. The index of a list of lines is built once.
 */
export function indexLines(pairs: readonly DialoguePair[], name: string): FindLines {
  const known = opened.get(pairs) ?? new Map<string, FindLines>();
  opened.set(pairs, known);
  const find = known.get(name) ?? openIndex(pairs, name);
  known.set(name, find);
  return find;
}

function openIndex(pairs: readonly DialoguePair[], name: string): FindLines {
  prepareTexts(pairs.flatMap(({ asks, reply, followUps = {} }) => [...asks, reply, ...Object.values(followUps)]));
  const lines = withParaphrases(pairs).map((asks, index) => ({
    askTerms: asks.map(({ terms }) => terms),
    ownCount: pairs[index]?.asks.length ?? 0,
    ownTerms: asks.slice(0, pairs[index]?.asks.length).flatMap(({ terms }) => terms),
    replyTerms: searchTerms(pairs[index]?.reply ?? ''),
  }));
  const { fitOf, weightOf } = fitter(lines, searchTerms(name));
  const meanings = pairs.map(({ asks }) => asks.flatMap((ask) => meaningOf(ask) ?? []));
  const likenessesOf = openLikeness(meanings);
  const rank = openBm25(
    lines.map(({ askTerms, replyTerms }) => [{ terms: askTerms.flat() }, { terms: replyTerms, boost: replyBoost }]),
  );
  return (userMessage) => {
    const terms = searchTerms(searchedPart(userMessage));
    const likenesses = likenessesOf(userMessage);
    const alike = likenesses === undefined ? [] : highest(likenesses, alikeCount);
    const candidates = [...new Set([...rank(terms, candidateCount, weightOf).map(({ index }) => index), ...alike])];
    const fits = fitOf(terms, candidates);
    return candidates
      .map((index, at): LineHit => {
        const likeness = likenesses?.[index];
        const pair = pairs[index] as DialoguePair;
        const ofMeaning = likeness === undefined ? {} : { likeness, meanings: meanings[index] ?? [] };
        return { pair, fit: fits[at] ?? 0, ...ofMeaning };
      })
      .toSorted((left, right) => right.fit - left.fit || (right.likeness ?? 0) - (left.likeness ?? 0));
  };
}

/** Searches for each text once: a message is searched for several times in a turn. */
export function searchingOnce(find: FindLines): FindLines {
  const found = new Map<string, readonly LineHit[]>();
  return (userMessage) => {
    const known = found.get(userMessage) ?? find(userMessage);
    found.set(userMessage, known);
    return known;
  };
}

/** Likeness of each line's most similar trigger to a text; undefined if the text or the lines have no English words. */
function openLikeness(lines: readonly (readonly Float32Array[])[]): (text: string) => Float32Array | undefined {
  const count = lines.reduce((sum, asks) => sum + asks.length, 0);
  if (count === 0) return () => undefined;
  // One array for all triggers is read several times as fast as one for each.
  const numbers = new Float32Array(count * meaningSize);
  const owners = new Uint32Array(count);
  lines
    .flatMap((asks, line) => asks.map((ask) => ({ ask, line })))
    .forEach(({ ask, line }, at) => {
      numbers.set(ask, at * meaningSize);
      owners[at] = line;
    });
  return (text) => {
    const meaning = text.length > longestMeant ? undefined : meaningOf(text);
    if (meaning === undefined) return undefined;
    const likenesses = new Float32Array(lines.length);
    for (let at = 0, from = 0; at < count; at += 1, from += meaningSize) {
      let product = 0;
      for (let place = 0; place < meaningSize; place += 1)
        product += (meaning[place] as number) * (numbers[from + place] as number);
      const line = owners[at] as number;
      if (product > (likenesses[line] as number)) likenesses[line] = product;
    }
    return likenesses;
  };
}

/** Positions of the highest numbers, the highest first. */
function highest(numbers: Float32Array, count: number): number[] {
  const least = numbers.toSorted().at(-count) ?? 0;
  return [...numbers.keys()]
    .filter((index) => (numbers[index] ?? 0) >= least)
    .toSorted((left, right) => (numbers[right] ?? 0) - (numbers[left] ?? 0))
    .slice(0, count);
}

/** The triggers of each line with their paraphrases, except those that another line has as its own trigger. */
function withParaphrases(pairs: readonly DialoguePair[]): Trigger[][] {
  const asks = pairs.map((pair) => pair.asks.map(triggerOf));
  const own = new Set(asks.flat().map(({ key }) => key));
  return asks.map((each) => {
    const others = each.flatMap(({ key }) => paraphrasesOf(key)).filter(({ key }) => !own.has(key));
    return [...each, ...new Set(others)];
  });
}

/** Terms of a line: those of each trigger and of its paraphrases, of the pack's own triggers, and of the reply. */
export interface LineTerms {
  readonly askTerms: readonly (readonly string[])[];
  /** Number of triggers that are the pack's own; they come first. */
  readonly ownCount: number;
  readonly ownTerms: readonly string[];
  readonly replyTerms: readonly string[];
}

/** Scores how well lines fit a user message, and weighs its terms for the candidate search. */
export interface Fitter {
  /** A score from 0 to 1 for each of these lines. */
  readonly fitOf: (message: readonly string[], lines: readonly number[]) => readonly number[];
  readonly weightOf: (term: string) => number;
}

/** Weight of a word found only in another trigger of the same line, relative to 1 for a word of the trigger itself. */
const rowShare = 0.7;
/** Weight of a word found only in the reply. */
const replyShare = 0.35;
/** Weight of a frame word ("tell", "about") relative to a topic word. */
const frameShare = 0.4;
/** Least coverage of both the message and the trigger. */
const leastCover = 0.3;
/**
 * Least coverage for a paraphrase: common phrases are said as a whole, or are part of something else ("keep talking",
 * "keep bees").
 */
const leastParaphraseCover = 0.62;
/** Least coverage for a message without a topic. */
const leastFrameCover = 0.75;
/** Factor on the fit if only one of the two is negated. */
const negating = new Set(['not', 'no']);
const negationShare = 0.8;

interface Ask {
  readonly ids: Uint32Array;
  readonly total: number;
  readonly negates: boolean;
  readonly leastCover: number;
}

/** A term of a user message; `id` is -1 if no line contains it. */
interface MessageTerm {
  readonly id: number;
  readonly weight: number;
  readonly isTopic: boolean;
  readonly negates: boolean;
}

/** A set of term ids that is cleared in one step. */
class Marks {
  readonly #stamps: Uint32Array;
  #now = 0;

  constructor(size: number) {
    this.#stamps = new Uint32Array(size);
  }

  become(ids: Uint32Array): void {
    this.#now += 1;
    for (const id of ids) this.#stamps[id] = this.#now;
  }

  has(id: number): boolean {
    return id >= 0 && this.#stamps[id] === this.#now;
  }
}

/**
 * Prepares lines: terms become ids, and the total weight of a trigger is summed once. Rare words weigh more than common
 * ones; the character's own name is not a topic, since it is mostly an address.
 */
export function fitter(lines: readonly LineTerms[], name: readonly string[]): Fitter {
  const ids = new Map<string, number>();
  const idsOf = (terms: readonly string[]): Uint32Array =>
    Uint32Array.from(new Set(terms), (term) => {
      const id = ids.get(term) ?? ids.size;
      ids.set(term, id);
      return id;
    });
  const prepared = lines.map(({ askTerms, ownCount, ownTerms, replyTerms }) => ({
    ownCount,
    asks: askTerms.map(idsOf),
    own: idsOf(ownTerms),
    reply: idsOf(replyTerms),
  }));
  const counts = new Uint32Array(ids.size);
  for (const ask of prepared.flatMap(({ asks }) => asks)) for (const id of ask) counts[id] = (counts[id] ?? 0) + 1;
  const askCount = prepared.reduce((sum, { asks }) => sum + asks.length, 0);
  const named = new Set(name);
  const isTopic = (term: string): boolean => !isFrame(term) && !named.has(term);
  const weightOf = (term: string): number => {
    const count = Math.max(1, counts[ids.get(term) ?? ids.size] ?? 0);
    const rarity = Math.log(1 + (askCount - count + 0.5) / (count + 0.5));
    return isTopic(term) ? rarity : rarity * frameShare;
  };
  const weights = Float64Array.from(ids.keys(), weightOf);
  const negations = [...negating].map((term) => ids.get(term) ?? -1);
  const fitted = prepared.map(({ asks, ownCount, own, reply }) => ({
    own,
    reply,
    asks: asks.map((ask, index): Ask => ({
      ids: ask,
      total: ask.reduce((sum, id) => sum + (weights[id] ?? 0), 0),
      negates: negations.some((id) => ask.includes(id)),
      leastCover: index >= ownCount ? leastParaphraseCover : leastCover,
    })),
  }));
  const marks = { ask: new Marks(ids.size), own: new Marks(ids.size), reply: new Marks(ids.size) };
  return {
    weightOf: (term) => (isTopic(term) ? 1 : frameShare),
    fitOf(message, wanted) {
      const whole = weighed(
        [...new Set(message)].map((term): MessageTerm => ({
          id: ids.get(term) ?? -1,
          weight: weightOf(term),
          isTopic: isTopic(term),
          negates: negating.has(term),
        })),
      );
      return wanted.map((index) => {
        const line = fitted[index];
        if (line === undefined) return 0;
        marks.own.become(line.own);
        marks.reply.become(line.reply);
        return Math.max(...line.asks.map((ask) => fitOfAsk(whole, ask, marks)));
      });
    },
  };
}

interface WeightedMessage {
  readonly terms: readonly MessageTerm[];
  readonly total: number;
  readonly hasTopic: boolean;
  readonly negates: boolean;
}

function weighed(terms: readonly MessageTerm[]): WeightedMessage {
  return {
    terms,
    total: terms.reduce((sum, { weight }) => sum + weight, 0),
    hasTopic: terms.some((term) => term.isTopic),
    negates: terms.some((term) => term.negates),
  };
}

/** Mean of both coverages; 0 if the message has a topic that the trigger does not share. */
function fitOfAsk(message: WeightedMessage, ask: Ask, marks: Readonly<Record<'ask' | 'own' | 'reply', Marks>>): number {
  marks.ask.become(ask.ids);
  let common = 0;
  let elsewhere = 0;
  let sharesTopic = false;
  for (const { id, weight, isTopic } of message.terms) {
    if (marks.ask.has(id)) {
      common += weight;
      sharesTopic ||= isTopic;
    } else if (marks.own.has(id)) elsewhere += weight * rowShare;
    else if (isTopic && marks.reply.has(id)) elsewhere += weight * replyShare;
  }
  if (message.hasTopic && !sharesTopic) return 0;
  const messageCover = (common + elsewhere) / message.total;
  const askCover = common / ask.total;
  // Frame words alone ("what was that like") do not identify a line, unless nearly all agree.
  const least = message.hasTopic ? ask.leastCover : leastFrameCover;
  if (!(Math.min(messageCover, askCover) >= least)) return 0;
  return ((messageCover + askCover) / 2) * (message.negates === ask.negates ? 1 : negationShare);
}
