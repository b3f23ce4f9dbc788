import { cp, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { CharacterError } from '../../characters/character-error.ts';
import { loadCharacter, loadCharacters } from '../../characters/character.ts';
import { testFolder } from '../fakes/test-folder.ts';

const packsFolder = path.resolve(import.meta.dirname, '../../characters');
let folder = '';

beforeEach(async () => {
  folder = testFolder();
  await cp(path.join(packsFolder, 'alice'), path.join(folder, 'alice'), { recursive: true });
});

async function changeCard(change: (card: Record<string, unknown>) => void): Promise<void> {
  const file = path.join(folder, 'alice', 'card.json');
  const card = JSON.parse(await readFile(file, 'utf8')) as Record<string, unknown>;
  change(card);
  await writeFile(file, JSON.stringify(card));
}

async function failure(): Promise<string> {
  const error: unknown = await loadCharacter(path.join(folder, 'alice')).catch((cause: unknown) => cause);
  expect(error).toBeInstanceOf(CharacterError);
  expect(error).toMatchObject({ code: 'character_invalid' });
  return (error as CharacterError).message;
}

describe('character pack', () => {
  it('a character pack is its card and its lines, frozen', async () => {
    const alice = await loadCharacter(path.join(folder, 'alice'));
    expect(alice.name).toBe('Alice');
    expect(alice.lines.length).toBeGreaterThan(80);
    expect(Object.isFrozen(alice)).toBe(true);
    expect(Object.isFrozen(alice.lines)).toBe(true);
  });

  it('missing optional fields of a card get their defaults', async () => {
    await changeCard((card) => {
      delete card['turnTaking'];
      delete card['lorebook'];
    });
    const alice = await loadCharacter(path.join(folder, 'alice'));
    expect(alice.turnTaking).toEqual({ patience: 0.5, interruptibility: 0.7, backchannels: 0.2 });
    expect(alice.lorebook).toEqual([]);
  });

  it('the rows of a pack may have blank lines between them', async () => {
    await writeFile(path.join(folder, 'alice', 'lines.jsonl'), '\n{"asks":["Hi"],"reply":"Hello!"}\n\n');
    expect((await loadCharacter(path.join(folder, 'alice'))).lines).toEqual([{ asks: ['Hi'], reply: 'Hello!' }]);
  });
});

describe('invalid pack', () => {
  it('an invalid field is reported with file and field', async () => {
    await changeCard((card) => {
      card['tagline'] = '';
      card['age'] = 7;
    });
    const message = await failure();
    expect(message).toContain(path.join('alice', 'card.json'));
    expect(message).toContain('tagline');
    expect(message).toContain('"age"');
  });

  it('an id that differs from the folder name is reported', async () => {
    await changeCard((card) => {
      card['id'] = 'dinah';
    });
    expect(await failure()).toContain('id "dinah" must equal the folder\'s name "alice"');
  });

  it('an invalid row is reported with its number', async () => {
    await writeFile(path.join(folder, 'alice', 'lines.jsonl'), '{"asks":["Hi"],"reply":"Hello!"}\n{"asks":[]}\n');
    const message = await failure();
    expect(message).toContain('lines.jsonl:2');
    expect(message).toContain('asks');
  });

  it('a row or card that is not JSON is reported', async () => {
    await writeFile(path.join(folder, 'alice', 'lines.jsonl'), '{"asks":["Hi"],"reply":"Hello!"}\n\nHi there\n');
    expect(await failure()).toContain('lines.jsonl:3: not valid JSON');
    await writeFile(path.join(folder, 'alice', 'card.json'), '{');
    expect(await failure()).toContain('card.json: not valid JSON');
  });

  it('a missing file of a pack is reported', async () => {
    await rm(path.join(folder, 'alice', 'lines.jsonl'));
    expect(await failure()).toContain('lines.jsonl: cannot be read');
  });
});

describe('folder of packs', () => {
  it('packs are read by id, and other folders are ignored', async () => {
    await cp(path.join(packsFolder, 'coriolanus'), path.join(folder, 'coriolanus'), { recursive: true });
    await cp(path.join(packsFolder, 'alice'), path.join(folder, '.drafts', 'alice'), { recursive: true });
    await writeFile(path.join(folder, 'notes.txt'), 'not a pack');
    expect((await loadCharacters(folder)).map((pack) => pack.id)).toEqual(['alice', 'coriolanus']);
  });
});
