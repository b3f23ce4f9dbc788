import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Character } from '../../characters/character.ts';
import type { Config } from '../config/config.ts';
import type { AuthGuard } from '../http/auth-guard.ts';
import { limits } from '../limits/limits.ts';
import type { Memories } from '../memory/memories.ts';
import { charactersIn, Saves, saveKeyOf } from '../memory/saves.ts';
import { Refused, serveUsers } from './memories.ts';

interface SaveParts {
  readonly config: Config;
  readonly characters: ReadonlyMap<string, Character>;
  readonly memories: Memories;
}

/**
 * `POST /v1/saves?user=NAME` returns all data of a user as one signed JSON object; `PUT` loads it in place of what
 * is kept of a user. A client secret gives access to the user it was made for, and to the characters that it allows.
 */
export function addSaves(app: FastifyInstance, { config, characters, memories }: SaveParts, auth: AuthGuard): void {
  const serve = serveUsers(auth);
  const key = saveKeyOf(config);
  const saves = (): Saves => new Saves(memories.store, characters, key);
  const allowed = (request: FastifyRequest): readonly string[] | undefined => {
    const { secret } = auth.authenticatedCaller(request);
    return secret && [secret.character.id, ...(secret.terms?.characters ?? [])];
  };
  app.post(
    '/v1/saves',
    { onRequest: auth.member },
    serve(async (request, { person }) => {
      const save = await saves().save(person, allowed(request));
      if (Buffer.byteLength(JSON.stringify(save)) > limits.saveBytes.value) throw tooLarge;
      return save;
    }),
  );
  app.put(
    '/v1/saves',
    { onRequest: auth.member, bodyLimit: limits.saveBytes.value },
    serve(async (request, { person }) => {
      const save = saves().read(request.body);
      if ('message' in save) throw new Refused({ status: 400, problem: save });
      const only = allowed(request);
      const other = only && charactersIn(save).find((character) => !only.includes(character));
      if (other !== undefined) throw notAllowed(other);
      const changed = await saves().load(person, save, only);
      const { turns, facts, made_at } = save;
      return {
        object: 'dramatis.save.loaded',
        user: person.user,
        made_at,
        turns: turns.length,
        facts: facts.length,
        cards_changed: changed,
      };
    }),
  );
}

const tooLarge = new Refused({
  status: 400,
  problem: {
    code: 'save_too_large',
    message: `The save would be larger than ${limits.saveBytes.value / 2 ** 20} MiB. Erase memories that the game does not need.`,
  },
});

function notAllowed(character: string): Refused {
  const message = `The client secret does not allow the character ${character.slice(0, 64)}, which is in the save.`;
  return new Refused({ status: 403, problem: { code: 'character_not_allowed', message } });
}
