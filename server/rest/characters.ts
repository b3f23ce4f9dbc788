import type { FastifyInstance, FastifyReply } from 'fastify';
import { z } from 'zod';
import { CharacterError } from '../../characters/character-error.ts';
import { readCardJson } from '../../characters/tavern/card-file.ts';
import { fromPack } from '../../characters/tavern/from-pack.ts';
import { cardFormats, readCardBytes, withoutCard, writeCardBytes } from '../../characters/tavern/open-card.ts';
import { toPack } from '../../characters/tavern/to-pack.ts';
import { slugOf } from '../../characters/slug.ts';
import { clipFacts } from '../engines/library-clip.ts';
import type { ClientSecrets } from '../http/client-secrets.ts';
import type { AuthGuard } from '../http/auth-guard.ts';
import { sendProblem } from '../http/problem.ts';
import { parseBody, problemOf } from '../http/request-body.ts';
import type { RestParts } from './rest.ts';
import { revisionOf, CharacterStore, CharacterStoreError } from '../cast/character-store.ts';
import { cardSchema, dialoguePairSchema } from '../../characters/card.ts';
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
  await app.register(async (scope) => {
    scope.addHook('onRequest', auth.serverKey);
    scope.addHook('onRequest', async (_request, reply) => void reply.header('cache-control', 'no-store'));
    scope.addContentTypeParser('application/octet-stream', { parseAs: 'buffer' }, (_request, body, done) =>
      done(null, body),
    );
    addReading(scope, store);
    addPicture(scope, store);
    addEditing(scope, store);
    addExport(scope, store, config.dataDir);
    addImport(scope, store);
    addDraft(scope, secrets, auth);
  });
}

type ById = { Params: { id: string } };

function addReading(scope: FastifyInstance, store: CharacterStore): void {
  const schema = z.toJSONSchema(packSchema, { io: 'input', unrepresentable: 'any' });
  scope.get('/characters/schema', async () => schema);

  scope.get<ById>('/characters/:id', async (request, reply) =>
    reportingProblems(reply, async () => {
      const { lines, ...card } = store.find(request.params.id);
      const editable = store.isEditable(card.id);
      const { picture } = await store.extrasOf(card.id);
      reply.header('etag', revisionOf({ ...card, lines }));
      return { card, lines, editable, picture: picture !== undefined };
    }),
  );
}

function addPicture(scope: FastifyInstance, store: CharacterStore): void {
  scope.get<ById>('/characters/:id/picture', async (request, reply) =>
    reportingProblems(reply, async () => {
      const { picture } = await store.extrasOf(store.find(request.params.id).id);
      if (picture === undefined)
        return sendProblem(reply, 404, { code: 'not_found', message: 'This character has no picture.' });
      reply.type('image/png');
      return Buffer.from(picture);
    }),
  );

  scope.put<ById>('/characters/:id/picture', { bodyLimit: mostCardBytes }, async (request, reply) =>
    reportingProblems(reply, async () => {
      const { id } = store.find(request.params.id);
      if (!Buffer.isBuffer(request.body)) {
        const message = 'Send the PNG picture as application/octet-stream.';
        return sendProblem(reply, 400, { code: 'invalid_event', message });
      }
      await store.setPicture(id, withoutCard(request.body, 'picture'));
      return { id };
    }),
  );
}

function addEditing(scope: FastifyInstance, store: CharacterStore): void {
  scope.put<ById>('/characters/:id', { bodyLimit: mostCardBytes }, async (request, reply) =>
    reportingProblems(reply, async () => {
      const { id } = store.find(request.params.id);
      const pack = parsePack(request.body, reply);
      if (pack === undefined) return reply;
      if (pack.card.id !== id)
        return sendProblem(reply, 400, {
          code: 'invalid_value',
          message: 'The id cannot be changed.',
          param: 'card.id',
        });
      const saved = await store.replace(pack, request.headers['if-match']);
      reply.header('etag', revisionOf(saved));
      return { id };
    }),
  );

  scope.delete<ById>('/characters/:id', async (request, reply) =>
    reportingProblems(reply, async () => {
      const { id } = store.find(request.params.id);
      await store.remove(id, request.headers['if-match']);
      return { id, deleted: true };
    }),
  );

  scope.post('/characters', { bodyLimit: mostCardBytes }, async (request, reply) =>
    reportingProblems(reply, async () => {
      const parsed = parseBody(copySchema, request.query);
      if ('problem' in parsed) return sendProblem(reply, 400, parsed.problem);
      const { from } = parsed.body;
      const extras = from === undefined ? {} : await store.extrasOf(store.find(from).id);
      const pack = parsePack(request.body, reply);
      if (pack === undefined) return reply;
      const card = { ...pack.card, id: slugOf(pack.card.name) };
      const made = await store.add({ ...extras, ...pack, card }, true);
      reply.code(201).header('etag', revisionOf(made));
      return { id: made.id };
    }),
  );
}

function addExport(scope: FastifyInstance, store: CharacterStore, dataDir: string): void {
  scope.get<ById>('/characters/:id/export', async (request, reply) =>
    reportingProblems(reply, async () => {
      const { lines, ...card } = store.find(request.params.id);
      const parsed = parseBody(exportSchema, request.query);
      if ('problem' in parsed) return sendProblem(reply, 400, parsed.problem);
      const { format, spec } = parsed.body;
      const { source, picture, files = new Map() } = await store.extrasOf(card.id);
      const clip = await clipFacts(dataDir, card.voice.reference);
      const tavern = fromPack({ card, lines, clip }, source === undefined ? undefined : readCardJson(source, card.id));
      const file = { card: tavern, files, ...(picture === undefined ? {} : { picture }) };
      reply.type(mimeTypes[format]).header('content-disposition', `attachment; filename="${card.id}.${format}"`);
      return Buffer.from(writeCardBytes(file, format, spec));
    }),
  );
}

