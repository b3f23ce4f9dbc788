import { isFrame } from './words.ts';

/** The terms of a line: those of each ask with its paraphrases, of the pack's own asks, and of the reply. */
export interface LineTerms {
  readonly askTerms: readonly (readonly string[])[];
  /** How many of the asks are the pack's own; they stand first. */
  readonly ownCount: number;
  readonly ownTerms: readonly string[];
  readonly replyTerms: readonly string[];
}

/** How well lines fit a remark, and what a term of a remark weighs when candidates are looked for. */
export interface Fitter {
  /** For each of these lines, 0 to 1. */
  readonly fitOf: (remark: readonly string[], lines: readonly number[]) => readonly number[];
  readonly weightOf: (term: string) => number;
}

/** What a word of the remark weighs that only another ask of the same line has, beside 1 for a word of the ask itself. */
const rowShare = 0.7;
/** The same for a word that only the reply has. */
const replyShare = 0.35;
/** What a frame word ("tell", "about") weighs beside a topic word. */
const frameShare = 0.4;
/** Both the remark and the ask must be matched to this share. */
const leastCover = 0.3;
/** The same for an ask that everybody knows: such talk is said as a whole, or is part of something else ("keep talking", "keep bees"). */
const leastParaphraseCover = 0.62;
/** The same for a remark without a topic. */
const leastFrameCover = 0.75;
/** What is left of a fit when one of the two says "not" or "no". */
const negating = new Set(['not', 'no']);
const negationShare = 0.8;

interface Ask {
  readonly ids: Uint32Array;
  readonly total: number;
  readonly negates: boolean;
  readonly leastCover: number;
}

/** A term of a remark: `id` -1 where no line has it. */
interface RemarkTerm {
  readonly id: number;
  readonly weight: number;
  readonly isTopic: boolean;
  readonly negates: boolean;
}

/** A set of term ids that is emptied in one step. */
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
 * Prepares lines: terms become numbers, and what an ask weighs is summed once. Rare words weigh more than common ones; the character's
 * own name is no topic, for it is mostly an address.
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
    fitOf(remark, wanted) {
      const whole = weighed(
        [...new Set(remark)].map((term): RemarkTerm => ({
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

interface Remark {
  readonly terms: readonly RemarkTerm[];
  readonly total: number;
  readonly hasTopic: boolean;
  readonly negates: boolean;
}

function weighed(terms: readonly RemarkTerm[]): Remark {
  return {
    terms,
    total: terms.reduce((sum, { weight }) => sum + weight, 0),
    hasTopic: terms.some((term) => term.isTopic),
    negates: terms.some((term) => term.negates),
  };
}

/** The mean of both coverages. No fit where the remark speaks of something and the ask does not share it. */
function fitOfAsk(remark: Remark, ask: Ask, marks: Readonly<Record<'ask' | 'own' | 'reply', Marks>>): number {
  marks.ask.become(ask.ids);
  let common = 0;
  let elsewhere = 0;
  let sharesTopic = false;
  for (const { id, weight, isTopic } of remark.terms) {
    if (marks.ask.has(id)) {
      common += weight;
      sharesTopic ||= isTopic;
    } else if (marks.own.has(id)) elsewhere += weight * rowShare;
    else if (isTopic && marks.reply.has(id)) elsewhere += weight * replyShare;
  }
  if (remark.hasTopic && !sharesTopic) return 0;
  const remarkCover = (common + elsewhere) / remark.total;
  const askCover = common / ask.total;
  // Frame words alone ("what was that like") say nothing about which line is meant, unless nearly all agree.
  const least = remark.hasTopic ? ask.leastCover : leastFrameCover;
  if (!(Math.min(remarkCover, askCover) >= least)) return 0;
  return ((remarkCover + askCover) / 2) * (remark.negates === ask.negates ? 1 : negationShare);
}
