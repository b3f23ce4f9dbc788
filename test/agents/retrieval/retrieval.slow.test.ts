import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { indexLines } from '../../../agents/retrieval/line-index.ts';
import { scriptedAgent } from '../../../agents/scripted/scripted.ts';
import { loadCharacters, type Character } from '../../../characters/character.ts';
import { chineseTalk, ownTalk, smallTalk, strangeChineseTalk, strangeTalk, type MessageCase } from './user-messages.ts';
import { replyParts, smallCharacter, wordsOf } from '../actor/stand-ins.ts';

const martha = smallCharacter();
const packs = await loadCharacters(path.resolve(import.meta.dirname, '../../../characters'));

const agents = new Map([martha, ...packs].map((character) => [character, scriptedAgent(character)]));

async function answer(character: Character, ...talk: string[]): Promise<string> {
  return wordsOf(await replyParts(agents.get(character) ?? scriptedAgent(character), talk));
}

describe('retrieval agent', () => {
  it('the retrieval agent names itself, says the whole line and costs nothing', async () => {
    expect(await replyParts(scriptedAgent(martha), ['Do you have a room?'])).toEqual([
      { type: 'reply-source', name: 'retrieval' },
      { type: 'text-delta', text: 'One, with a draught in it.' },
      { type: 'usage', inputTokens: 0, outputTokens: 0, cutShort: false },
    ]);
  });

  it.each([
    ['said otherwise', 'So, have you got a bed for me tonight?', 'One, with a draught in it.'],
    ['after a greeting', 'Hello Martha! What ale have you got?', 'Brown, and browner.'],
    ['known to every pack', 'how have you been lately', 'My knees ache, so it will rain.'],
    ['with an address behind it', 'Goodbye, my dear', 'Mind the step.'],
    ['that is all filler', 'Really?', 'Truly, or may I be struck down.'],
    ['with a tag question', 'The inn is haunted, isn’t it?', 'She walks at midnight, and she pays no rent.'],
  ])('the retrieval agent finds the line for a user message %s', async (_how, remark, reply) => {
    expect(await answer(martha, remark)).toBe(reply);
  });

  it('the retrieval agent evades a user message that no line fits, even in a familiar phrasing', async () => {
    expect(martha.evasions).toContain(await answer(martha, 'Tell me about quantum chromodynamics'));
    const received = await answer(martha, 'in being comparatively modern.');
    expect(martha.lines.map(({ reply }) => reply)).not.toContain(received);
    expect(martha.evasions).toContain(await answer(martha));
  });

  it('the retrieval agent gives the same reply to the same history', async () => {
    expect(await answer(martha, 'Xylophones!')).toBe(await answer(martha, 'Xylophones!'));
  });

  it('the retrieval agent never evades twice in a row, and uses every evasion once before it repeats one', async () => {
    const talk: string[] = [];
    for (let turn = 0; turn < 2 * martha.evasions.length; turn += 1)
      talk.push('Xylophones!', await answer(martha, ...talk, 'Xylophones!'));
    const said = talk.filter((_text, index) => index % 2 === 1);
    const evaded = said.map((text) => martha.evasions.includes(text));
    expect(evaded.some((isEvasion, index) => isEvasion && evaded[index + 1] === true)).toBe(false);
    const used = said.filter((text) => martha.evasions.includes(text));
    expect(new Set(used).size).toBe(used.length);
  });

  it('the retrieval agent gives the next best line instead of one just said', async () => {
    const first = 'She walks at midnight, and she pays no rent.';
    expect(await answer(martha, 'Tell me about the ghost', first, 'Tell me about the ghost')).toBe(
      'Some say she was a bride.',
    );
  });

  it('the retrieval agent recognizes a line that was heard only in part', async () => {
    expect(await answer(martha, 'Tell me about the ghost', 'She walks at midnight,', 'Tell me about the ghost')).toBe(
      'Some say she was a bride.',
    );
  });

  it('the retrieval agent ignores the previous user message if the new one has a topic', async () => {
    const talk = ['Tell me about the ghost', 'She walks at midnight, and she pays no rent.', 'Do you sell xylophones?'];
    expect(martha.lines.map(({ reply }) => reply)).not.toContain(await answer(martha, ...talk));
  });

  it('the retrieval agent reads a user message without a topic with the previous one', async () => {
    const talk = ['Tell me about the ghost', 'She walks at midnight, and she pays no rent.', 'Who was she?'];
    expect(await answer(martha, ...talk)).toBe('Some say she was a bride.');
  });

  it('the retrieval agent replies in the language of the user message if the pack speaks it', async () => {
    const wukong = packs.find((pack) => pack.id === 'sun-wukong') ?? martha;
    expect(await answer(wukong, 'Who are you?')).toMatch(/^[\p{Script=Latin}\p{P}\s]+$/u);
    expect(await answer(wukong, '你是谁？')).toMatch(/\p{Script=Han}/u);
    expect(await answer(wukong, 'Tell me about the stock market')).toMatch(/^[\p{Script=Latin}\p{P}\s]+$/u);
    expect(await answer(wukong, '股市今天下跌了')).toMatch(/\p{Script=Han}/u);
  });

  it('the retrieval agent stops when aborted', async () => {
    const reason = new Error('enough');
    const signal = AbortSignal.abort(reason);
    await expect(replyParts(scriptedAgent(martha), ['Hello'], { signal })).rejects.toBe(reason);
  });
});

