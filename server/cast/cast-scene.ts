import { triggersIn } from '../../agents/scene/sections.ts';
import type { Character } from '../../characters/character.ts';
import { sceneModel } from '../../characters/scene.ts';
import type { Config } from '../config/config.ts';
import type { Engines } from '../engines/engines.ts';
import type { CastChoice, CastScene } from '../realtime/wire-scene.ts';
import type { Problem } from '../session/contract/events.ts';

interface Deps {
  readonly config: Pick<Config, 'defaultCharacter'>;
  readonly engines: Pick<Engines, 'responderFor'>;
  readonly characters: ReadonlyMap<string, Character>;
}

/** The part of a session object that describes its character or scene. */
export function describeCharacter({
  id,
  name,
  tagline,
  languages,
  greetings,
  stage,
}: Character): Record<string, unknown> {
  return {
    character: { id, name, tagline, languages },
    greeting: stage?.scene.circumstance ?? greetings[0] ?? null,
    ...(stage === undefined ? {} : { scene: describeScene(id, stage) }),
  };
}

/** The description of a scene that clients get. */
export function describeScene(id: string, { scene, cast }: NonNullable<Character['stage']>): Record<string, unknown> {
  return {
    id: id.slice(sceneModel('').length),
    title: scene.title,
    user: scene.user,
    cast: cast.map((character) => ({ id: character.id, name: character.name })),
    ...(scene.sections.length === 0
      ? {}
      : { sections: scene.sections.map((section) => section.id), triggers: triggersIn(scene.sections) }),
  };
}

/**
 * Returns the function that casts scenes and characters. A client that leaves a scene talks to `opened` again, or, if
 * that is a scene, to the default character. `allowed`: ids that a client secret allows besides `opened`; undefined if
 * there is none.
 */
export function castScenes(opened: Character, deps: Deps, allowed: readonly string[] | undefined): CastScene {
  const alone = opened.stage === undefined ? opened : deps.characters.get(deps.config.defaultCharacter);
  return (choice) => {
    const id = 'character' in choice ? choice.character : choice.scene && sceneModel(choice.scene);
    const character = id === null ? alone : id === opened.id ? opened : deps.characters.get(id);
    if (character === undefined) return noSuchCast(choice, deps.characters);
    if (allowed !== undefined && character.id !== opened.id && !allowed.includes(character.id))
      return notAllowed(opened, choice);
    return { character, responder: deps.engines.responderFor(character), about: describeCharacter(character) };
  };
}

function noSuchCast(choice: CastChoice, characters: ReadonlyMap<string, Character>): Problem {
  if ('character' in choice) {
    const known = [...characters.keys()].join(', ');
    const message = `There is no character "${choice.character.slice(0, 64)}". Known: ${known}.`;
    return { code: 'unknown_character', message, param: 'session.x_dramatis.character' };
  }
  const id = choice.scene ?? '';
  const scenes = [...characters.values()].filter(({ stage }) => stage !== undefined);
  const known = scenes.map((scene) => scene.id.slice(sceneModel('').length)).join(', ');
  const message = `There is no scene "${id.slice(0, 64)}". Known: ${known === '' ? 'none' : known}.`;
  return { code: 'unknown_scene', message, param: 'session.x_dramatis.scene.id' };
}

function notAllowed({ id }: Character, choice: CastChoice): Problem {
  const what = 'character' in choice ? 'character' : 'scene';
  const message = `The client secret is for the character ${id}. Make one that lists the ${what} in \`x_dramatis.characters\`.`;
  return { code: 'character_not_allowed', message, param: `session.x_dramatis.${what}` };
}
