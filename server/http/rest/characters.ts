import path from 'node:path';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { z } from 'zod';
import { cardSchema, dialoguePairSchema } from '../../../characters/card.ts';
import { CharacterError } from '../../../characters/character-error.ts';
import { loadCharacter, type Character } from '../../../characters/character.ts';
import { readAssets, readPicture, readSource, writePack } from '../../../characters/pack-folder.ts';
import { readCardJson } from '../../../characters/tavern/card-file.ts';
import { fromPack } from '../../../characters/tavern/from-pack.ts';
import { cardFormats, readCardBytes, writeCardBytes } from '../../../characters/tavern/open-card.ts';
import { toPack } from '../../../characters/tavern/to-pack.ts';
import type { Check, Door } from '../door.ts';
import { sendProblem } from '../problem.ts';
import { parseBody } from '../request-body.ts';
import type { RestParts } from './rest.ts';

/** A card with its picture; books of lore are small beside it. */
const mostBytes = 25 * 2 ** 20;
const packSchema = z.strictObject({ card: cardSchema, lines: z.array(dialoguePairSchema).max(20_000) });
const exportSchema = z.object({ format: z.enum(cardFormats).default('png'), spec: z.enum(['v2', 'v3']).default('v3') });
const mimeTypes = { png: 'image/png', json: 'application/json', charx: 'application/zip' } as const;

/**
 * Characters to read, edit, bring in and take away as cards. Only imported ones, in the data folder, may be changed: shipped packs and
 * those of the operator's own folder are read only. What is changed is spoken with from the next conversation on.
 */
export async function addCharacters(
  app: FastifyInstance,
  { characters, config }: RestParts,
  door: Door,
): Promise<void> {
  const imported = path.resolve(config.dataDir, 'characters');
  const shelf: Shelf = {
    characters,
    imported,
    guard: { onRequest: door.serverKey },
    isImported: (id) =>
      loadCharacter(path.join(imported, id)).then(
        () => true,
        () => false,
      ),
  };
  addReading(app, shelf);
  addEditing(app, shelf);
  addExport(app, shelf);
  await app.register(async (scope) => addImport(scope, shelf));
}

/** Where the characters are. */
interface Shelf {
  readonly characters: Map<string, Character>;
  /** The folder of imported packs. */
  readonly imported: string;
  readonly guard: { readonly onRequest: Check };
  readonly isImported: (id: string) => Promise<boolean>;
}

function unknown(reply: FastifyReply, id: string): FastifyReply {
  return sendProblem(reply, 404, { code: 'unknown_character', message: `There is no character "${id.slice(0, 64)}".` });
}

function addReading(app: FastifyInstance, { characters, guard, isImported }: Shelf): void {
  app.get('/characters/schema', guard, async () => z.toJSONSchema(packSchema, { io: 'input', unrepresentable: 'any' }));

  app.get<{ Params: { id: string } }>('/characters/:id', guard, async (request, reply) => {
    const found = characters.get(request.params.id);
    if (found === undefined) return unknown(reply, request.params.id);
    const { lines, ...card } = found;
    return { card, lines, editable: await isImported(card.id) };
  });
}

function addEditing(app: FastifyInstance, { characters, imported, guard, isImported }: Shelf): void {
  app.put<{ Params: { id: string } }>('/characters/:id', { ...guard, bodyLimit: mostBytes }, async (request, reply) => {
    const { id } = request.params;
    if (!characters.has(id)) return unknown(reply, id);
    if (!(await isImported(id))) {
      const message = `${id} was not imported. Export it, and import it under another id to change it.`;
      return sendProblem(reply, 403, { code: 'character_read_only', message });
    }
    const parsed = parseBody(packSchema, request.body);
    if ('problem' in parsed) return sendProblem(reply, 400, parsed.problem);
    const { card, lines } = parsed.body;
    if (card.id !== id)
      return sendProblem(reply, 400, { code: 'invalid_value', message: 'An id stays as it is.', param: 'card.id' });
    return told(reply, async () => {
      const folder = path.join(imported, id);
      const [source, picture, files] = await Promise.all([readSource(folder), readPicture(folder), readAssets(folder)]);
      const kept = { ...(source === undefined ? {} : { source }), ...(picture === undefined ? {} : { picture }) };
      await writePack(imported, { card, lines, files, ...kept }, true);
      characters.set(id, await loadCharacter(folder));
      return { id };
    });
  });
}

function addExport(app: FastifyInstance, { characters, imported, guard, isImported }: Shelf): void {
  app.get<{ Params: { id: string } }>('/characters/:id/export', guard, async (request, reply) => {
    const { id } = request.params;
    const found = characters.get(id);
    if (found === undefined) return unknown(reply, id);
    const parsed = parseBody(exportSchema, request.query);
    if ('problem' in parsed) return sendProblem(reply, 400, parsed.problem);
    const { format, spec } = parsed.body;
    const folder = path.join(imported, id);
    const { lines, ...card } = found;
    const source = (await isImported(id)) ? await readSource(folder) : undefined;
    const picture = await readPicture(folder);
    const tavern = fromPack({ card, lines }, source === undefined ? undefined : readCardJson(source, id));
    const file = { card: tavern, files: await readAssets(folder), ...(picture === undefined ? {} : { picture }) };
    reply.type(mimeTypes[format]).header('content-disposition', `attachment; filename="${id}.${format}"`);
    return Buffer.from(writeCardBytes(file, format, spec));
  });
}

function addImport(scope: FastifyInstance, { characters, imported, guard }: Shelf): void {
  scope.addContentTypeParser('application/octet-stream', { parseAs: 'buffer' }, (_request, body, done) =>
    done(null, body),
  );
  scope.post('/characters/import', { ...guard, bodyLimit: mostBytes }, async (request, reply) => {
    const bytes = request.body;
    if (!Buffer.isBuffer(bytes)) {
      const message = 'Send the card file (PNG, JSON or CHARX) as application/octet-stream.';
      return sendProblem(reply, 400, { code: 'invalid_event', message });
    }
    return told(reply, async () => {
      const opened = readCardBytes(bytes, 'card');
      const { notes, ...pack } = toPack(opened.card, 'card');
      if (characters.has(pack.card.id)) {
        const message = `There is a character "${pack.card.id}" already.`;
        return sendProblem(reply, 409, { code: 'character_exists', message });
      }
      const folder = await writePack(imported, { ...opened, ...pack, source: JSON.stringify(opened.card.whole) });
      characters.set(pack.card.id, await loadCharacter(folder));
      return { id: pack.card.id, notes };
    });
  });
}

/** What is wrong with a card is told; its message names the place in it, never a path. */
async function told(reply: FastifyReply, work: () => Promise<unknown>): Promise<unknown> {
  try {
    return await work();
  } catch (fault) {
    if (!(fault instanceof CharacterError)) throw fault;
    return sendProblem(reply, 400, { code: 'character_card_invalid', message: fault.message.slice(0, 600) });
  }
}
