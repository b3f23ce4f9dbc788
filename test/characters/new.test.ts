import { readdirSync, writeFileSync } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { passagesOf } from '../../agents/drafting/passages.ts';
import { loadCharacter } from '../../characters/character.ts';
import { dramatis, type Ran } from '../rigs/command-rig.ts';
import { fails, openChatServer, says, type ChatServer, type Exchange } from '../fakes/servers/chat-server.ts';
import { testFolder } from '../fakes/test-folder.ts';

const folder = testFolder();

const book = `Ada Finch kept the ferry at Low Water, a lean woman of sixty.

“How deep is it?” asked the boy. “Deep enough,” said Ada Finch, “for fools.” She said that to everybody: deep enough for fools.

Her brother Will had drowned there in the year of the great flood.`;

const quoted = { profile: 'a lean woman of sixty', life: 'had drowned there in the year of the great flood' };
const statements = [
  { field: 'profile', text: 'She keeps the ferry at Low Water and is sixty.', quote: quoted.profile },
  { field: 'life', text: 'Her brother drowned in the great flood.', quote: quoted.life },
  { field: 'catchphrase', text: 'deep enough for fools', quote: 'deep enough for fools' },
  { field: 'person', about: 'Will', text: 'brother, drowned', quote: 'Her brother Will' },
  { field: 'line', about: 'How deep is it?', text: 'Deep enough', quote: '"Deep enough," said Ada Finch' },
];
const lies = [
  { field: 'profile', text: 'She is a duchess.', quote: 'the Duchess of Low Water' },
  { field: 'catchphrase', text: 'Fish for breakfast!', quote: quoted.profile },
  { field: 'trait', text: 'cruel', quote: 'a' },
];
const rest = {
  tagline: 'Keeps the ferry at Low Water',
  identity: 'Ada Finch keeps the ferry at Low Water.',
  secondPerson: 'You are Ada Finch, and you keep the ferry.',
  mbti: 'ISTJ',
  untilYear: null,
  gender: 'female',
  knows: 'The river and its people.',
  unknown: 'Anything beyond the hills.',
  greetings: ['Mind the gap and sit down.'],
  evasions: ['Ask the river.', 'Hm.', 'Could be.', 'Not my boat.', 'Another day.', 'Who knows.'],
  repeatRequests: ['Speak up.', 'The wind took it.', 'Again?'],
};
const json = (value: unknown): Exchange => says([JSON.stringify(value)]);

let texts = 0;
function draft(server: ChatServer, data: string, text = book, ...more: string[]): Promise<Ran> {
  const file = path.join(folder, `book-${(texts += 1)}.txt`);
  writeFileSync(file, text);
  const settings = ['--data-dir', path.join(folder, data), '--llm-base-url', server.baseUrl, '--llm-model', 'writer'];
  return dramatis('characters', 'new', '--text', file, ...settings, ...more);
}

describe('dramatis characters new', () => {
  it('`characters new` drafts a card of statements found in the text, and drops and counts the others', async () => {
    await using server = await openChatServer(
      json({ name: 'Ada Finch' }),
      json({ statements: [...statements, ...lies] }),
      json(rest),
    );
    const ran = await draft(server, 'good');
    expect(ran).toMatchObject({
      status: 0,
      stdout: expect.stringContaining('Ada Finch drafted as ada-finch: 5 statements'),
    });
    expect(ran.stdout).toContain('1 example lines; 3 statements dropped');
    const pack = path.join(folder, 'good', 'characters', 'ada-finch');
    const character = await loadCharacter(pack);
    expect(character).toMatchObject({
      profile: statements[0]?.text,
      catchphrases: ['deep enough for fools'],
      relationships: [{ name: 'Will', relation: 'brother, drowned' }],
      directions: { before: rest.secondPerson },
      mbti: 'ISTJ',
      lines: [{ asks: ['How deep is it?'], reply: 'Deep enough' }],
    });
    const evidence = await readFile(path.join(pack, 'assets', 'evidence.jsonl'), 'utf8');
    expect(evidence.trim().split('\n')).toHaveLength(5);
    expect(JSON.parse(evidence.split('\n')[0] ?? '')).toMatchObject({ passage: 1, offset: 0, quote: quoted.profile });
    expect(ran.stdout).toContain('writer: 3 calls, 33 input tokens, 21 output tokens');
    expect(JSON.stringify(character)).not.toContain('duchess');
    expect(readdirSync(path.dirname(pack))).toEqual(['ada-finch']);
  });

  it('`characters new` resumes where it stopped, and repeats questions whose answer was not JSON', async () => {
    const long = `${book}\n\n${'The river ran on and on. '.repeat(150)}\n\n${book.repeat(4)}`;
    const count = passagesOf(long).length;
    expect(count).toBe(2);
    await using dying = await openChatServer(json({ statements }), fails(401));
    const stopped = await draft(dying, 'stopped', long, '--name', 'Ada Finch');
    expect(stopped.status).not.toBe(0);
    await using mended = await openChatServer(says(['I would love to!']), json({ statements: [] }), json(rest));
    const ran = await draft(mended, 'stopped', long, '--name', 'Ada Finch');
    expect(ran).toMatchObject({ status: 0, stdout: expect.stringContaining('5 statements') });
    expect(mended.requests).toHaveLength(3);
  });

  it('`characters new` gives up on a model that writes no JSON', async () => {
    await using mumbling = await openChatServer(says(['Hm.']));
    const ran = await draft(mumbling, 'bad', book, '--name', 'Ada Finch');
    expect(ran).toMatchObject({ status: 1, stderr: expect.stringContaining('no usable JSON in 3 answers') });
    expect(ran.stderr).toContain(': one passage, about');
    expect(mumbling.requests).toHaveLength(3);
  });

  it.each([
    ['a main character who is not in the text', { name: 'Hamlet' }, [], 'a character that is not in the text'],
    ['a name of which the text tells nothing', { statements: [] }, ['--name', 'Bo'], 'says nothing about "Bo"'],
    ['an id that is none', {}, ['--name', 'Bo', '--id', 'Bo'], 'lower-case words'],
  ])('`characters new` gives up on %s', async (_, answer, args, said) => {
    await using server = await openChatServer(json(answer));
    expect((await draft(server, 'bad', book, ...args)).stderr).toContain(said);
  });

  it('`characters new` asks nothing if the text is empty or the character exists', async () => {
    await using server = await openChatServer(json(rest));
    const there = path.join(folder, 'taken', 'characters', 'ada-finch');
    await mkdir(there, { recursive: true });
    const name = ['--name', 'Ada Finch'];
    const empty = await draft(server, 'bad', '  ');
    const taken = await draft(server, 'taken', book, ...name);
    expect(empty.stderr).toContain('is empty');
    expect(taken).toMatchObject({ status: 1, stderr: expect.stringContaining('use --replace, or another --id') });
    expect(server.requests).toEqual([]);
  });
});

describe('passages of a text', () => {
  it('passages join to the whole text, end at paragraphs or sentences, and are limited in length', () => {
    const text = `${'One two three. '.repeat(900)}\n\n${'字'.repeat(12_000)}${'😀'.repeat(4_000)}`;
    const passages = passagesOf(text);
    expect(passages.map((passage) => passage.text).join('')).toBe(text);
    expect(passages.every((passage) => passage.text.length <= 5_000)).toBe(true);
    expect(passages[0]?.text.endsWith('three. ')).toBe(true);
    expect(passages.some((passage) => /^[\uDC00-\uDFFF]/.test(passage.text))).toBe(false);
  });
});
