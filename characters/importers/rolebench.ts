import path from 'node:path';
import { z } from 'zod';
import { packOf, type ImportReport, type Problem } from './draft.ts';
import { filesEnding, jsonOf, jsonRows, misfit } from './files.ts';

const row = z.looseObject({
  role: z.string().min(1),
  question: z.string(),
  generated: z.array(z.string()),
  // One for the row, or one for each answer.
  type: z.union([z.string(), z.array(z.string())]).optional(),
});
const descriptions = z.record(z.string(), z.string());

/** Only rows about the role itself become lines; answers to general questions say nothing about it. */
const isGeneral = /[/\\]general[/\\]|[/\\]general\.jsonl$/u;

/**
 * Imports RoleBench: rows `{role, question, generated[]}` in any of its JSONL files, with the descriptions of
 * `profiles-eng/desc.json` or `profiles-zh/desc.json` if they are below the same folder. Questions become triggers, the
 * first answer the reply. Baseline files contain RoleGPT's output, not the role's, and are skipped. The answers in
 * `test.jsonl` would give away the examination, so they are skipped, too, unless the file itself is given; so is the split
 * by role beside the one by question: it has the same rows, and questions for training that the other one holds out.
 */
export async function importRoleBench(place: string): Promise<ImportReport> {
  const problems: Problem[] = [];
  const found = (await filesEnding(place, '.jsonl')).filter((file) => !isGeneral.test(file));
  const isByQuestion = found.some((file) => file.includes('instruction-generalization'));
  const files = found.filter((file) => !isByQuestion || !file.includes('role-generalization'));
  const described = await descriptionsBelow(place, problems);
  const roles = new Map<string, { ask: string; reply: string }[]>();
  for (const file of files) {
    if (path.basename(file).includes('baseline')) continue;
    if (file !== place && path.basename(file) === 'test.jsonl') {
      problems.push({
        where: file,
        what: 'left out: the role is examined with these answers; name the file to import it',
      });
      continue;
    }
    for await (const { row: number, value } of jsonRows(file, problems)) {
      const parsed = row.safeParse(value);
      const [reply = ''] = parsed.data?.generated ?? [];
      if (!parsed.success)
        problems.push({ where: `${file}:${number}`, what: `not a RoleBench row: ${misfit(parsed.error)}` });
      else if (reply.trim() === '')
        problems.push({ where: `${file}:${number}`, what: `no answer of ${parsed.data.role}` });
      else {
        const { role, question } = parsed.data;
        const exchanges = roles.get(role) ?? [];
        roles.set(role, exchanges);
        exchanges.push({ ask: question, reply });
      }
    }
  }
  for (const role of described.keys()) if (!roles.has(role)) roles.set(role, []);
  const packs = [...roles].flatMap(([role, exchanges]) => {
    const profile = described.get(role);
    if (profile === undefined)
      problems.push({ where: place, what: `no description of ${role} (profiles-*/desc.json)` });
    const pack = packOf(
      { name: role, rights: 'RoleBench, Apache-2.0', exchanges, ...(profile === undefined ? {} : { profile }) },
      `${place}: ${role}`,
      problems,
    );
    return pack === undefined ? [] : [pack];
  });
  return { packs, problems };
}

async function descriptionsBelow(place: string, problems: Problem[]): Promise<ReadonlyMap<string, string>> {
  const files = place.endsWith('.jsonl') ? [] : await filesEnding(place, 'desc.json').catch(() => []);
  const found = new Map<string, string>();
  for (const file of files) {
    const value = await jsonOf(file, problems);
    if (value === undefined) continue;
    const parsed = descriptions.safeParse(value);
    if (!parsed.success) problems.push({ where: file, what: 'not one object with roles and descriptions' });
    for (const [role, text] of Object.entries(parsed.data ?? {})) found.set(role, text);
  }
  return found;
}
