import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkCard } from '../../../agents/alignment/check-card.ts';
import { checkLines } from '../../../agents/alignment/check-lines.ts';
import type { ChatModel } from '../../../agents/chat.ts';
import { judgeLines } from '../../../agents/alignment/judge-lines.ts';
import { openOpenaiChat } from '../../../agents/chats/openai-chat.ts';
import { dialoguePairSchema } from '../../../characters/card.ts';
import { loadCharacters } from '../../../characters/character.ts';
import { openChatServer, says } from '../../fakes/servers/chat-server.ts';
import { smallCharacter } from '../actor/stand-ins.ts';

const { signal } = new AbortController();

function findingsIn(reply: string, more: object = {}): string[] {
  const lines = [dialoguePairSchema.parse({ asks: ['What do you do all day?'], reply, ...more })];
  const relationships = [
    { name: 'Old Tom', relation: 'ostler and cousin' },
    { name: 'Rose Greene', relation: 'her sister in town' },
  ];
  return checkLines(smallCharacter({ lines, relationships })).map(({ kind, what }) => `${kind}: ${what}`);
}

describe('line checks', () => {
  it.each([
    [
      'what came after the card’s time',
      'I look at my telephone, love.',
      /contradiction: mentions something later than 1750/,
    ],
    ['years after it', 'I opened this house in 1802.', /later than 1750/],
    [
      'what the guard would stop',
      'As an AI language model, I pour no ale.',
      /guardrail would block this \(assistant\)/,
    ],
    ['another language', '我整天都在这里卖酒，从早到晚。', /is not in en/],
    [
      'somebody made a relative of another kind',
      'I ride out with my brother Old Tom.',
      /Old Tom brother, but the card/,
    ],
    ['the same by first name, to be looked at', 'My mother Rose keeps the books.', /^note: calls Rose Greene mother/],
    ['markup', 'I *wipe* the mugs.', /^note: cannot be spoken as written: "\*"/],
  ])('the line check finds %s', (_what, reply, found) => {
    expect(findingsIn(reply)).toEqual([expect.stringMatching(found)]);
  });

  it.each(['I pour ale from dawn to dusk.', 'My cousin Old Tom minds the horses.', 'My sister Rose Greene sews.'])(
    'the line check finds nothing in "%s"',
    (reply) => {
      expect(findingsIn(reply)).toEqual([]);
    },
  );

  it('the line check accepts what the user lines bring up, and knows the languages of the card', () => {
    expect(findingsIn('A telephone? Never heard of it.', { asks: ['Have you a telephone?'] })).toEqual([]);
    expect(findingsIn('Je sers la bière.', { language: 'fr' })).toEqual([
      expect.stringMatching(/not among the card's languages \(en\)/),
    ]);
  });

  it('the line check reports duplicate user lines and replies with both rows', () => {
    const line = { asks: ['Have you a bed?'], reply: 'Two, upstairs.' };
    const found = checkLines(smallCharacter({ lines: [line, line] }));
    expect(found).toHaveLength(2);
    expect(found.every(({ where, what }) => where === 'lines.jsonl:2' && what.includes('lines.jsonl:1'))).toBe(true);
  });

  it('the line check finds no contradiction in the shipped packs', async () => {
    const packs = await loadCharacters(path.resolve(import.meta.dirname, '../../../characters'));
    const found = packs.flatMap((pack) => [...checkCard(pack), ...checkLines(pack)]);
    expect(found.filter(({ kind }) => kind === 'contradiction')).toEqual([]);
  });
});

describe('card checks', () => {
  it('the card check reports empty fields, greetings that cannot be spoken and lorebook keys that cannot match', () => {
    const entry = { constant: false, content: 'A fact.' };
    const character = smallCharacter({
      style: '',
      greetings: ['*waves* Hello!'],
      lorebook: [
        { ...entry, keys: ['...'] },
        { ...entry, keys: ['you'], content: 'Another.' },
        { ...entry, keys: ['barrel'] },
      ],
    });
    const found = checkCard(character).map(({ what }) => what);
    expect(found).toEqual(
      expect.arrayContaining([
        'style is empty',
        'greetings[0] cannot be spoken as written: "*"',
        expect.stringContaining('"..." contains no word'),
        expect.stringContaining('"you" matches in nearly every conversation'),
        'lorebook[2] says the same as lorebook[0]',
      ]),
    );
  });
});

describe('lines judged by an LLM', () => {
  const character = smallCharacter({
    lines: [
      { asks: ['Are you kind?'], reply: 'I hate every guest I ever had.' },
      { asks: ['Have you ale?'], reply: 'The best on this road.' },
    ],
  });
  const found = (row: number, quote: string): string =>
    JSON.stringify({ contradictions: [{ row, field: 'traits', quote, why: 'She is hearty.' }] });

  async function judgedWith(...replies: readonly string[]) {
    await using server = await openChatServer(...replies.map((text) => says([text])));
    const model = openOpenaiChat({ baseUrl: server.baseUrl, model: 'judge' });
    const result = await judgeLines(character, model, { signal });
    return { ...result, calls: server.requests.length };
  }

  it('contradictions found by an LLM are reported with row, field and quote', async () => {
    const { findings, dropped } = await judgedWith(`Sure!\n\`\`\`json\n${found(1, 'I hate every guest')}\n\`\`\``);
    expect(findings).toEqual([
      { kind: 'contradiction', where: 'lines.jsonl:1', what: 'traits: "I hate every guest": She is hearty.' },
    ]);
    expect(dropped).toBe(0);
  });

  it('the LLM is asked again if its answer is not JSON, three times at most', async () => {
    expect(await judgedWith('No idea.', found(1, 'I hate'))).toMatchObject({ calls: 2, dropped: 0 });
    await expect(judgedWith('No idea.')).rejects.toMatchObject({ code: 'ENGINE_BAD_REPLY' });
  });

  it('quotes match with any quotation marks, and are reported in row order', async () => {
    const both = ['“i hate EVERY guest I ever had”', 'The best'].map((quote, index) => ({
      row: String(index + 1),
      field: 'traits',
      quote: quote.replaceAll(/[“”]/gu, ''),
      why: 'Hearty.',
    }));
    const { findings } = await judgedWith(JSON.stringify([...both.toReversed(), { row: 'x' }]));
    expect(findings.map(({ where }) => where)).toEqual(['lines.jsonl:1', 'lines.jsonl:2']);
  });

  it('a batch that the LLM fails on costs no other batch, and the check ends early if it fails on all', async () => {
    const lines = Array.from({ length: 80 }, (_, index) => ({
      asks: [`Ask ${index}?`],
      reply: `I hate guest ${index}.`,
    }));
    const calls: string[] = [];
    const judge = (isOf: (text: string) => boolean): ChatModel => ({
      name: 'judge',
      async *chat(messages) {
        const text = messages.at(-1)?.text ?? '';
        calls.push(text);
        yield { type: 'text-delta', text: isOf(text) ? 'Hm.' : found(80, 'I hate guest 79') };
      },
    });
    const some = await judgeLines(
      smallCharacter({ lines }),
      judge((text) => text.includes('Ask 8?')),
      { signal },
    );
    expect(some).toMatchObject({ unjudged: 8, dropped: 8, findings: [{ where: 'lines.jsonl:80' }] });
    calls.length = 0;
    await expect(
      judgeLines(
        smallCharacter({ lines }),
        judge(() => true),
        { signal },
      ),
    ).rejects.toMatchObject({
      code: 'ENGINE_BAD_REPLY',
    });
    expect(calls.length).toBeLessThan(30);
  });

  it('findings with a quote or row that does not exist are dropped and counted', async () => {
    expect(await judgedWith(found(2, 'I hate every guest'))).toMatchObject({ findings: [], dropped: 1 });
    expect(await judgedWith(found(7, 'I hate every guest'))).toMatchObject({ findings: [], dropped: 1 });
  });
});
