import { existsSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { CharacterError } from '../character-error.ts';
import { packOf, type ImportedPack, type ImportReport, type Problem } from './draft.ts';
import { filesEnding, folderBelow, jsonOf, misfit, textOrProblem } from './files.ts';
import { withoutFrame } from './role-frame.ts';
import { exchangesOf, isSameName, scriptLines, speakerNamed, wordsOf } from './script-lines.ts';

const rights = 'SpeechRole (research data, derived from RoleLLM and film scripts); do not publish';

/**
 * Imports SpeechRole's role metadata: `role_profiles/<key>_profile.txt`, `scripts/<key>_scripts.txt`,
 * `role_voices/<key>.wav` and the transcripts in `audios_text.json`, in any of its past layouts. The keys are those of
 * `audios_text.json` and of the profiles (they contain dots, blanks and underscores, so file names are not split). Test
 * dialogues are checked, but not imported as lines: the role is evaluated with them.
 */
export async function importSpeechRole(place: string): Promise<ImportReport> {
  const problems: Problem[] = [];
  const top = await folderBelow(
    place,
    ['.', 'metadata', 'role_metadata/metadata', 'metadata/metadata', 'code/metadata'].flatMap((folder) => [
      `${folder}/role_profiles`,
    ]),
  );
  if (top === undefined)
    throw new CharacterError(`${place}: contains no role_profiles folder; name the SpeechRole metadata folder`);
  const home = path.dirname(top);
  const transcripts = await transcriptsOf(home, problems);
  const profiled = await keysOfProfiles(top);
  for (const key of transcripts === undefined ? [] : profiled)
    if (!Object.hasOwn(transcripts ?? {}, key))
      problems.push({ where: home, what: `no transcript of the voice of "${key}" in audios_text.json` });
  const keys = new Set([...Object.keys(transcripts ?? {}), ...profiled]);
  const packs: ImportedPack[] = [];
  for (const key of keys) {
    const pack = await importRole(key, { top, home, place, transcript: transcripts?.[key] }, problems);
    if (pack !== undefined) packs.push(pack);
  }
  return { packs, problems };
}

interface Home {
  readonly top: string;
  readonly home: string;
  readonly place: string;
  readonly transcript: string | undefined;
}

async function importRole(key: string, home: Home, problems: Problem[]): Promise<ImportedPack | undefined> {
  const file = path.join(home.top, `${key}_profile.txt`);
  // Keys come from an untrusted file, and become paths.
  const profile = /[/\\\0]/u.test(key) ? undefined : await textOrProblem(file, problems);
  if (profile === undefined) {
    problems.push({ where: file, what: `no profile of the role "${key}"` });
    return undefined;
  }
  const { name, work } = readProfile(profile, key);
  const latin = /^[\p{Script=Latin}\p{N}\p{P}\p{Z}]+$/u.test(name);
  if (latin && !isSameName(name, key))
    problems.push({
      where: file,
      what: `the profile of "${key}" describes ${name}${work === undefined ? '' : ` from ${work}`}`,
    });
  const scriptFile = path.join(home.home, 'scripts', `${key}_scripts.txt`);
  const script = await textOrProblem(scriptFile, problems);
  if (script === undefined) problems.push({ where: scriptFile, what: `no script of the role "${key}"` });
  await checkDialogues(key, name, home.place, problems);
  const pack = speechRolePack({ key, profile, script: script ?? '', where: file }, problems);
  const clip = path.join(home.home, 'role_voices', `${key}.wav`);
  const hasClip = existsSync(clip);
  if (!hasClip) problems.push({ where: clip, what: `no voice of the role "${key}"` });
  if (pack === undefined) return undefined;
  return hasClip ? { ...pack, voice: { file: clip, transcript: home.transcript ?? '' } } : pack;
}

/** Makes a pack of the profile and the script of a role, without the sentences that all profiles share. */
export function speechRolePack(
  { key, profile, script, where }: { key: string; profile: string; script: string; where: string },
  problems: Problem[],
): ImportedPack | undefined {
  const { name, work, description } = readProfile(profile, key);
  const lines = scriptLines(script);
  const speaker = speakerNamed(lines, name);
  const exchanges = speaker === undefined ? [] : exchangesOf(lines, speaker);
  const draft = { name, key, rights, profile: description, exchanges };
  return packOf({ ...draft, ...(work === undefined ? {} : { work }) }, where, problems);
}

const opening = /^I want you to act like (.+?)\.?\s*$/u;
/** Parses name, work and description of a profile; if its first line has another form, the key is the name. */
function readProfile(profile: string, key: string): { name: string; work?: string; description: string } {
  const [first = '', ...rest] = profile.split(/\r?\n/u);
  const description = withoutFrame(rest.join('\n'));
  const about = opening.exec(first.trim())?.[1];
  if (about === undefined) return { name: key, description: profile.trim() };
  const cut = nameEnd(about, key);
  if (cut < 0) return { name: about, description };
  return { name: about.slice(0, cut), work: about.slice(cut + ' from '.length).replaceAll('_', ' '), description };
}

/** Position of " from " in "Name from Work". Both may contain "from": the longest name of words of the key counts. */
function nameEnd(about: string, key: string): number {
  const cuts = [...about.matchAll(/ from /gu)].map(({ index }) => index);
  const known = cuts.findLast((cut) => wordsOf(about.slice(0, cut)).every((word) => wordsOf(key).includes(word)));
  return known ?? cuts[0] ?? -1;
}

async function transcriptsOf(home: string, problems: Problem[]): Promise<Readonly<Record<string, string>> | undefined> {
  for (const file of [path.join(home, 'audios_text.json'), path.join(home, 'role_voices', 'audios_text.json')]) {
    if (!existsSync(file)) continue;
    const value = await jsonOf(file, problems);
    const parsed = z.record(z.string(), z.string()).safeParse(value);
    if (parsed.success) return parsed.data;
    if (value !== undefined)
      problems.push({ where: file, what: `not one object with roles and transcripts: ${misfit(parsed.error)}` });
  }
  return undefined;
}

async function keysOfProfiles(top: string): Promise<string[]> {
  const ending = '_profile.txt';
  return (await filesEnding(top, ending)).map((file) => path.basename(file).slice(0, -ending.length));
}

const dialogues = z.array(
  z.looseObject({
    dialogue: z.array(z.looseObject({ user: z.string(), role: z.string() })),
    system_prompt: z.string().optional(),
  }),
);

/** Checks that the test dialogues of a role, if present, are the role's. */
async function checkDialogues(key: string, name: string, place: string, problems: Problem[]): Promise<void> {
  for (const mode of ['single_turn', 'multi_turn']) {
    const file = path.join(place, 'test_data', mode, `${key}.json`);
    if (!existsSync(file)) continue;
    const value = await jsonOf(file, problems);
    if (value === undefined) continue;
    const parsed = dialogues.safeParse(value);
    if (!parsed.success) problems.push({ where: file, what: `not an array of dialogues: ${misfit(parsed.error)}` });
    else
      for (const [index, { system_prompt: prompt }] of parsed.data.entries()) {
        const about = opening.exec(prompt?.split('\n')[0]?.trim() ?? '')?.[1];
        if (about !== undefined && !about.startsWith(name))
          problems.push({
            where: `${file}[${index}]`,
            what: `its system prompt is for ${about}, its profile for ${name}`,
          });
      }
  }
}
