import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import * as fc from 'fast-check';
import { action, engineScript, performAll } from '../rigs/random-client.ts';
import { connect } from '../rigs/connection-rig.ts';
import { randomScenario } from '../simulator/random-scenario.ts';
import { play } from '../simulator/world.ts';
import { summarize, type BenchRow } from './kit/stats.ts';

const bench = 'oracle';
const stored = path.join(import.meta.dirname, '../simulator/oracle.json');
/** Seeds per stored hash: few enough that a difference is found again within seconds. */
const seedsPerBlock = 100;
const allSeeds = 20_000;
const orderScripts = 400;

interface Oracle {
  /** Hash of the wire events of each block of simulator seeds, in the order of the seeds, from seed 1 on. */
  readonly blocks: readonly string[];
  /** Hash of the wire events of the order suite's random clients. */
  readonly order: string;
}

/**
 * Hashes every wire event of 20,000 simulator seeds and of the order suite, and compares with
 * `test/simulator/oracle.json`: a refactoring is right if nothing differs. `--seeds N` checks the first N only;
 * `--update` stores what was found; `--seed N` prints the hash of one conversation. Ids, tokens, wall-clock dates
 * and, in the order suite, the texts of errors are normalized; all else counts.
 */
export async function* run(args: readonly string[]): AsyncIterable<BenchRow> {
  const option = (name: string): number | undefined =>
    args.includes(name) ? Number(args[args.indexOf(name) + 1]) : undefined;
  const seed = option('--seed');
  if (seed !== undefined) return console.log(hashOf(await wireLines(seed)));
  const seeds = option('--seeds') ?? allSeeds;
  const before = await readFile(stored, 'utf8').then(
    (text) => JSON.parse(text) as Oracle,
    () => undefined,
  );
  const blocks: string[] = [];
  let differing = 0;
  for (let from = 1; from <= seeds; from += seedsPerBlock) {
    const hash = createHash('sha256');
    for (let next = from; next < from + seedsPerBlock; next += 1) hash.update(hashOf(await wireLines(next)));
    blocks.push(hash.digest('hex').slice(0, 16));
    const expected = before?.blocks[blocks.length - 1];
    if (expected === undefined || expected === blocks.at(-1)) continue;
    differing += 1;
    console.error(`seeds ${from} to ${from + seedsPerBlock - 1} differ`);
  }
  const order = await orderHash();
  if (before !== undefined && before.order !== order) console.error('the order suite differs');
  const found: Oracle = { blocks, order };
  if (args.includes('--update')) await writeFile(stored, `${JSON.stringify(found, undefined, 2)}\n`);
  console.error(`hash of ${seeds} seeds and the order suite: ${hashOf([...blocks, order])}`);
  yield summarize(bench, 'blocks of 100 seeds that differ', 'count', [differing]);
  yield summarize(bench, 'order suite differs', 'count', [before === undefined || before.order === order ? 0 : 1]);
}

/** Everything the server sent in a simulated conversation: time in virtual ms, then the event or the bytes of a frame. */
async function wireLines(seed: number): Promise<string[]> {
  const { people, durationMs } = await play(randomScenario(seed));
  const lines = people.flatMap(({ pieces }) =>
    pieces.map(({ atMs, piece }) => {
      const content = 'data' in piece ? contentOf(piece.data) : JSON.stringify(piece);
      return `${atMs} ${piece.type} ${content}`;
    }),
  );
  return normalized([...lines, String(durationMs)]);
}

function contentOf(data: string | Uint8Array): string {
  return typeof data === 'string' ? data : hashOf([Buffer.from(data).toString('base64')]);
}

async function orderHash(): Promise<string> {
  const scripts = fc.sample(fc.array(action, { minLength: 5, maxLength: 30, size: 'max' }), {
    numRuns: orderScripts,
    seed: 1,
  });
  const hash = createHash('sha256');
  for (const script of scripts) {
    const wire = connect(engineScript);
    await performAll(wire, script);
    await wire.hangUp();
    hash.update(hashOf(withoutTexts(normalized(wire.events.map((event) => JSON.stringify(event))))));
  }
  return hash.digest('hex').slice(0, 16);
}

/** Names ids by their order of appearance, and drops what random bytes or the wall clock decide. */
function normalized(lines: readonly string[]): string[] {
  const names = new Map<string, string>();
  const nameOf = (id: string): string => {
    const known = names.get(id) ?? `id${names.size + 1}`;
    names.set(id, known);
    return known;
  };
  return lines.map((line) =>
    line
      .replaceAll(/(?:item|resp|sess|event|call)_[\w-]{12,}/gu, nameOf)
      .replaceAll(/"(expires_at|created_at)":\d+/gu, '"$1":0')
      .replaceAll(/"((?:resume_)?token)":"[^"]+"/gu, '"$1":""'),
  );
}

/** Drops the texts of errors: they are for people, and are reworded without a change of behaviour. Codes stay. */
function withoutTexts(lines: readonly string[]): string[] {
  return lines.map((line) => line.replaceAll(/"message":"(?:[^"\\]|\\.)*"/gu, '"message":""'));
}

function hashOf(lines: readonly string[]): string {
  const hash = createHash('sha256');
  for (const line of lines) hash.update(line).update('\n');
  return hash.digest('hex').slice(0, 16);
}
