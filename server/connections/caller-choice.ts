import type { Character } from '../../characters/character.ts';
import { sceneModel } from '../../characters/scene.ts';
import { userName } from '../protocol/client-events.ts';
import { limits } from '../protocol/limits.ts';
import type { Problem } from '../session/contract/events.ts';
import { allows, type ClientSecret } from '../http/client-secrets.ts';
import type { Config } from '../config/config.ts';

interface Choice {
  readonly config: Pick<Config, 'defaultCharacter'>;
  readonly characters: ReadonlyMap<string, Character>;
}

/** Resolves a model name to a character; without a name, or for an OpenAI model, to the default character. */
export function characterFor(model: string | undefined, deps: Choice): Character | undefined {
  const named = model === undefined ? undefined : deps.characters.get(model);
  if (named !== undefined) return named;
  return namesNobody(model) ? deps.characters.get(deps.config.defaultCharacter) : undefined;
}

/** The error for an unknown character or scene; lists the known ones. */
export function noSuchCharacter(model: string | undefined, deps: Pick<Choice, 'characters'>): Problem {
  const known = [...deps.characters.keys()].join(', ');
  const isScene = model?.startsWith(sceneModel('')) === true;
  const code = isScene ? 'unknown_scene' : 'unknown_character';
  const what = isScene ? 'scene' : 'character';
  return { code, message: `There is no ${what} "${(model ?? '').slice(0, 64)}". Known: ${known}.` };
}

/** Resolves the character of a session. With a client secret, only those that it allows. */
export function resolveCharacter(
  model: string | undefined,
  secret: ClientSecret | undefined,
  deps: Choice,
): Character | Problem {
  if (secret === undefined) return characterFor(model, deps) ?? noSuchCharacter(model, deps);
  const { character } = secret;
  if (model === undefined || namesNobody(model) || model === character.id) return character;
  if (allows(secret, model)) return deps.characters.get(model) ?? noSuchCharacter(model, deps);
  const message = `The client secret was made for ${character.id}: leave \`model\` out, or make another one.`;
  return { code: 'character_not_allowed', message };
}

function namesNobody(model: string | undefined): boolean {
  return model === undefined || model === '' || /^(gpt|o\d|chatgpt)-/.test(model);
}

/** Validates the user that the client names. With a client secret, only the user it was made for is allowed. */
export function resolveUser(user: string | undefined, secret: ClientSecret | undefined): string | undefined | Problem {
  if (user === undefined) return undefined;
  if (!userName.safeParse(user).success) {
    const message = `The name of a user has 1 to ${limits.userCharacters} characters.`;
    return { code: 'invalid_value', message, param: 'user' };
  }
  if (secret === undefined || secret.startWith?.x_dramatis?.user === user) return user;
  const message = 'The client secret was made for another user, or for none. Make one with `session.x_dramatis.user`.';
  return { code: 'user_not_allowed', message, param: 'user' };
}
