import { z } from 'zod';
import { EvalError } from '../eval-error.ts';
import { seededRandom, shuffled } from '../statistics.ts';
import type { TextConfig } from '../text/config.ts';
import { dataHash, isSelected, jsonRowsOf, shortHash } from '../text/data.ts';
import type { LoadedData, SampleFacts } from '../text/text-task.ts';

/** One role and the questions put to it in one conversation. */
export interface WikiRoleFacts extends SampleFacts {
  /** System prompt of the data: name and a short description. */
  readonly system: string;
  readonly prompts: readonly string[];
  /** Four names, one of which is the role's; empty if the data has none. */
  readonly candidates: readonly string[];
  /** For each question, 1 if the role cannot know the answer; empty if the data has none. */
  readonly labels: readonly number[];
  /** Facts for each question. */
  readonly evidence: readonly string[];
  readonly summary: string;
  /** Knowledge of the role, for answers with knowledge. */
  readonly profile: string;
  /** The person who has looked at this row, if anyone has. */
  readonly checkedBy: string | null;
}

const listed = {
  role_consist_cands: z.array(z.string()).optional(),
  rejection_labels: z.array(z.coerce.number()).optional(),
  'rejection labels': z.array(z.coerce.number()).optional(),
  evidence: z.array(z.union([z.string(), z.array(z.string())])).optional(),
};
const rowSchema = z.looseObject({
  system: z.string(),
  prompts: z.array(z.string()).min(1),
  checked_by: z.string().optional(),
  ...listed,
  meta: z.looseObject({
    label: z.string().min(1),
    description: z.string().default(''),
    aliases: z.array(z.string()).default([]),
    claims: z.array(z.array(z.string())).default([]),
    lang: z.string(),
    summary: z.string().default(''),
    ...listed,
  }),
});
type Row = z.infer<typeof rowSchema>;

/** Reads a test set of WikiRoleEval (JSONL). Fields that its files have in two places are taken from either. */
export async function loadWikiRole(config: TextConfig): Promise<LoadedData<WikiRoleFacts>> {
  const problems: string[] = [];
  const samples: WikiRoleFacts[] = [];
  const ids = new Set<string>();
  for await (const { row, value } of jsonRowsOf(config.data, (where) => problems.push(where))) {
    const parsed = rowSchema.safeParse(value);
    if (!parsed.success) {
      problems.push(`${config.data}:${row}: not a row of WikiRoleEval: ${z.prettifyError(parsed.error)}`);
      continue;
    }
    const facts = factsOf(parsed.data, config);
    if (ids.has(facts.id)) throw new EvalError('data', `${config.data}:${row}: ${facts.id} is there twice.`);
    ids.add(facts.id);
    if (isSelected(facts, config)) samples.push(facts);
    if (facts.candidates.length === 0) problems.push(`${facts.id}: no role_consist_cands, so no identity`);
    if (facts.labels.length === 0) problems.push(`${facts.id}: no rejection_labels, so no rejection`);
  }
  const chosen = samples.slice(0, config.select.limit);
  return {
    samples: () => chosen,
    count: chosen.length,
    roles: new Map(chosen.map(({ role, language }) => [role, language])),
    hash: await dataHash([config.data], config.select),
    problems,
  };
}

function factsOf({ system, prompts, checked_by: checkedBy, meta, ...top }: Row, config: TextConfig): WikiRoleFacts {
  const { label, lang, summary, description, aliases, claims } = meta;
  const language = lang.startsWith('zh') ? 'zh' : 'en';
  const id = `${language}/${shortHash(`${label}\u{0}${system}\u{0}${prompts.join('\u{0}')}`)}`;
  const given = meta.role_consist_cands ?? top.role_consist_cands ?? [];
  // The place of the right name would give it away; the released code keeps it.
  const random = seededRandom(config.seed + Number.parseInt(id.slice(-7), 16));
  const candidates = config.parser === 'strict' ? given : shuffled(given, random);
  const evidence = (meta.evidence ?? top.evidence ?? []).map((each) =>
    typeof each === 'string' ? each : each.join('\n'),
  );
  return {
    id,
    group: label,
    role: label,
    language,
    system,
    prompts: prompts.map((prompt) => prompt.trim()),
    candidates,
    labels: meta.rejection_labels ?? meta['rejection labels'] ?? top.rejection_labels ?? top['rejection labels'] ?? [],
    evidence,
    summary,
    profile: [description, aliases.join(', '), ...claims.map((claim) => `- ${claim.join(': ')}`), summary]
      .filter((part) => part !== '')
      .join('\n'),
    checkedBy: checkedBy ?? null,
  };
}

const answeredRow = rowSchema.extend({
  messages: z.array(z.looseObject({ role: z.string(), content: z.string() })),
});

/** Reads stored answers: rows of the data with all `messages`, as DITTO's results and `eval export` write them. */
export async function openAnswers(
  file: string,
  config: TextConfig,
): Promise<(facts: WikiRoleFacts) => readonly string[]> {
  const refuse = (where: string): never => {
    throw new EvalError('data', `${where} is no row of WikiRoleEval with messages. Correct the file.`);
  };
  const known = new Map<string, readonly string[]>();
  for await (const { row, value } of jsonRowsOf(file, refuse)) {
    const parsed = answeredRow.safeParse(value);
    if (!parsed.success) return refuse(`${file}:${row}`);
    const { messages, ...rest } = parsed.data;
    const answers = messages.flatMap(({ role, content }) => (role === 'assistant' ? [content] : []));
    known.set(factsOf(rest, config).id, answers);
  }
  return ({ id, prompts }) => {
    const answers = known.get(id) ?? [];
    if (answers.length === prompts.length) return answers;
    throw new EvalError('data', `${file} has ${answers.length} answers for the ${prompts.length} questions of ${id}.`);
  };
}
