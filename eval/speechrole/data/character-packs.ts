import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { cardSchema } from '../../../characters/card.ts';
import { EvalError } from '../../eval-error.ts';
import { paperRoles } from './roles.ts';
import { roleNameOf, type DialogueSample } from './test-data.ts';

/**
 * Persona mode of a role. `benchmark`: the model gets the data's system prompt verbatim and nothing else. `dramatis`:
 * the profile in it becomes a character of ours, and the script a scene.
 */
export type Persona = 'benchmark' | 'dramatis';

/** Returns the character id of a role; never that of a pack shipped with Dramatis. */
export function characterIdOf(role: string): string {
  const words = role.toLowerCase().match(/[a-z0-9]+/g) ?? [];
  return `speechrole-${words.join('-')}`.slice(0, 64).replace(/-+$/, '');
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

const english = {
  greetings: ['Yes?'],
  evasions: [
    'Hm.',
    'Let me think.',
    'I would rather not say.',
    'Who knows.',
    'That is a long story.',
    'Ask me another.',
  ],
  repeats: ['What was that?', 'Say that again.', 'I did not hear you.'],
};
const chinese = {
  greetings: ['嗯？'],
  evasions: ['嗯。', '让我想想。', '这个不好说。', '谁知道呢。', '说来话长。', '问点别的吧。'],
  repeats: ['你说什么？', '再说一遍。', '我没听清。'],
};

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
    if ([...ids.values()].includes(id))
      throw new EvalError('data', `Two roles would be called ${id}: rename one of the files.`);
    ids.set(role, id);
    const place = path.join(folder, id);
    await mkdir(place, { recursive: true });
    await writeFile(path.join(place, 'card.json'), `${JSON.stringify(cardOf(sample, id, persona), null, 2)}\n`);
    await writeFile(path.join(place, 'lines.jsonl'), '');
  }
  return ids;
}

function cardOf({ input }: DialogueSample, id: string, persona: Persona): z.infer<typeof cardSchema> {
  const { role, language, systemPrompt } = input;
  const lines = language === 'zh' ? chinese : english;
  const name = (roleNameOf(systemPrompt)?.split(' from ')[0] ?? role).slice(0, 400);
  const { profile } = splitPrompt(systemPrompt);
  const text = profile.trim().slice(0, 8_000) || role;
  return cardSchema.parse({
    id,
    name,
    tagline: `${role}, of SpeechRole`.slice(0, 120),
    identity: `${name}, as SpeechRole has it`.slice(0, 400),
    work: { title: 'SpeechRole', rights: 'The benchmark is the property of its authors; for evaluation only.' },
    languages: [language],
    profile: text,
    background: 'As the profile tells.',
    relationships: [],
    temperament: ['as the profile tells'],
    style: 'As the profile and the script show.',
    catchphrases: [],
    knowledge: { knows: 'What the profile and the script tell.', unknown: 'Anything outside that world.' },
    greetings: lines.greetings,
    evasions: lines.evasions,
    repeatRequests: lines.repeats,
    voice: {
      gender: paperRoles[role]?.gender ?? 'neutral',
      description: `the voice of ${role}`.slice(0, 400),
    },
    ...(persona === 'benchmark' ? { persona: 'instructions' } : {}),
  });
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
  samples: readonly DialogueSample[],
): Promise<Map<string, RoleClip>> {
  const file = path.join(folder, 'audios_text.json');
  const parsed = z
    .record(z.string(), z.string())
    .safeParse(JSON.parse(await readFile(file, 'utf8').catch(() => 'null')));
  if (!parsed.success) throw new EvalError('data', `${file}: the transcripts of the roles' clips are not here.`);
  const clips = new Map<string, RoleClip>();
  for (const { input } of samples) {
    const transcript = parsed.data[input.role];
    if (transcript === undefined || transcript.trim() === '') continue;
    clips.set(input.role, { wav: path.resolve(folder, `${input.role}.wav`), transcript, language: input.language });
  }
  return clips;
}