describe('line index', () => {
  it('an empty line index finds nothing', () => {
    expect(indexLines([], 'Nobody')('Hello')).toEqual([]);
  });

  it('the line index returns every line once, best first', () => {
    const hits = indexLines(martha.lines, martha.name)('Tell me about the ghost');
    expect(new Set(hits.map((hit) => hit.pair)).size).toBe(hits.length);
    expect(hits.map((hit) => hit.fit)).toEqual(hits.map((hit) => hit.fit).toSorted((left, right) => right - left));
    expect(hits[0]?.fit).toBeCloseTo(1);
  });
});

/** Sends one user message to every character that may know it, and counts right lines, evasions and wrong lines. */
async function tally(
  character: Character,
  remarks: readonly MessageCase[],
): Promise<{ readonly right: string[]; readonly evaded: string[]; readonly wrong: string[] }> {
  const result = { right: [] as string[], evaded: [] as string[], wrong: [] as string[] };
  for (const [remark, ask] of remarks) {
    const reply = await answer(character, remark);
    const pair = character.lines.find((line) => line.reply === reply);
    const outcome = pair === undefined ? 'evaded' : pair.asks.some((text) => ask.test(text)) ? 'right' : 'wrong';
    result[outcome].push(`${character.id}: ${remark} -> ${reply}`);
  }
  return result;
}

describe.each(packs.map((pack) => [pack.id, pack] as const))('pack %s', (id, pack) => {
  const isChinese = pack.languages[0] === 'zh';
  const known = (isChinese ? chineseTalk : smallTalk).filter(([, ask]) =>
    pack.lines.some((line) => line.asks.some((text) => ask.test(text))),
  );

  it('the pack answers at least nine of ten small-talk messages correctly', async () => {
    const { evaded, wrong } = await tally(pack, known);
    expect(known.length).toBeGreaterThan(20);
    expect([...evaded, ...wrong].slice(Math.floor(known.length * 0.1))).toEqual([]);
  });

  it('the pack evades at least nineteen of twenty unrelated messages', async () => {
    // A pack may have a line on pizza.
    const isOfPack = (remark: string): boolean =>
      [/pizza/i, /vaccine/i].some(
        (subject) => subject.test(remark) && pack.lines.some(({ asks }) => asks.some((ask) => subject.test(ask))),
      );
    const strange = (isChinese ? strangeChineseTalk : strangeTalk)
      .filter((remark) => !isOfPack(remark))
      .map((remark): MessageCase => [remark, /^$/]);
    const { wrong } = await tally(pack, strange);
    expect(wrong.slice(Math.floor(strange.length * 0.05))).toEqual([]);
  });

  it.runIf(id in ownTalk)('the pack answers messages on its own subjects', async () => {
    const { evaded, wrong } = await tally(pack, ownTalk[id] ?? []);
    expect([...evaded, ...wrong]).toEqual([]);
  });
});
