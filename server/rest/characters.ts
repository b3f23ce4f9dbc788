import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { CharacterError } from '../../characters/character-error.ts';
import { cardFormats } from '../../characters/tavern/open-card.ts';
import { slugOf } from '../../characters/slug.ts';
import { clipFacts } from '../engines/library-clip.ts';
import { jsonBytes, type ClientSecrets } from '../http/client-secrets.ts';
import type { AuthGuard } from '../http/auth-guard.ts';
import { sendProblem, sendRefusal } from '../http/problem.ts';
import { parseBody } from '../http/request-body.ts';
import { tooManySecrets } from './client-secrets-route.ts';
import type { RestParts } from './rest.ts';
import { maxCardBytes, maxPackBytes } from '../cast/card-limits.ts';
import { CardThreads } from '../cast/card-thread.ts';
import { revisionOf, CharacterStore } from '../cast/character-store.ts';
import { CharacterStoreError } from '../cast/character-store-error.ts';
import { packSchema, type PackBody } from '../cast/pack-body.ts';
import { errorObject } from '../session/contract/errors.ts';

const exportSchema = z.object({ format: z.enum(cardFormats).default('png'), spec: z.enum(['v2', 'v3']).default('v3') });

const copySchema = z.object({ from: z.string().max(64).optional() });

const importSchema = z.object({ as: z.enum(['copy']).optional() });

const mimeTypes = { png: 'image/png', json: 'application/json', charx: 'application/zip' } as const;

