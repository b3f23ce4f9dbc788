import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { EvalError } from '../../eval-error.ts';
import { metricKeys, type MetricKey } from '../judging/metrics.ts';
import { languageOf, paperRoles } from '../data/test-data.ts';
import type { JudgedPair, JudgedSample } from '../judging/scores.ts';

const entry = z.object({
  reason: z.string().optional(),
  score: z.tuple([z.number(), z.number()]).optional(),
  score_a: z.number().optional(),
  score_b: z.number().optional(),
});
const dialogue = z.looseObject({ idx: z.number().optional() });

/**
 * Protocol of a result file, detected by its shape: `v1` keeps the whole free text with `[Scores]`, `v2` only the
 * reason.
 */
export type ResultsProtocol = 'v1' | 'v2';

/** Published judgments, or those made by the reference implementation. */
export interface JudgedResults {
  readonly protocols: readonly ResultsProtocol[];
  readonly samples: readonly JudgedSample[];
  /** Files that are not results, by name, with the reason. */
  readonly problems: readonly string[];
}

/**
 * Reads one result file of a role, or all below a folder (`single/<role>.json`, `multi/<role>.json`): a list of
 * dialogues, or of one-element lists, whose `idx` is always 0, so dialogues are numbered by position. Throws an
 * `EvalError` if nothing is found.
 */
export async function readResults(place: string): Promise<JudgedResults> {
  const files = await jsonFiles(place);
  const samples: JudgedSample[] = [];
  const problems: string[] = [];
  const protocols = new Set<ResultsProtocol>();
  /** Source file by dialogue id. */
  const from = new Map<string, string>();
  for (const file of files) {
    try {
      const found = readResultText(await readFile(file, 'utf8'), file);
      for (const protocol of found.protocols) protocols.add(protocol);
      for (const sample of found.samples) {
        const other = from.get(sample.id);
        if (other !== undefined)
          throw new EvalError('data', `${sample.id} is in ${other} and in ${file}. Give the folder of one system.`);
        from.set(sample.id, file);
      }
      samples.push(...found.samples);
    } catch (fault) {
      if (fault instanceof EvalError) throw fault;
      problems.push(`${file}: ${fault instanceof Error ? fault.message : String(fault)}`);
    }
  }
  if (samples.length === 0) {
    const why = problems[0] ?? `${place}: no JSON files here`;
    throw new EvalError('data', `${why}. Give a result file of a role, or a folder of them.`);
  }
  return { protocols: [...protocols].toSorted(), samples, problems };
}

function readResultText(text: string, file: string): { samples: JudgedSample[]; protocols: Set<ResultsProtocol> } {
  const list = z.array(z.union([dialogue, z.tuple([dialogue])])).safeParse(JSON.parse(text));
  if (!list.success) throw new Error('not a list of judged dialogues');
  const role = path.basename(file, '.json');
  const mode = modeOf(file);
  const protocols = new Set<ResultsProtocol>();
  const samples = list.data.map((item, index): JudgedSample => {
    const judged = Array.isArray(item) ? item[0] : item;
    const scores: Partial<Record<MetricKey, JudgedPair | null>> = {};
    for (const metric of metricKeys) {
      const raw = judged[`${metric}_results`] ?? judged[metric];
      if (raw === undefined) continue;
      const parsed = entry.safeParse(raw);
      if (!parsed.success) {
        scores[metric] = null;
        continue;
      }
      const { reason = '', score, score_a, score_b } = parsed.data;
      protocols.add(Array.isArray(item) || reason.includes('[Scores]') ? 'v1' : 'v2');
      const [test, reference] = score ?? [score_a, score_b];
      scores[metric] = test === undefined || reference === undefined ? null : { test, reference };
    }
    if (Object.keys(scores).length === 0) throw new Error('no judged metrics');
    return {
      id: `${mode}/${role}/${index}`,
      role,
      // A result file has no dialogue text, so a role that the paper does not list falls back to English.
      language: languageOf(role, ''),
      mode,
      domain: paperRoles[role]?.split === 'dev' ? 'out' : 'in',
      category: null,
      scores,
    };
  });
  return { samples, protocols };
}

/** Reads the mode from folder names such as `single`, `single_turn` or `multi_result`; the last match counts. */
export function modeOf(file: string): 'single' | 'multi' {
  const folders = path.dirname(path.resolve(file)).split(path.sep);
  const found = folders.findLast((name) => /^(single|multi)(_|$)/i.test(name)) ?? '';
  return /^multi/i.test(found) ? 'multi' : 'single';
}

async function jsonFiles(place: string): Promise<string[]> {
  const found = await stat(place).catch(() => undefined);
  if (found === undefined) throw new EvalError('data', `${place} does not exist. Check the path.`);
  if (found.isFile()) return [place];
  const names = await readdir(place, { recursive: true });
  return names
    .filter((name) => name.endsWith('.json'))
    .toSorted()
    .map((name) => path.join(place, name));
}
