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

/** A line with speech in it: with only an action, the synthesizer would have nothing to say. */
const spokenLine = z
  .string()
  .trim()
  .min(1)
  .max(1_200)
  .refine((line) => /[\p{L}\p{N}]/u.test(line.replaceAll(/\([^)]*\)|\[[^\]]*\]|（[^）]*）|【[^】]*】/gu, '')), {
    error: 'it has no spoken text: actions and thoughts require a line',
  });

const script = z.array(z.strictObject({ speaker: id, text: spokenLine })).max(20);

/** The mark of an edge that a trigger of the client takes. */
export const triggerMark = 'trigger:';

/** A part of a scene, and the ways out of it. */
const sectionSchema = z.strictObject({
  id,
  /** What the characters are about to do; all of them know it. `{{NAME}}`: what a trigger came with. */
  objective: z.string().trim().min(1).max(2_000),
  /** What one of them knows besides, by its id; with `{{NAME}}` as well. */
  knows: z.record(id, z.string().trim().min(1).max(2_000)).default({}),
  /** `on`: `trigger:NAME`, or a statement that the model judges after each turn. The first that holds is taken. */
  edges: z
    .array(z.strictObject({ on: z.string().trim().min(1).max(300), to: id }))
    .max(16)
    .default([]),
  /** Lines in order from here on, if no model plays the characters; without any, those of the scene. */
  script: script.default([]),
});

/** A section of a scene; see the schema. */
export type Section = z.infer<typeof sectionSchema>;

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
  script: script.default([]),
  /** Its parts, of which the first is where it begins; a scene may have none. */
  sections: z.array(sectionSchema).max(32).default([]),
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

/** Returns why sections do not fit together; undefined if they do. */
function faultIn(sections: readonly Section[], participants: ReadonlySet<string>): string | undefined {
  const ids = new Set(sections.map((section) => section.id));
  if (ids.size < sections.length) return 'two sections have the same id';
  for (const { id: name, knows, edges } of sections) {
    const stranger = Object.keys(knows).find((one) => !participants.has(one));
    if (stranger !== undefined)
      return `"${stranger}" knows something in the section "${name}", but is not a participant`;
    const astray = edges.find(({ to }) => !ids.has(to));
    if (astray !== undefined) return `an edge of the section "${name}" leads to "${astray.to}", which is no section`;
    const badTrigger = edges.find(({ on }) => on.startsWith(triggerMark) && !/^trigger:[\w-]{1,64}$/u.test(on));
    if (badTrigger !== undefined)
      return `"${badTrigger.on}" of the section "${name}" is no trigger: use letters, digits, _ and -`;
    if (new Set(edges.map(({ on }) => on)).size < edges.length)
      return `two edges of the section "${name}" are the same`;
  }
  return undefined;
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
  const scripts = [scene.script, ...scene.sections.map((section) => section.script)].flat();
  const stranger = scripts.find(({ speaker }) => !ids.has(speaker));
  if (stranger !== undefined)
    throw new CharacterError(`${file}: "${stranger.speaker}" speaks in the script, but is not a participant`);
  const fault = faultIn(scene.sections, ids);
  if (fault !== undefined) throw new CharacterError(`${file}: ${fault}`);
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
