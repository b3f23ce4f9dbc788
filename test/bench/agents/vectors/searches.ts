import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { indexLines } from '../../../../agents/retrieval/line-index.ts';
import { isAskedIn } from '../../../../agents/retrieval/words.ts';
import { lacksSubject, suitability } from '../../../../agents/scripted/line-search.ts';
import type { DialoguePair } from '../../../../characters/card.ts';
import { loadCharacters } from '../../../../characters/character.ts';

/**
 * Searches the packs, and parts of them, for triggers that are left out, and for triggers of other packs:
 * `node test/bench/agents/vectors/searches.ts likenesses.json searches.jsonl`. `fit.py` fits the weights of `part-hits.ts` on the
 * result. A row: whether it is the line of the trigger, fit, suitability, their product, its lead, likeness, its lead, and
 * whether the line lacks the subject.
 */

/** Of one pack: each trigger's likeness to every line, and those of triggers of other packs. */
interface Likenesses {
  readonly own: readonly (readonly number[])[];
  readonly others: readonly (readonly [string, readonly number[]])[];
}

const partSizes = [12, 12, 12, 12, 12, 12, 40, 40, 40, 40, 40, 40, 150, 150, 150];
const [likenessFile = '', outFile = ''] = process.argv.slice(2);
const likenesses = JSON.parse(await readFile(likenessFile, 'utf8')) as Record<string, Likenesses>;
const rows: string[] = [];
let seed = 7;

/** The next of a fixed sequence of numbers from 0 to 1. */
function next(): number {
  seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
  return seed / 2_147_483_648;
}

for (const pack of await loadCharacters(path.resolve(import.meta.dirname, '../../../../characters'))) {
  const known = likenesses[pack.id];
  const lines = pack.lines.filter(({ asks: [first = ''] }) => !/\p{Script=Han}/u.test(first));
  for (const left of known === undefined ? [] : [0, 1, 2]) searchWithout(left, lines, pack.name, known as Likenesses);
  console.log(`${pack.id}: ${rows.length} searches so far`);
}
await writeFile(outFile, `${rows.join('\n')}\n`);

/** Searches for the triggers at this place of each line in an index without them. */
function searchWithout(left: number, lines: readonly DialoguePair[], name: string, known: Likenesses): void {
  const starts: number[] = [];
  lines.reduce((sum, { asks }, line) => ((starts[line] = sum), sum + asks.length), 0);
  const folded = lines.map((line) =>
    line.asks.length > 1 ? { ...line, asks: line.asks.filter((_ask, at) => at !== left) } : line,
  );
  const parts = partSizes.map((size) => {
    const part = new Set<number>();
    while (part.size < size) part.add(Math.floor(next() * lines.length));
    return [...part];
  });
  for (const part of [[...lines.keys()], ...parts]) {
    const isWhole = part.length === lines.length;
    const search = openSearch(part, folded, name, isWhole);
    for (const line of part) {
      const ask = lines[line]?.asks[left];
      const likeness = known.own[(starts[line] ?? 0) + left];
      const isLong = (ask?.match(/[\p{L}']+/gu) ?? []).length > 2;
      if (ask === undefined || likeness === undefined || !isLong || lines[line]?.asks.length === 1) continue;
      if (!isWhole || next() < 0.5) search(ask, likeness, line);
    }
    for (let count = isWhole ? 300 : 15; count > 0; count -= 1) {
      const [ask = '', likeness = []] = known.others[Math.floor(next() * known.others.length)] ?? [];
      search(ask, likeness, -1);
    }
  }
}

function openSearch(part: readonly number[], lines: readonly DialoguePair[], name: string, isWhole: boolean) {
  const pairs = part.map((line) => lines[line] as DialoguePair);
  const places = new Map(pairs.map((pair, at) => [pair, part[at] ?? -1]));
  const find = indexLines(pairs, name);
  return (ask: string, likeness: readonly number[], own: number): void => {
    const found = find(ask);
    const fits = new Map(found.map(({ pair, fit }) => [places.get(pair) ?? -1, fit]));
    const alike = part.toSorted((one, other) => (likeness[other] ?? 0) - (likeness[one] ?? 0));
    const candidates = [
      ...new Set([...found.slice(0, 14).map(({ pair }) => places.get(pair) ?? -1), ...alike.slice(0, 8)]),
    ];
    const hits = candidates.map((line) => {
      const pair = lines[line] as DialoguePair;
      const fit = fits.get(line) ?? 0;
      const suits = suitability({ pair, fit, part: ask });
      return { line, pair, fit, suits, suitable: fit * suits, likeness: likeness[line] ?? 0 };
    });
    const leadOf = (numbers: readonly number[], number: number): number => {
      const [first = 0, second = 0] = numbers.toSorted((one, other) => other - one);
      return number - (number === first ? second : first);
    };
    const suitable = hits.map((hit) => hit.suitable);
    const likenessesOfPart = part.map((line) => likeness[line] ?? 0);
    const kept = hits.map((hit) => [
      hit.line === own ? 1 : 0,
      hit.fit,
      hit.suits,
      hit.suitable,
      leadOf(suitable, hit.suitable),
      hit.likeness,
      leadOf(likenessesOfPart, hit.likeness),
      lacksSubject({ pair: hit.pair, part: ask }) ? 1 : 0,
    ]);
    const size = isWhole ? 'whole' : `${part.length} lines`;
    rows.push(JSON.stringify({ size, isOwn: own >= 0, isAsked: isAskedIn(ask), rows: kept }));
  };
}
