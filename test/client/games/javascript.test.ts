import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { cases } from './conformance-cases.ts';
import { playCase } from './javascript-client.ts';

const recorded = JSON.parse(readFileSync(path.join(import.meta.dirname, 'conformance.json'), 'utf8')) as {
  readonly name: string;
  readonly steps: unknown;
}[];

describe('the conformance file of all game clients', () => {
  it('has every case', () => {
    expect(recorded.map(({ name }) => name)).toEqual(Object.keys(cases));
  });

  it.each(recorded)('is what dramatis/client does: $name', async ({ name, steps }) => {
    expect(JSON.parse(JSON.stringify(await playCase(cases[name] ?? [])))).toEqual(steps);
  });
});
