import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadCharacter, loadCharacters } from '../../characters/character.ts';
import { readPicture, readSource, writePack } from '../../characters/pack-folder.ts';
import { cardJson, readCard, readCardJson } from '../../characters/tavern/card-file.ts';
import { fromPack } from '../../characters/tavern/from-pack.ts';
import { openCard, readCardBytes, writeCardBytes } from '../../characters/tavern/open-card.ts';
import { blankPng } from '../../characters/tavern/png.ts';
import { toPack } from '../../characters/tavern/to-pack.ts';
import { builtInCharacters } from '../../server/cast/cast.ts';
import { cards } from './tavern-cards.ts';
import { testFolder } from '../fakes/test-folder.ts';

const folder = testFolder();

interface Book {
  entries: Record<string, unknown>[];
}

const asJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

describe.each(Object.entries(cards))('card %s', (name, whole) => {
  const card = readCard(asJson(whole), name);

  it('a card is imported into a pack folder and exported unchanged', async () => {
    const { notes: _, ...pack } = toPack(card, name, `trip-${Object.keys(cards).indexOf(name)}`);
    const made = await writePack(folder, { ...pack, source: JSON.stringify(card.whole) });
    const { lines, ...read } = await loadCharacter(made);
    const source = readCardJson((await readSource(made)) ?? '', made);
    const back = fromPack({ card: read, lines }, source);
    expect(back.whole).toEqual(asJson(whole));
    // and once more, from what was exported
    expect(toPack(back, name, pack.card.id)).toMatchObject(pack);
  });

  it.each(['v2', 'v3'] as const)('a card survives PNG, CHARX and JSON as %s with every key', (spec) => {
    const expected = asJson(cardJson(card, spec));
    for (const format of ['png', 'json', 'charx'] as const) {
      const files = new Map([['assets/icon/main.png', Uint8Array.from(blankPng('icon'))]]);
      const bytes = writeCardBytes({ card, files }, format, spec);
      const read = readCardBytes(bytes, `${name}.${format}`);
      expect(asJson(read.card.whole)).toEqual(expected);
      if (format === 'charx') expect(read.files).toEqual(files);
    }
  });

  it.each(['v2', 'v3'] as const)('an edited card is read back as edited from %s', (spec) => {
    const { notes: _, ...pack } = toPack(card, name);
    const edited = {
      ...pack,
      card: { ...pack.card, name: 'Mara II', temperament: ['wry'], catchphrases: ['Mind the tide.'] },
    };
    const bytes = writeCardBytes({ card: fromPack(edited, card), files: new Map() }, 'json', spec);
    const { data } = readCardBytes(bytes, name).card;
    expect(data.nickname || data.name).toBe('Mara II');
    const back = toPack(readCardBytes(bytes, name).card, name);
    expect(back.notes).toEqual([]);
    expect(asJson({ card: back.card, lines: back.lines })).toEqual(asJson(edited));
  });

  it('a card keeps every key of its data in another version', () => {
    const data = card.spec === 'v1' ? card.whole : card.whole['data'];
    for (const spec of ['v2', 'v3'] as const) expect(cardJson(card, spec)['data']).toMatchObject(data as object);
  });
});

