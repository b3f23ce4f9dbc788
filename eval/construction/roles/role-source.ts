import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { scriptLines, speakerNamed, type ScriptLine } from '../../../characters/importers/script-lines.ts';
import { withoutFrame } from '../../../characters/importers/role-frame.ts';
import { estimateTokens } from '../../../agents/llm/token-estimate.ts';
import { EvalError } from '../../eval-error.ts';
import { piecesOf } from '../books/halve.ts';
import { decodeText } from '../books/decode.ts';
import { reviewedDialoguesIn } from '../records/decisions.ts';
import { messageOf, type Dialogue } from '../records/dialogue.ts';
import type { DataRecord, Source } from '../runner/stage.ts';
import { languageOf, type TextLanguage } from '../runner/words.ts';

/** A scene of a role's script. */
export interface RoleScene {
  /** Time, place and persons; empty if the script does not say. */
  readonly setting: string;
  readonly lines: readonly ScriptLine[];
  readonly sources: readonly Source[];
}

/** A role with all that is known of it. */
export interface RoleSource extends DataRecord {
  /** Name of its files. */
  readonly key: string;
  readonly name: string;
  readonly work: string;
  readonly language: TextLanguage;
  /** Profile as given; empty if there is none. */
  readonly profile: string;
  readonly scenes: readonly RoleScene[];
}

const leastLines = 8;
const sceneTokens = 2_000;

/**
 * Reads roles: a folder with `role_profiles/KEY_profile.txt` and `scripts/KEY_scripts.txt` (SpeechRole's), or the folder
 * of another build, of which the held-out dialogues are left out. Throws an `EvalError` if there is no role.
 */
export async function* readRoleSources(place: string, signal: AbortSignal): AsyncGenerator<RoleSource> {
  let count = 0;
  const found = existsSync(path.join(place, 'role_profiles')) ? rolesInFolder(place) : rolesInBuild(place);
  for await (const role of found) {
    signal.throwIfAborted();
    count += 1;
    yield role;
  }
  if (count === 0)
    throw new EvalError(
      'data',
      `${place} has no role with ${leastLines} lines. Give a build, or role_profiles/ and scripts/.`,
    );
}

async function* rolesInFolder(place: string): AsyncGenerator<RoleSource> {
  const ending = '_profile.txt';
  const folder = path.join(place, 'role_profiles');
  for (const file of (await readdir(folder)).filter((name) => name.endsWith(ending)).sort()) {
    const key = file.slice(0, -ending.length);
    const profile = decodeText(await readFile(path.join(folder, file))).text.trim();
    const script = path.join('scripts', `${key}_scripts.txt`);
    const bytes = await readFile(path.join(place, script)).catch(() => undefined);
    const text = bytes === undefined ? '' : decodeText(bytes).text;
    const [, name = key, work = ''] = /^I want you to act like (.+?) from (.+?)\.?$/m.exec(profile) ?? [];
    const scenes = scenesOf(text, script);
    const speaker = speakerNamed(scriptLines(text), name) ?? name;
    const own = withoutFrame(profile) || profile;
    yield {
      id: key,
      key,
      name: speaker,
      work,
      language: languageOf(`${own}${text.slice(0, 20_000)}`),
      profile: own,
      scenes,
      provenance: { stage: 'input', sources: scenes.flatMap(({ sources }) => sources), models: [], promptHashes: [] },
    };
  }
}

/** Parts of a script of at most 2,000 tokens, in whole lines. */
function scenesOf(script: string, file: string): readonly RoleScene[] {
  return piecesOf(script, { from: 0, to: script.length }, sceneTokens).map(({ from, to }) => ({
    setting: '',
    lines: scriptLines(script.slice(from, to)),
    sources: [{ file, from, to }],
  }));
}

async function* rolesInBuild(place: string): AsyncGenerator<RoleSource> {
  const roles = new Map<
    string,
    { readonly first: Dialogue; readonly scenes: RoleScene[]; profile: string; count: number }
  >();
  for await (const dialogue of reviewedDialoguesIn(place)) {
    if (dialogue.labels?.['split'] === 'test') continue;
    const scene: RoleScene = {
      setting: dialogue.scene ?? '',
      lines: dialogue.turns.map((turn) => ({ speaker: turn.speaker, text: messageOf(turn, { withThought: false }) })),
      sources: dialogue.provenance?.sources ?? [],
    };
    for (const name of new Set(
      dialogue.turns.filter(({ kind }) => kind === 'character').map(({ speaker }) => speaker),
    )) {
      const role = roles.get(name) ?? { first: dialogue, scenes: [], profile: '', count: 0 };
      roles.set(name, role);
      role.scenes.push(scene);
      role.profile ||= dialogue.profiles?.[name] ?? '';
      role.count += scene.lines.filter(({ speaker }) => speaker === name).length;
    }
  }
  // Where a build has profiles, a speaker without one is of a crowd.
  const isProfiled = [...roles.values()].some(({ profile }) => profile !== '');
  for (const [name, { first, scenes, profile, count }] of roles) {
    if (count < leastLines || (isProfiled && profile === '')) continue;
    const sources = scenes.flatMap((scene) => scene.sources);
    const key = name.replaceAll(/[/\\:]/g, '-');
    const provenance = { stage: 'input', sources: unique(sources), models: [], promptHashes: [] };
    yield { id: key, key, name, work: first.source, language: first.language, profile, scenes, provenance };
  }
}

function unique(sources: readonly Source[]): readonly Source[] {
  return [...new Map(sources.map((source) => [JSON.stringify(source), source])).values()];
}

/** Text of a scene, as ChatHaruhi writes it. */
export function sceneText({ setting, lines }: Pick<RoleScene, 'setting' | 'lines'>): string {
  const head = setting === '' ? [] : [`scene:${setting}`];
  return [...head, ...lines.map(({ speaker, text }) => `${speaker}:「${text}」`)].join('\n');
}

/** Scenes in a row, gathered to at most so many tokens. */
export function segmentsOf(scenes: readonly RoleScene[], mostTokens: number): readonly (readonly RoleScene[])[] {
  const segments: RoleScene[][] = [];
  let tokens = 0;
  for (const scene of scenes) {
    const more = estimateTokens(sceneText(scene));
    const last = segments.at(-1);
    if (last === undefined || tokens + more > mostTokens) {
      segments.push([scene]);
      tokens = more;
      continue;
    }
    last.push(scene);
    tokens += more;
  }
  return segments;
}
