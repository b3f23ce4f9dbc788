import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Step } from './javascript-client.ts';

/** The conformance file. */
export const conformanceFile = path.join(import.meta.dirname, 'conformance.json');

/** Its cases. */
export const recorded = JSON.parse(readFileSync(conformanceFile, 'utf8')) as {
  readonly name: string;
  readonly steps: Step[];
}[];

/** What a client did, or should do, in a form that compares: queries as fields, weights to the fourth digit. */
export function comparable(steps: readonly Omit<Step, 'input'>[]): unknown[] {
  return steps.map(({ wire, speaker, game }) => ({
    wire: wire.map(plain),
    speaker: speaker.map(plain),
    game: game.map(plain),
  }));
}

function plain(value: unknown): unknown {
  if (typeof value === 'number') return Math.round(value * 1e4) / 1e4;
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([name, each]) => {
    const isQuery = name === 'query' && typeof each === 'string';
    const query = isQuery ? Object.fromEntries(new URLSearchParams(each)) : plain(each);
    return [name, name === 'query' ? withoutPlace(query as Record<string, string>) : query] as const;
  });
  return Object.fromEntries(entries);
}

/** `at` is optional: a server that continues for another one repeats up to a phrase to clients that do not send it. */
function withoutPlace(query: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(query).filter(([name]) => name !== 'at'));
}