/** Adds the routes to read, edit, copy, test, import and export characters, see {@link CharacterStore}. */
export async function addCharacters(
  app: FastifyInstance,
  { characters, config, secrets }: RestParts & { readonly secrets: ClientSecrets },
  auth: AuthGuard,
): Promise<void> {
  const store = new CharacterStore(characters, config);
  // Packs are read one after the other, so that the first of two edits is the first to be saved.
  const shared: CharacterParts = { store, threads: new CardThreads(), packs: new CardThreads(1), auth };
  app.addHook('onClose', async () => {
    await Promise.all([shared.threads.close(), shared.packs.close()]);
  });
  await app.register(async (scope) => {
    scope.addHook('onRequest', auth.serverKey);
    scope.addHook('onRequest', async (_request, reply) => void reply.header('cache-control', 'no-store'));
    // Each is parsed in a thread.
    const types = ['application/octet-stream', 'application/json'];
    scope.addContentTypeParser(types, { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
    addReading(scope, shared);
    addPicture(scope, shared);
    addEditing(scope, shared);
    addExport(scope, shared, config.dataDir);
    addImport(scope, shared);
    addDraft(scope, shared, secrets);
  });
}

/** Parts that the routes share: the characters, and the threads that read and write their cards. */
interface CharacterParts {
  readonly store: CharacterStore;
  readonly threads: CardThreads;
  readonly packs: CardThreads;
  /** Routes that run such a thread take a place among the requests. */
  readonly auth: AuthGuard;
}

type ById = { Params: { id: string } };

function addReading(scope: FastifyInstance, { store, auth }: CharacterParts): void {
  const schema = z.toJSONSchema(packSchema, { io: 'input', unrepresentable: 'any' });
  scope.get('/characters/schema', async () => schema);

  scope.get<ById>('/characters/:id', async (request, reply) =>
    reportingProblems(reply, store, async () => {
      const { lines, ...card } = store.find(request.params.id);
      const editable = store.isEditable(card.id, auth.authenticatedCaller(request));
      reply.header('etag', revisionOf({ ...card, lines }));
      return { card, lines, editable, picture: store.hasPicture(card.id) };
    }),
  );
}

function addPicture(scope: FastifyInstance, { store, threads, auth }: CharacterParts): void {
  scope.get<ById>('/characters/:id/picture', async (request, reply) =>
    reportingProblems(reply, store, async () => {
      const picture = await store.pictureOf(store.find(request.params.id).id);
      if (picture === undefined)
        return sendProblem(reply, 404, { code: 'not_found', message: 'This character has no picture.' });
      reply.type('image/png');
      return Buffer.from(picture);
    }),
  );

  scope.put<ById>(
    '/characters/:id/picture',
    { bodyLimit: maxCardBytes, onRequest: auth.work },
    async (request, reply) =>
      reportingProblems(reply, store, async () => {
        const { id } = store.find(request.params.id);
        if (!Buffer.isBuffer(request.body)) {
          const message = 'Send the PNG picture as application/octet-stream.';
          return sendProblem(reply, 400, { code: 'invalid_event', message });
        }
        const picture = await threads.run('picture', { bytes: request.body }, signalOf(reply));
        await store.setPicture(id, auth.authenticatedCaller(request), picture);
        return { id };
      }),
  );
}

function addEditing(scope: FastifyInstance, { store, packs, auth }: CharacterParts): void {
  scope.put<ById>('/characters/:id', { bodyLimit: maxPackBytes, onRequest: auth.work }, async (request, reply) =>
    reportingProblems(reply, store, async () => {
      const { id } = store.find(request.params.id);
      const pack = await readPackBody(packs, request, reply);
      if (pack === undefined) return reply;
      if (pack.card.id !== id)
        return sendProblem(reply, 400, {
          code: 'invalid_value',
          message: 'The id cannot be changed.',
          param: 'card.id',
        });
      const saved = await store.replace(pack, auth.authenticatedCaller(request), request.headers['if-match']);
      reply.header('etag', revisionOf(saved));
      return { id };
    }),
  );

  scope.delete<ById>('/characters/:id', async (request, reply) =>
    reportingProblems(reply, store, async () => {
      const { id } = store.find(request.params.id);
      await store.remove(id, auth.authenticatedCaller(request), request.headers['if-match']);
      return { id, deleted: true };
    }),
  );

  scope.post('/characters', { bodyLimit: maxPackBytes, onRequest: auth.work }, async (request, reply) =>
    reportingProblems(reply, store, async () => {
      const parsed = parseBody(copySchema, request.query);
      if ('problem' in parsed) return sendProblem(reply, 400, parsed.problem);
      const { from } = parsed.body;
      if (from !== undefined) store.find(from);
      const pack = await readPackBody(packs, request, reply);
      if (pack === undefined) return reply;
      const card = { ...pack.card, id: slugOf(pack.card.name) };
      const made = await store.add({ ...pack, card }, auth.authenticatedCaller(request).owner, true, from);
      reply.code(201).header('etag', revisionOf(made));
      return { id: made.id };
    }),
  );
}

function addExport(scope: FastifyInstance, { store, threads, auth }: CharacterParts, dataDir: string): void {
  scope.get<ById>('/characters/:id/export', { onRequest: auth.work }, async (request, reply) =>
    reportingProblems(reply, store, async () => {
      const { lines, ...card } = store.find(request.params.id);
      const parsed = parseBody(exportSchema, request.query);
      if ('problem' in parsed) return sendProblem(reply, 400, parsed.problem);
      const { format, spec } = parsed.body;
      const clip = await clipFacts(dataDir, card.voice.reference);
      const pack = { folder: store.folderOf(card.id), card, lines, clip };
      const bytes = await threads.run('export', { ...pack, format, spec }, signalOf(reply));
      reply.type(mimeTypes[format]).header('content-disposition', `attachment; filename="${card.id}.${format}"`);
      return Buffer.from(bytes);
    }),
  );
}

function addImport(scope: FastifyInstance, { store, threads, auth }: CharacterParts): void {
  scope.post('/characters/import', { bodyLimit: maxCardBytes, onRequest: auth.work }, async (request, reply) => {
    const bytes = request.body;
    if (!Buffer.isBuffer(bytes)) {
      const message = 'Send the card file (PNG, JSON or CHARX) as application/octet-stream.';
      return sendProblem(reply, 400, { code: 'invalid_event', message });
    }
    const parsed = parseBody(importSchema, request.query);
    if ('problem' in parsed) return sendProblem(reply, 400, parsed.problem);
    return reportingProblems(reply, store, async () => {
      const { pack, notes } = await threads.run('import', { bytes }, signalOf(reply));
      const { id } = await store.add(pack, auth.authenticatedCaller(request).owner, parsed.body.as === 'copy');
      return { id, notes };
    });
  });
}

/**
 * Turns errors of the character store and of card parsing into responses. Their messages name the field of the card,
 * never a path on disk.
 */
async function reportingProblems(
  reply: FastifyReply,
  store: CharacterStore,
  work: () => Promise<unknown>,
): Promise<unknown> {
  try {
    return await work();
  } catch (fault) {
    if (fault instanceof CharacterStoreError) return sendProblem(reply, fault.status, fault.problem);
    // The client has gone, and its thread was ended.
    if (reply.raw.destroyed) return reply;
    if (!(fault instanceof CharacterError)) throw fault;
    const message = store.withoutPaths(fault.message).slice(0, 600);
    return sendProblem(reply, 400, { code: 'character_card_invalid', message });
  }
}

/** Time within which a conversation with a draft can be started. */
const draftSeconds = 600;

/** Most drafts kept for an account; the oldest is dropped first, also if they hold too many bytes. */
const mostDrafts = 16;

/**
 * `POST /characters/draft`: a client secret for conversations with the character in the request body, saved or not.
 * Nothing is written to disk; like any client secret, it is dropped when it expires.
 */
function addDraft(scope: FastifyInstance, { store, packs, auth }: CharacterParts, secrets: ClientSecrets): void {
  const draftsOf = new Map<string | undefined, string[]>();
  scope.post('/characters/draft', { bodyLimit: maxPackBytes, onRequest: auth.work }, async (request, reply) =>
    reportingProblems(reply, store, async () => {
      const pack = await readPackBody(packs, request, reply);
      if (pack === undefined) return reply;
      const expiresAtMs = Date.now() + draftSeconds * 1000;
      const character = Object.freeze({ ...pack.card, lines: Object.freeze(pack.lines) });
      const { owner } = auth.authenticatedCaller(request);
      const drafts = draftsOf.get(owner) ?? [];
      draftsOf.set(owner, drafts);
      const bytes = jsonBytes(character);
      const issue = (): string | undefined =>
        secrets.issue({ character, startWith: undefined, owner, expiresAtMs }, bytes);
      let value = drafts.length < mostDrafts ? issue() : undefined;
      while (value === undefined && drafts.length > 0) {
        secrets.revoke(drafts.shift() ?? '');
        value = issue();
      }
      if (value === undefined) return sendRefusal(reply, tooManySecrets);
      drafts.push(value);
      return { value, expires_at: Math.floor(expiresAtMs / 1000) };
    }),
  );
}

/** Aborted when the client has gone, so that no thread works on its card any longer. */
function signalOf(reply: FastifyReply): AbortSignal {
  const controller = new AbortController();
  reply.raw.once('close', () => controller.abort());
  return controller.signal;
}

/** Parses the pack in a request. If it is invalid, sends a response with all issues and returns undefined. */
async function readPackBody(
  threads: CardThreads,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<PackBody | undefined> {
  const bytes = Buffer.isBuffer(request.body) ? request.body : Buffer.from('');
  const read = await threads.run('pack', { bytes }, signalOf(reply));
  if (!('problem' in read)) return read;
  const { event_id: _unused, ...error } = errorObject(read.problem);
  void reply.code(400).send({ error: { ...error, x_dramatis: { issues: read.issues } } });
  return undefined;
}
