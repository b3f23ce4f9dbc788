import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import type { ImportedPack, Problem } from '../../../characters/importers/draft.ts';
import { speechRolePack } from '../../../characters/importers/speechrole.ts';
import { writePack } from '../../../characters/pack-folder.ts';
import { EvalError } from '../../eval-error.ts';
import { promptCard } from '../../prompt-card.ts';
import { paperRoles, roleNameOf, type DialogueSample } from './test-data.ts';

/**
 * Persona mode of a role. `benchmark`: the model gets the data's system prompt verbatim and nothing else. `dramatis`:
 * the profile in it becomes a character of ours, and the script a scene.
 */
export type Persona = 'benchmark' | 'dramatis';

/**
 * Returns the character id of a role; never that of a pack shipped with Dramatis. It ends with a hash, because the names
 * of Chinese roles have no Latin letters.
 */
export function characterIdOf(role: string): string {
  const words = role.toLowerCase().match(/[a-z0-9]+/g) ?? [];
  const hash = createHash('sha256').update(role).digest('hex').slice(0, 8);
  return `${['speechrole', ...words].join('-').slice(0, 55).replace(/-+$/, '')}-${hash}`;
}

/** Splits a system prompt of the data into the profile and the script that follows it. */
export function splitPrompt(systemPrompt: string): { readonly profile: string; readonly script: string } {
  const at = systemPrompt.search(/\n\nThe character script below\b/);
  if (at < 0) return { profile: systemPrompt, script: '' };
  return { profile: systemPrompt.slice(0, at), script: systemPrompt.slice(at).trim() };
}

/** Returns the session instructions: the whole system prompt, or only the script if the profile is in the character. */
export function instructionsFor(sample: DialogueSample, persona: Persona): string {
  const { systemPrompt } = sample.input;
  return persona === 'benchmark' ? systemPrompt : splitPrompt(systemPrompt).script;
}

/** Writes one character pack per role into a folder, for the server under test. Returns character ids by role. */
export async function writePacks(
  samples: readonly DialogueSample[],
  folder: string,
  persona: Persona,
): Promise<ReadonlyMap<string, string>> {
  const ids = new Map<string, string>();
  for (const sample of samples) {
    const { role } = sample.input;
    if (ids.has(role)) continue;
    const id = characterIdOf(role);
    ids.set(role, id);
    const made = persona === 'benchmark' ? { card: cardOf(sample, id), lines: [] } : packOf(sample, id);
    await writePack(folder, made, true);
  }
  return ids;
}

/** A character of ours, as `characters import --from speechrole` makes it. */
function packOf({ input }: DialogueSample, id: string): Pick<ImportedPack, 'card' | 'lines'> {
  const { role, language, systemPrompt } = input;
  const { profile, script } = splitPrompt(systemPrompt);
  const problems: Problem[] = [];
  const pack = speechRolePack({ key: role, profile: profile.trim() || role, script, where: role }, problems);
  if (pack === undefined)
    throw new EvalError('data', `${problems[0]?.where}: ${problems[0]?.what}. Leave the role out with --roles.`);
  const voice = { ...pack.card.voice, gender: paperRoles[role]?.gender ?? pack.card.voice.gender };
  return { card: { ...pack.card, id, languages: [language], voice }, lines: pack.lines };
}

/** A card that only carries the data's prompt. */
function cardOf({ input }: DialogueSample, id: string): ReturnType<typeof promptCard> {
  const { role, language, systemPrompt } = input;
  const name = roleNameOf(systemPrompt)?.split(' from ')[0] ?? role;
  const { profile } = splitPrompt(systemPrompt);
  return promptCard({ id, role, language, source: 'SpeechRole', name, profile, gender: paperRoles[role]?.gender });
}

/** A role's reference clip for voice cloning, with its transcript. */
export interface RoleClip {
  readonly wav: string;
  readonly transcript: string;
  readonly language: 'en' | 'zh';
}

/** Reads `role_voices/`: `<role>.wav`, and `audios_text.json` with transcripts (raw ASR output, unreliable). */
export async function readRoleClips(
  folder: string,
  samples: Iterable<{ readonly input: Pick<DialogueSample['input'], 'role' | 'language'> }>,
): Promise<Map<string, RoleClip>> {
  const file = path.join(folder, 'audios_text.json');
  const transcripts = await readFile(file, 'utf8')
    .then((text) => z.record(z.string(), z.string()).parse(JSON.parse(text)))
    .catch((cause: unknown) => {
      throw new EvalError(
        'data',
        `${file} cannot be read. --role-voices needs it: the transcript of each clip.`,
        cause,
      );
    });
  const clips = new Map<string, RoleClip>();
  for (const { input } of samples) {
    const transcript = transcripts[input.role];
    if (transcript === undefined || transcript.trim() === '') continue;
    clips.set(input.role, { wav: path.resolve(folder, `${input.role}.wav`), transcript, language: input.language });
  }
  return clips;
}