describe('our own cards', () => {
  it.each(['png', 'json', 'charx'] as const)('shipped packs come back complete from %s', async (format) => {
    for (const character of await loadCharacters(builtInCharacters)) {
      const { lines, ...card } = character;
      const bytes = writeCardBytes({ card: fromPack({ card, lines }), files: new Map() }, format, 'v3');
      const back = toPack(readCardBytes(bytes, card.id).card, card.id);
      expect(asJson({ card: back.card, lines: back.lines })).toEqual(asJson({ card, lines }));
      expect(back.notes).toEqual([]);
    }
  });

  it('a card edited elsewhere is read as it now is, with a note', async () => {
    const { lines, ...card } = await loadCharacter(path.join(builtInCharacters, 'alice'));
    const written = fromPack({ card, lines });
    const edited = readCard({ ...written.whole, data: { ...written.data, scenario: 'On the moon.' } }, 'edited');
    const pack = toPack(edited, 'edited');
    expect(pack.card.scenario).toBe('On the moon.');
    expect(pack.notes[0]).toMatch(/edited in another program/);
    expect(pack.card).toMatchObject({ voice: card.voice, speech: card.speech, turnTaking: card.turnTaking });
  });

  it('a changed field of an imported pack changes that field of the card and keeps the others', () => {
    const source = readCard(asJson(cards['V2 with the extensions of others']), 'source');
    const { notes: _, ...pack } = toPack(source, 'source');
    const back = fromPack({ ...pack, card: { ...pack.card, scenario: 'A calm day.' } }, source);
    expect(back.data.scenario).toBe('A calm day.');
    expect(back.data.system_prompt).toBe(source.data.system_prompt);
    expect(back.data.extensions).toMatchObject(source.data.extensions);
    expect(toPack(back, 'back').card.scenario).toBe('A calm day.');
  });

  it('an edited lorebook keeps what other programs wrote into its entries', () => {
    const given = asJson(cards['V2 with a book, every field of an entry']) as { data: { character_book: Book } };
    const unusable = { keys: ['(?=x)'], content: 'A pattern we refuse.', use_regex: true, extensions: { kept: true } };
    const entries = given.data.character_book.entries.map((entry, index) => ({
      ...entry,
      content: `${entry['content'] as string} {{char}}`,
      extensions: { depth: index, 'x/other': { deep: [null] } },
    }));
    given.data.character_book.entries = [...entries, { ...unusable, enabled: true, insertion_order: 1 }];
    const source = readCard(given, 'source');
    const { notes: _, ...pack } = toPack(source, 'source');
    const [herons, tower, lamp, windy] = pack.card.lorebook;
    if (!herons || !tower || !lamp || !windy) throw new Error('the book is shorter than it was');
    const added = { keys: ['fog'], content: 'The fog horn.', constant: false };
    const edited = [{ ...lamp, keys: ['lamp'] }, { ...herons, content: 'They left.' }, tower, windy, added];
    const back = fromPack({ ...pack, card: { ...pack.card, lorebook: edited } }, source);
    const book = back.data.character_book as unknown as Book;
    expect(book).toMatchObject({
      description: 'An island',
      extensions: { anything: [1, { deep: null }] },
      token_budget: 300,
    });
    expect(book.entries).toHaveLength(6);
    expect(book.entries[0]).toMatchObject({ ...entries[2], keys: ['lamp'] });
    expect(book.entries[1]).toEqual({ ...entries[0], content: 'They left.' });
    expect(book.entries[2]).toEqual(entries[1]);
    expect(book.entries[4]).toMatchObject({ content: 'The fog horn.', extensions: {} });
    expect(book.entries[5]).toMatchObject(unusable);
    expect(JSON.stringify(book.entries)).not.toContain('wreck');
    expect(toPack(back, 'back').card.lorebook).toEqual(edited);
    const emptied = fromPack({ ...pack, card: { ...pack.card, lorebook: [] } }, source);
    expect((emptied.data.character_book as unknown as Book).entries).toEqual([book.entries[5]]);
  });

  it('a picture that carries a card keeps its pixels and its other texts', async () => {
    const card = readCard(asJson(cards['V3, every field']), 'v3');
    const file = path.join(folder, 'mara.png');
    await writeFile(file, writeCardBytes({ card, picture: blankPng('Mara'), files: new Map() }, 'png', 'v3'));
    const opened = await openCard(file);
    const again = writeCardBytes(opened, 'png', 'v2');
    expect(readCardBytes(again, 'again').card.spec).toBe('v2');
    expect(again.length).toBeLessThan((opened.picture?.length ?? 0) + 1);
    const made = await writePack(folder, { ...opened, ...toPack(card, 'v3', 'pictured') });
    expect(await readPicture(made)).toEqual(Buffer.from(opened.picture ?? []));
  });
});
