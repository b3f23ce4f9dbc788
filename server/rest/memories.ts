import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { exportOf } from '../memory/store/exported.ts';
import type { Memories } from '../memory/memories.ts';
import { MemoryError, type MemoryRecord, type UserKey } from '../memory/store/record.ts';
import { userName } from '../protocol/client-events.ts';
import { limits } from '../protocol/limits.ts';
import { allows } from '../http/client-secrets.ts';
import type { AuthGuard } from '../http/auth-guard.ts';
import { sendProblem, sendRefusal, type Refusal } from '../http/problem.ts';
import { parseBody } from '../http/request-body.ts';
import { withFirstItem } from './answer.ts';

const character = z.string().min(1).max(256).optional();
const listSchema = z.looseObject({
  user: userName.optional(),
  character,
  limit: z.coerce.number().int().min(1).max(1_000).default(100),
  before: z
    .string()
    .max(32)
    .regex(/^t\d+$/)
    .optional(),
});
const text = z.string().trim().min(1).max(limits.textCharacters);
const correctionSchema = z.union([
  z.strictObject({ text }),
  z.strictObject({ asked: text.optional(), answered: text.optional() }),
]);
const moveSchema = z.strictObject({ to: userName });

const statuses = { memory_off: 404, memory_unavailable: 503, memory_not_found: 404, invalid_value: 400 } as const;

/**
 * `/v1/memories`: lets a user list, export, correct and delete what characters remember of them. With a server key, the
 * request names the user. A client secret gives access only to the user it was made for and the characters that it allows.
 */
export function addMemories(app: FastifyInstance, memories: Memories, auth: AuthGuard): void {
  const guard = { onRequest: auth.member };
  const serve = serveUsers(auth);

  app.get(
    '/v1/memories',
    guard,
    serve(async (_request, { person, character: only, limit, before }) => {
      const most = { most: limit, ...optional({ character: only, before }) };
      const data: readonly MemoryRecord[] = await memories.store.list(person, most);
      const turns = data.filter(({ kind }) => kind === 'turn');
      return { object: 'list', data, has_more: turns.length === limit };
    }),
  );
  app.get(
    '/v1/memories/export',
    guard,
    serve(async (_request, { person, character: only }, reply) => {
      const { store } = memories;
      const states = await store.states(person, only === undefined ? undefined : [only]);
      const state = states.map(({ character: of, name, value }) => ({
        character: of,
        name,
        value: JSON.parse(value) as unknown,
      }));
      const head = {
        object: 'memory.export',
        user: person.user,
        exported_at: new Date().toISOString(),
        ...(state.length === 0 ? {} : { state }),
      };
      const pieces = await withFirstItem(exportOf(head, (last) => store.page(person, only, last)));
      reply.type('application/json; charset=utf-8');
      return Readable.from(pieces, { objectMode: false });
    }),
  );
  app.delete(
    '/v1/memories',
    guard,
    serve(async (_request, { person, character: only }) => ({
      object: 'memory.erased',
      count: await memories.store.erase(person, only),
    })),
  );
  app.post(
    '/v1/memories/move',
    { onRequest: auth.serverKey },
    serve(async (request, { person }) => {
      const parsed = parseBody(moveSchema, request.body);
      if ('problem' in parsed) throw new Refused({ status: 400, problem: parsed.problem });
      const { to } = parsed.body;
      const count = to === person.user ? 0 : await memories.store.move(person, { ...person, user: to });
      return { object: 'memory.moved', user: to, count };
    }),
  );
  addOne(app, memories, guard, serve);
}

/** Returns the function that answers requests about one user, and turns what is thrown into responses. */
export function serveUsers(auth: AuthGuard): Serve {
  return (act) => async (request, reply) => {
    try {
      return await reply.header('cache-control', 'no-store').send(await act(request, askedIn(request, auth), reply));
    } catch (fault) {
      if (fault instanceof Refused) return sendRefusal(reply, fault.refusal);
      if (!(fault instanceof MemoryError)) throw fault;
      return sendProblem(reply, statuses[fault.code], { code: fault.code, message: fault.message });
    }
  };
}

type Serve = (
  act: (request: FastifyRequest, asked: Asked, reply: FastifyReply) => Promise<unknown>,
) => (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>;

/** Adds the routes of a single memory. */
function addOne(
  app: FastifyInstance,
  memories: Memories,
  guard: { readonly onRequest: AuthGuard['member'] },
  serve: Serve,
): void {
  app.get(
    '/v1/memories/:id',
    guard,
    serve(async (request, asked) => memoryIn(request, asked, memories)),
  );
  app.patch(
    '/v1/memories/:id',
    guard,
    serve(async (request, asked) => {
      const parsed = parseBody(correctionSchema, request.body);
      if ('problem' in parsed) {
        const message =
          'To correct a turn, send `asked` and `answered`; to correct a fact or a summary, send `text`. None may be empty.';
        throw new Refused({ status: 400, problem: { code: 'invalid_value', message } });
      }
      const { id } = await memoryIn(request, asked, memories);
      return memories.store.correct(asked.person, id, parsed.body);
    }),
  );
  app.delete(
    '/v1/memories/:id',
    guard,
    serve(async (request, asked) => {
      const { id } = await memoryIn(request, asked, memories);
      await memories.store.remove(asked.person, id);
      return { id, object: 'memory.deleted', deleted: true };
    }),
  );
}

/** The user and character that a request is about, and the page of the list. */
interface Asked {
  readonly person: UserKey;
  readonly character: string | undefined;
  readonly limit: number;
  readonly before: string | undefined;
}

/** Thrown inside a route; `serve` turns it into a response. */
export class Refused extends Error {
  readonly refusal: Refusal;

  constructor(refusal: Refusal) {
    super(refusal.problem.message);
    this.refusal = refusal;
  }
}

function askedIn(request: FastifyRequest, auth: AuthGuard): Asked {
  const parsed = parseBody(listSchema, request.query);
  if ('problem' in parsed) throw new Refused({ status: 400, problem: parsed.problem });
  const { owner, secret } = auth.authenticatedCaller(request);
  const bound = secret?.startWith?.x_dramatis?.user ?? undefined;
  const { user = bound, character: wanted = secret?.character.id, limit, before } = parsed.body;
  if (secret !== undefined && (bound === undefined || user !== bound || !allows(secret, wanted ?? ''))) {
    const message =
      'This client secret gives no access to these memories: it is for another user or character, or for no user.';
    throw new Refused({ status: 403, problem: { code: 'user_not_allowed', message, param: 'user' } });
  }
  if (user === undefined)
    throw new Refused({
      status: 400,
      problem: { code: 'invalid_value', message: 'Name the user with ?user=NAME.', param: 'user' },
    });
  return { person: { owner: owner ?? '', user }, character: wanted, limit, before };
}

/**
 * Loads the memory named in the URL. Throws `memory_not_found` unless it belongs to the user and, if a character is
 * named, to that character.
 */
async function memoryIn(
  request: FastifyRequest,
  { person, character: only }: Asked,
  { store }: Memories,
): Promise<MemoryRecord> {
  const { id } = request.params as { readonly id: string };
  const memory = await store.get(person, id);
  if (only === undefined || memory.character === only) return memory;
  throw new MemoryError('memory_not_found', `There is no memory "${id.slice(0, 32)}" for ${only.slice(0, 64)}.`);
}

function optional<Parts extends object>(parts: Parts): { [Name in keyof Parts]?: NonNullable<Parts[Name]> } {
  return Object.fromEntries(Object.entries(parts).filter(([, part]) => part !== undefined)) as ReturnType<
    typeof optional<Parts>
  >;
}
