import { access } from 'node:fs/promises';
import { z } from 'zod';
import { firstTokens } from '../../../agents/llm/token-estimate.ts';
import { EvalError } from '../../eval-error.ts';
import { linesIn } from '../runner/lines.ts';
import type { DataRecord } from '../runner/stage.ts';

const mostClaims = 60;
const profileTokens = 3_500;

/** A character of an encyclopedia, in the form of DITTO's `meta`. */
export const wikiCharacter = z.object({
  /** Of Wikidata; empty in rows of other origin. */
  id: z.string().default(''),
  label: z.string().min(1),
  description: z.string().default(''),
  aliases: z.array(z.string()).default([]),
  /** Property and value. */
  claims: z.array(z.array(z.string())).default([]),
  lang: z.enum(['en', 'zh']),
  summary: z.string().default(''),
});
export type WikiCharacter = z.infer<typeof wikiCharacter>;

export interface CharacterRecord extends DataRecord {
  readonly character: WikiCharacter;
}

/** Reads characters as `data collect` writes them (JSONL). Throws an `EvalError` that names the row. */
export async function* readCharacters(file: string, signal: AbortSignal): AsyncGenerator<CharacterRecord> {
  await access(file).catch((cause: unknown) => {
    throw new EvalError('data', `${file} cannot be read. Give the characters that "data collect" wrote.`, cause);
  });
  const seen = new Set<string>();
  for await (const { text, at, bytes } of linesIn(file)) {
    signal.throwIfAborted();
    if (text.trim() === '') continue;
    const row = z.union([wikiCharacter, z.object({ meta: wikiCharacter }).transform(({ meta }) => meta)]);
    const { data, error } = row.safeParse(JSON.parse(text));
    if (data === undefined)
      throw new EvalError('data', `${file}: a row at byte ${at} is not a character: ${error.message}`);
    const id = `${data.lang}/${data.id || data.label}`;
    if (seen.has(id)) continue;
    seen.add(id);
    const sources = [{ file: file.split('/').at(-1) ?? file, from: at, to: at + bytes }];
    yield { id, character: data, provenance: { stage: 'input', sources, models: [], promptHashes: [] } };
  }
}

/** Name, description, aliases, properties and introduction, cut to fit into a prompt. */
export function profileText({ label, description, aliases, claims, summary }: WikiCharacter): string {
  const lines = claims.slice(0, mostClaims).map(([property = '', ...values]) => `- ${property}: ${values.join(', ')}`);
  const parts = [
    `Name: ${label}`,
    description === '' ? '' : `Description: ${description}`,
    aliases.length === 0 ? '' : `Also called: ${aliases.join(', ')}`,
    ...lines,
    summary,
  ];
  const whole = parts.filter(Boolean).join('\n');
  const cut = firstTokens(whole, profileTokens);
  return cut.length === whole.length ? whole : (/^[\s\S]*[.!?。！？\n]/u.exec(cut)?.[0] ?? cut).trim();
}