function addImport(scope: FastifyInstance, store: CharacterStore): void {
  scope.post('/characters/import', { bodyLimit: mostCardBytes }, async (request, reply) => {
    const bytes = request.body;
    if (!Buffer.isBuffer(bytes)) {
      const message = 'Send the card file (PNG, JSON or CHARX) as application/octet-stream.';
      return sendProblem(reply, 400, { code: 'invalid_event', message });
    }
    const parsed = parseBody(importSchema, request.query);
    if ('problem' in parsed) return sendProblem(reply, 400, parsed.problem);
    return reportingProblems(reply, async () => {
      const opened = readCardBytes(bytes, 'card');
      const { notes, ...pack } = toPack(opened.card, 'card');
      const whole = { ...opened, ...pack, source: JSON.stringify(opened.card.whole) };
      const { id } = await store.add(whole, parsed.body.as === 'copy');
      return { id, notes };
    });
  });
}

/**
 * Turns errors of the character store and of card parsing into responses. Their messages name the field of the card,
 * never a path on disk.
 */
async function reportingProblems(reply: FastifyReply, work: () => Promise<unknown>): Promise<unknown> {
  try {
    return await work();
  } catch (fault) {
    if (fault instanceof CharacterStoreError) return sendProblem(reply, fault.status, fault.problem);
    if (!(fault instanceof CharacterError)) throw fault;
    return sendProblem(reply, 400, { code: 'character_card_invalid', message: fault.message.slice(0, 600) });
  }
}

/** Time within which a conversation with a draft can be started. */
const draftSeconds = 600;

/** Most drafts kept, each up to the size of a card; the oldest is dropped first. */
const mostDrafts = 16;

/**
 * `POST /characters/draft`: a client secret for conversations with the character in the request body, saved or not.
 * Nothing is written to disk; like any client secret, it is dropped when it expires.
 */
function addDraft(scope: FastifyInstance, secrets: ClientSecrets, auth: AuthGuard): void {
  const drafts: string[] = [];
  scope.post('/characters/draft', { bodyLimit: mostCardBytes }, async (request, reply) => {
    const pack = parsePack(request.body, reply);
    if (pack === undefined) return reply;
    const expiresAtMs = Date.now() + draftSeconds * 1000;
    const character = Object.freeze({ ...pack.card, lines: Object.freeze(pack.lines) });
    const { owner } = auth.authenticatedCaller(request);
    const value = secrets.issue({ character, startWith: undefined, owner, expiresAtMs });
    drafts.push(value);
    const oldest = drafts.length > mostDrafts ? drafts.shift() : undefined;
    if (oldest !== undefined) secrets.revoke(oldest);
    return { value, expires_at: Math.floor(expiresAtMs / 1000) };
  });
}

/** A character pack in a request or response: its card and its example lines. */
const packSchema = z.strictObject({ card: cardSchema, lines: z.array(dialoguePairSchema).max(20_000) });

type PackBody = z.infer<typeof packSchema>;

/** Largest body: a card with its picture. Lorebooks are small compared to it. */
const mostCardBytes = 25 * 2 ** 20;

/** An invalid field, with a message for the person who fills in the form. */
interface PackIssue {
  /** The path of the field, such as `card.lorebook.3.keys`. */
  readonly param: string;
  readonly message: string;
}

/** Most issues reported in one response. */
const mostIssues = 100;

/** Parses the pack in a request. If it is invalid, sends a response with all issues and returns undefined. */
function parsePack(body: unknown, reply: FastifyReply): PackBody | undefined {
  const parsed = packSchema.safeParse(body);
  if (parsed.success) return parsed.data;
  const issues = parsed.error.issues
    .slice(0, mostIssues)
    .map((issue): PackIssue => ({ param: issue.path.map(String).join('.'), message: inWords(issue) }));
  const { event_id: _unused, ...error } = errorObject(problemOf(parsed.error));
  void reply.code(400).send({ error: { ...error, x_dramatis: { issues } } });
  return undefined;
}

function inWords(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined ? 'This field is required.' : `This must have the type ${issue.expected}.`;
    case 'too_small':
      if (issue.origin === 'string') return 'This must not be empty.';
      if (issue.origin !== 'array') return `At least ${issue.minimum}.`;
      return issue.minimum === 1 ? 'At least one is required.' : `At least ${issue.minimum} are required.`;
    case 'too_big':
      if (issue.origin === 'string') return `At most ${issue.maximum} characters.`;
      return issue.origin === 'array' ? `At most ${issue.maximum} of them.` : `At most ${issue.maximum}.`;
    case 'invalid_value':
      return `One of: ${issue.values.map(String).join(', ')}.`;
    case 'invalid_format':
      return `This must be ${issue.message}.`;
    case 'unrecognized_keys':
      return `Unknown fields: ${issue.keys.join(', ').slice(0, 200)}.`;
    case 'invalid_key':
      return issue.issues.map(inWords).join(' ');
    default:
      return issue.message;
  }
}
