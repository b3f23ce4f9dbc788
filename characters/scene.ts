import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { cardSchema } from './card.ts';
import { CharacterError } from './character-error.ts';
import type { Character } from './character.ts';

const text = z.string().trim().min(1).max(8_000);
const id = z
  .string()
  .regex(/^[a-z0-9]+(-[a-z0-9]+)*$/, 'lower-case words joined by hyphens')
  .max(64);

/** Id of the narrator that describes events around the characters. */
export const environmentId = 'environment';

/** Names that models use for the narrator, in any scene. */
export const environmentNames: readonly string[] = ['Environment', 'Narrator', 'Narration', '旁白', '环境'];

/** A line with speech in it: an action alone would leave the synthesizer nothing to say. */
const spokenLine = z
  .string()
  .trim()
  .min(1)
  .max(1_200)
  .refine((line) => /[\p{L}\p{N}]/u.test(line.replaceAll(/\([^)]*\)|\[[^\]]*\]|（[^）]*）|【[^】]*】/gu, '')), {
    error: 'it has no spoken text: actions and thoughts require a line',
  });

/** A scene file, `scenes/<id>.json`: several characters in one situation (CoSER's given circumstance). */
export const sceneSchema = z.strictObject({
  title: z.string().trim().min(1).max(120),
  /** One line for pickers. */
  tagline: z.string().trim().min(1).max(120),
  /** Place, time, and events so far. Known to all participants. */
  circumstance: text,
  /** In default turn order, used if nothing else decides. */
  characters: z
    .array(
      z.strictObject({
        /** Pack id. */
        id,
        /** The character's goals in the scene, and thoughts it keeps to itself. */
        motivation: text,
      }),
    )
    .min(2)
    .max(8),
  /** Narrator of events around the characters, with its own voice; no narration if absent. */
  environment: z.strictObject({ name: z.string().trim().min(1).max(80), voice: cardSchema.shape.voice }).optional(),
  /** The user's role; `listener`: not in the scene, and cannot interrupt. */
  user: z.union([
    z.literal('listener'),
    z.strictObject({ name: z.string().trim().min(1).max(80), profile: z.string().trim().max(2_000) }),
  ]),
  /** Limit of turns of characters, the narrator's included. */
  turns: z.number().int().min(1).max(20).default(20),
  /** Lines in order, used if no model plays the characters; (actions) and [thoughts] as in any performance. */
  script: z
    .array(z.strictObject({ speaker: id, text: spokenLine }))
    .max(20)
    .default([]),
});

/** A parsed scene; see the schema. */
export type Scene = z.infer<typeof sceneSchema>;

/** A scene with its participants. */
export interface SceneCast {
  readonly scene: Scene;
  readonly cast: readonly Character[];
  readonly environment?: Character;
}

/** Model name that a client requests for a scene: `scene:ID`. */
export const sceneModel = (sceneId: string): string => `scene:${sceneId}`;

/**
 * Loads the scenes of a folder of packs (`scenes/*.json`), each as a character whose `stage` has the participants.
 * Throws `CharacterError` naming the invalid file or the missing character; if `onBroken` is given, it is called with
 * the error instead, and the scene is left out.
 */
export async function loadSceneCasts(
  folder: string,
  characters: ReadonlyMap<string, Character>,
  onBroken?: (fault: unknown) => void,
): Promise<Character[]> {
  const home = path.join(folder, 'scenes');
  if (!existsSync(home)) return [];
  const files = (await readdir(home)).filter((name) => name.endsWith('.json')).toSorted();
  const stages = await Promise.all(
    files.map(async (name) => {
      const file = path.join(home, name);
      try {
        return stageOf(path.basename(name, '.json'), await readScene(file), characters, file);
      } catch (fault) {
        if (onBroken === undefined) throw fault;
        onBroken(fault);
        return undefined;
      }
    }),
  );
  return stages.filter((stage) => stage !== undefined);
}

async function readScene(file: string): Promise<Scene> {
  let value: unknown;
  try {
    value = JSON.parse(await readFile(file, 'utf8'));
  } catch (cause) {
    throw new CharacterError(`${file}: not valid JSON`, { cause });
  }
  const parsed = sceneSchema.safeParse(value);
  if (!parsed.success) throw new CharacterError(`${file}:\n${z.prettifyError(parsed.error)}`);
  return parsed.data;
}

function stageOf(sceneId: string, scene: Scene, characters: ReadonlyMap<string, Character>, file: string): Character {
  const cast = scene.characters.map((part) => {
    const found = characters.get(part.id);
    if (found === undefined) throw new CharacterError(`${file}: there is no character "${part.id}"`);
    return found;
  });
  const [first] = cast;
  if (first === undefined) throw new CharacterError(`${file}: it has no participants`);
  const ids = new Set([...cast.map((character) => character.id), ...(scene.environment ? [environmentId] : [])]);
  const stranger = scene.script.find(({ speaker }) => !ids.has(speaker));
  if (stranger !== undefined)
    throw new CharacterError(`${file}: "${stranger.speaker}" speaks in the script, but is not a participant`);
  const { id: _id, ...plain } = first;
  const nobody = {
    ...plain,
    lines: [],
    lorebook: [],
    // Evasions of one character must not be spoken for the scene.
    evasions: [],
    repeatRequests: [],
    persona: 'instructions' as const,
    profile: scene.circumstance,
  };
  const environment =
    scene.environment === undefined
      ? {}
      : { environment: { ...nobody, ...scene.environment, id: environmentId } satisfies Character };
  const work = { ...first.work, title: cast.map(({ name }) => name).join(', '), author: undefined };
  return Object.freeze({
    ...nobody,
    id: sceneModel(sceneId),
    name: scene.title,
    tagline: scene.tagline,
    work,
    stage: { scene, cast, ...environment },
  });
}
