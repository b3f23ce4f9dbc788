import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { dimensions } from '../../../eval/coser/penalties.ts';
import type { TextSummary } from '../../../eval/text/summary.ts';
import { openTextModelServer, type ChatRequest } from '../../fakes/servers/text-model-server.ts';
import { evaluate } from '../../rigs/eval-rig.ts';
import { sharedPath } from '../../shared.ts';
import { openScratch } from '../scratch.ts';

/** A checkout of Neph0s/CoSER; its licence allows research alone, so it is not part of the project. */
const checkout = sharedPath('CoSER');

interface Released {
  readonly scores: Readonly<Record<string, number>>;
  readonly cases: Readonly<
    Record<string, { readonly simulation_str: string; readonly critique: Record<string, unknown> }>
  >;
}

describe('the released outputs of CoSER', () => {
  it.skipIf(!existsSync(checkout))(
    'give the published Overall, dimensions and scenes when their judgments are read again',
    async () => {
      await using scratch = await openScratch();
      const text = await readFile(path.join(checkout, 'exp/evaluation/test_set_gpt-4o.json'), 'utf8');
      const { scores, cases } = JSON.parse(text) as Released;
      // Answers what GPT-4o answered about the scene that is shown.
      const judge = ({ messages }: ChatRequest): string => {
        const shown = (messages.at(-1)?.content ?? '').slice(0, 80);
        const found = Object.values(cases).find((each) => each.simulation_str.slice(0, 80) === shown);
        const { name } =
          dimensions.find((each) => messages[0]?.content.includes(`one respect only: ${each.name}`)) ?? {};
        return JSON.stringify({ [name ?? '']: found?.critique[name ?? ''] });
      };
      await using server = await openTextModelServer({ judge });
      const out = path.join(scratch.path, 'run');
      const data = ['--data', path.join(checkout, 'data/test/example_test_set.json')];
      const outputs = ['--outputs', path.join(checkout, 'exp/simulation/test_set_gpt-4o.json')];
      const how = ['--bare-transcript', '--parser', 'strict', '--judge', `${server.url}/v1`, '--judge-model', 'judge'];
      const run = await evaluate(['run', '--task', 'coser', ...data, ...outputs, ...how, '--out', out]);
      expect(run.printed).toContain('3 of 3 items answered');
      const summary = JSON.parse((await evaluate(['rescore', out, '--json'])).printed) as TextSummary;
      const cells = summary.rows[0]?.cells ?? {};
      for (const { key, name } of dimensions) expect(cells[key]?.value).toBeCloseTo(scores[name] ?? Number.NaN, 10);
      expect(cells['average']?.value).toBeCloseTo(62.416_666_666_666_664, 10);
      expect(cells['case']?.value).toBeCloseTo(scores['avg'] ?? Number.NaN, 10);
      // To the last digit, up to the order of three numbers in a sum.
      expect(cells['rouge-l']?.value).toBeCloseTo(scores['rouge_l'] ?? Number.NaN, 15);
      expect(cells['bleu']?.value).toBeCloseTo(scores['bleu'] ?? Number.NaN, 15);
    },
    60_000,
  );
});
