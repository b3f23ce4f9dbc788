import { readFile, writeFile } from 'node:fs/promises';
import { partsOf } from '../../../../agents/retrieval/words.ts';
import path from 'node:path';
import {
  acts,
  meanOf,
  probabilitiesOf,
  rowsOf,
  size,
  type Act,
  type ActWeights,
} from '../../../../agents/scripted/acts/act-network.ts';

/**
 * Trains the network that recognizes dialogue acts, and measures it on messages left out:
 * `node test/bench/agents/acts/train.ts [--out FILE]`. Without `--out` it only measures. Takes half a minute.
 */

/** Messages of this project with their acts, one act a line: written for this, and those of the talks that were read. */
const files = ['english.txt', 'chinese.txt', 'talks.txt'];
const passes = 14;
const rate = 0.08;
const decay = 1e-5;
/** Written messages count more than those of the talks, of which most are plain questions and statements. */
const weightOfWritten = 1.6;
const folds = 5;

interface Example {
  readonly act: number;
  readonly rows: readonly number[];
  readonly text: string;
  readonly weight: number;
}

async function examples(): Promise<readonly Example[]> {
  const known = new Map<string, Example>();
  for (const file of files) {
    const lines = (await readFile(path.join(import.meta.dirname, file), 'utf8')).split('\n');
    for (const line of lines.filter((each) => each.includes(': '))) {
      const [name = '', ...rest] = line.split(': ');
      const act = acts.indexOf(name as Act);
      if (act < 0) throw new Error(`${file}: ${name} is no act.`);
      for (const message of rest.join(': ').split(' | '))
        for (const { text, isAsked } of partsOf(message).slice(-1)) {
          const weight = file === 'talks.txt' ? 1 : weightOfWritten;
          const key = `${text}${isAsked ? '?' : ''}`;
          if (!known.has(key)) known.set(key, { act, rows: rowsOf(text, isAsked), text, weight });
        }
    }
  }
  return [...known.values()];
}

/** Numbers from 0 to 1, the same in each run (mulberry32). */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d_2b_79_f5) | 0;
    let value = Math.imul(state ^ (state >>> 15), state | 1);
    value = (value + Math.imul(value ^ (value >>> 7), value | 61)) ^ value;
    return ((value ^ (value >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Stochastic gradient descent on the cross entropy, with a rate that falls to zero. */
function train(data: readonly Example[]): ActWeights {
  const { rows: rowCount, width } = size;
  const next = random(18);
  const weights = {
    rows: Float32Array.from({ length: rowCount * width }, () => (next() - 0.5) * 0.2),
    outputs: Float32Array.from({ length: acts.length * width }, () => (next() - 0.5) * 0.2),
    biases: new Float32Array(acts.length),
  };
  const counts = new Float64Array(acts.length);
  for (const { act } of data) counts[act] = (counts[act] ?? 0) + 1;
  const steps = passes * data.length;
  for (let step = 0; step < steps; step += 1) {
    const example = data[Math.floor(next() * data.length)] as Example;
    const balance = Math.min(3, Math.sqrt(120 / (counts[example.act] ?? 1)));
    const pace = rate * (1 - step / steps) * example.weight * balance;
    // Rows left out at random keep single words from deciding alone.
    const rows = example.rows.filter(() => next() > 0.2);
    const errors = probabilitiesOf(rows, weights).map((share, act) => share - (act === example.act ? 1 : 0));
    const sum = meanOf(rows, weights.rows);
    const back = new Float64Array(width);
    errors.forEach((error, act) => {
      for (let place = 0; place < width; place += 1) {
        const at = act * width + place;
        back[place] = (back[place] ?? 0) + error * (weights.outputs[at] ?? 0);
        weights.outputs[at] = (weights.outputs[at] ?? 0) - pace * (error * (sum[place] ?? 0) + decay);
      }
      weights.biases[act] = (weights.biases[act] ?? 0) - pace * error;
    });
    const share = pace / Math.sqrt(Math.max(1, rows.length));
    for (const row of rows)
      for (let place = 0; place < width; place += 1) {
        const at = row * width + place;
        weights.rows[at] = (weights.rows[at] ?? 0) * (1 - decay) - share * (back[place] ?? 0);
      }
  }
  return weights;
}

/** 8-bit integers, with one scale for each of the three parts. */
function stored({ rows, outputs, biases }: ActWeights): Buffer {
  const parts = [rows, outputs, biases];
  const scales = parts.map((part) => part.reduce((most, value) => Math.max(most, Math.abs(value)), 0) / 127);
  const header = Buffer.alloc(12);
  scales.forEach((scale, place) => header.writeFloatLE(scale, place * 4));
  const bytes = parts.map((part, place) =>
    Buffer.from(Int8Array.from(part, (value) => Math.round(value / (scales[place] ?? 1))).buffer),
  );
  return Buffer.concat([header, ...bytes]);
}

const data = await examples();
let right = 0;
const missed: string[] = [];
let sure = 0;
let sureRight = 0;
for (let fold = 0; fold < folds; fold += 1) {
  const weights = train(data.filter((_, place) => place % folds !== fold));
  for (const { act, rows, text } of data.filter((_, place) => place % folds === fold)) {
    const shares = probabilitiesOf(rows, weights);
    const best = shares.indexOf(Math.max(...shares));
    right += best === act ? 1 : 0;
    if ((shares[best] ?? 0) > 0.5) {
      sure += 1;
      sureRight += best === act ? 1 : 0;
    }
    if (best !== act)
      missed.push(`${acts[act] ?? ''} as ${acts[best] ?? ''} (${(shares[best] ?? 0).toFixed(2)}): ${text}`);
  }
}
console.log(
  `${data.length} messages; left out: ${((100 * right) / data.length).toFixed(1)} % right; ` +
    `${((100 * sure) / data.length).toFixed(1)} % are surer than one half, of these ${((100 * sureRight) / sure).toFixed(1)} % right`,
);
if (process.argv.includes('--missed')) console.log(missed.join('\n'));
const out = process.argv.includes('--out') ? process.argv[process.argv.indexOf('--out') + 1] : undefined;
if (out !== undefined) await writeFile(out, stored(train(data)));
