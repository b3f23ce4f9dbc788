import { describe, expect, it } from 'vitest';
import { bookText } from '../../../agents/drafting/book-text.ts';
import { draftCard } from '../../../agents/drafting/draft-card.ts';
import { mainCharacterOf } from '../../../agents/drafting/main-character.ts';
import { passagesOf } from '../../../agents/drafting/passages.ts';
import { readPassages, type ReadingOptions } from '../../../agents/drafting/read-passages.ts';
import type { PassageResult } from '../../../agents/drafting/statements.ts';
import { EngineError } from '../../../voices/engine.ts';
import { chronicle, openReader, sloppy, type Reader } from './scripted-reader.ts';

const { signal } = new AbortController();
const name = 'Ada Finch';

function reading(model: ReadingOptions['model'], more: Partial<ReadingOptions> = {}): ReadingOptions {
  const kept = new Map<number, PassageResult>();
  const store = {
    read: async (index: number) => kept.get(index),
    write: async (index: number, result: PassageResult) => void kept.set(index, result),
  };
  return { name, model, store, signal, onPassage: () => undefined, onWait: () => undefined, ...more };
}

/** A card as a careless model writes it. */
const completion = {
  tagline: `Keeps the ferry at Low Water. ${'She has seen all of it. '.repeat(20)}`,
  identity: 'Ada Finch keeps the ferry.',
  secondPerson: 'You are Ada Finch, and you keep the ferry.',
  mbti: 'istj-a (the Logistician)',
  untilYear: '1850',
  gender: 'woman',
  knows: 'The river.',
  unknown: 'The hills.',
  greetings: 'Mind the gap.',
  evasions: ['Ask the river.', 'Ask the river.', 7],
  repeatRequests: ['Again?', 'Louder.', 'The wind took it.', 'What?'],
};

describe('reading a book', () => {
  const text = chronicle(1_200);
  const passages = passagesOf(text);

  it('passages are read with any text around the JSON answers, in order, and four at a time', async () => {
    expect(text.length).toBeGreaterThan(600_000);
    const model = openReader(sloppy);
    const told: string[] = [];
    const read = await readPassages(passages, reading(model, { onPassage: (done, of) => told.push(`${done}/${of}`) }));
    expect(read.unread).toEqual([]);
    expect(model.mostAtOnce).toBe(4);
    expect(model.calls).toHaveLength(passages.length);
    expect(told.at(0)).toBe(`0/${passages.length}`);
    expect(told.at(-1)).toBe(`${passages.length}/${passages.length}`);
    const lines = read.statements.filter(({ field }) => field === 'line').map((each) => each.text);
    expect(lines.length).toBeGreaterThan(900);
    expect(lines).toEqual(lines.toSorted((left, right) => Number(/\d+/.exec(left)) - Number(/\d+/.exec(right))));
    expect(read.statements.some((each) => each.text.includes('duchess'))).toBe(false);
    expect(read.dropped).toBeGreaterThan(passages.length);
    for (const { passage, offset, quote } of read.statements) {
      expect(offset).toBe(passages[passage - 1]?.offset);
      expect(passages[passage - 1]?.text).toContain(quote);
    }
  });

  it('a book becomes a card that fits a prompt, each sentence with the statements it rests on', async () => {
    const model = openReader(sloppy, completion);
    const { statements } = await readPassages(passages, reading(model));
    const drafted = await draftCard({ name, work: 'Low Water', author: 'Nobody', text }, statements, model, { signal });
    const { card, lines, written } = drafted;
    expect(card.background.length).toBeLessThan(5_000);
    expect(written.length).toBeGreaterThan(0);
    for (const { field, from } of written) {
      expect(from.length).toBeGreaterThan(0);
      expect(from.every((place) => statements[place]?.field === field)).toBe(true);
    }
    expect(card.background).not.toMatch(/never there|elsewhere/);
    expect(card.experiences?.length).toBeGreaterThan(900);
    expect(card.temperament).toEqual(['Patient', 'stern']);
    expect(card.catchphrases).toEqual(['deep enough for fools']);
    expect(lines.length).toBeGreaterThan(900);
    expect(card.work).toMatchObject({ title: 'Low Water', author: 'Nobody' });
  });
});

it('loose card fields of a careless model are accepted if their meaning is plain, and missing ones are filled in', async () => {
  const text = chronicle(2);
  const model = openReader((json) => json, completion);
  const { statements } = await readPassages(passagesOf(text), reading(model));
  const { card, written } = await draftCard({ name, work: 'Low Water', text }, statements, model, { signal });
  expect(written).toEqual([]);
  expect(card.experiences).toBeUndefined();
  expect(card).toMatchObject({
    tagline: expect.stringMatching(/^Keeps the ferry at Low Water\..{0,90}$/),
    mbti: 'ISTJ',
    greetings: ['Mind the gap.'],
  });
  expect(card.knowledge.untilYear).toBe(1850);
  expect(card.voice.gender).toBe('neutral');
  expect(card.evasions[0]).toBe('Ask the river.');
  expect(card.evasions.length).toBeGreaterThanOrEqual(6);
  expect(card.repeatRequests).toHaveLength(4);
});

describe('failing model server', () => {
  const passages = passagesOf(chronicle(80));

  /** Fails according to `faultOf`. */
  function failing(faultOf: (call: number, text: string) => EngineError | undefined): Reader {
    const reader = openReader();
    let call = 0;
    return {
      ...reader,
      async *chat(messages, options) {
        const fault = faultOf((call += 1), messages.at(-1)?.text ?? '');
        if (fault !== undefined) throw fault;
        yield* reader.chat(messages, options);
      },
    };
  }

  it('a busy server is waited for, longer each time or as long as it says', async () => {
    const waits: number[] = [];
    const busy = failing((call) =>
      call > 4 && call < 7
        ? new EngineError('r', 'ENGINE_UNAVAILABLE', 'busy', undefined, { retryAfterMs: 20_000 })
        : undefined,
    );
    const pause = async (ms: number): Promise<void> => void waits.push(ms);
    const read = await readPassages(passages, reading(busy, { pause }));
    expect(read.unread).toEqual([]);
    expect(waits).toEqual([20_000, 20_000]);
    const away = failing(() => new EngineError('r', 'ENGINE_UNAVAILABLE', 'away'));
    const gone = readPassages(passages.slice(0, 1), reading(away, { pause }));
    await expect(gone).rejects.toThrow('away');
    expect(waits.slice(2)).toEqual([2_000, 8_000, 30_000, 60_000]);
  });

  it('one failed passage is left out, and a book whose passages all fail is given up', async () => {
    const bad = new EngineError('r', 'ENGINE_BAD_REPLY', 'no JSON');
    const third = passages[2]?.text ?? '';
    const read = await readPassages(passages, reading(failing((_, text) => (text.includes(third) ? bad : undefined))));
    expect(read.unread).toEqual([3]);
    expect(read.statements.some(({ passage }) => passage === passages.length)).toBe(true);
    let calls = 0;
    const hopeless = readPassages(passages, reading(failing(() => ((calls += 1), bad))));
    await expect(hopeless).rejects.toBe(bad);
    expect(calls).toBeLessThan(passages.length);
  });

  it('a refused API key ends the drafting at once and keeps the passages already read', async () => {
    const refused = new EngineError('r', 'ENGINE_REFUSED', 'key');
    const options = reading(failing((call) => (call === 3 ? refused : undefined)));
    await expect(readPassages(passages, options)).rejects.toBe(refused);
    const again = openReader();
    const told: number[] = [];
    const onPassage = (done: number): void => void told.push(done);
    const read = await readPassages(passages, { ...options, model: again, onPassage });
    expect(told[0]).toBe(3);
    expect(again.calls).toHaveLength(passages.length - 3);
    expect(read.statements.filter(({ field }) => field === 'line')).toHaveLength(80);
  });
});

it('a Chinese book is asked about in Chinese, and its quotes are short', async () => {
  const text = '阿灯守着海边的灯塔，六十岁了。\n\n“水深吗？”孩子问。“深得很。”阿灯说。';
  const systems: string[] = [];
  const model: ReadingOptions['model'] = {
    name: 'reader',
    async *chat(messages) {
      systems.push(messages[0]?.text ?? '');
      const of = (field: string, quote: string, said: string) => ({ field, about: '水深吗？', text: said, quote });
      const statements = [
        of('line', '深得很。', '深得很。'),
        of('profile', '六十岁了', '阿灯六十岁。'),
        of('life', '海', '出海。'),
      ];
      yield { type: 'text-delta', text: JSON.stringify({ statements }) };
    },
  };
  const read = await readPassages(passagesOf(text), reading(model, { name: '阿灯' }));
  expect(systems[0]).toContain('Write every text in Chinese');
  expect(read.statements.map((each) => each.text)).toEqual(['深得很。', '阿灯六十岁。']);
  expect(read.dropped).toBe(1);
});

describe('published text', () => {
  it('the header and licence of Project Gutenberg are removed after title and author were read from them', () => {
    const header =
      'Title: Low Water\nAuthor: Nobody at All\n\n*** START OF THE PROJECT GUTENBERG EBOOK LOW WATER ***\n';
    const whole = `${header}\nOnce upon a time.\n\n*** END OF THE PROJECT GUTENBERG EBOOK LOW WATER ***\nLicence`;
    expect(bookText(whole)).toEqual({ text: 'Once upon a time.', title: 'Low Water', author: 'Nobody at All' });
    expect(bookText('*** A star ***')).toEqual({ text: '*** A star ***' });
  });

  it('the main character is found from passages across the whole text, if they name one', async () => {
    const text = `${'Preface. '.repeat(500)}${chronicle(40)}`;
    const seen: string[] = [];
    const answering = (answer: string) => ({
      name: 'reader',
      async *chat(messages: readonly { readonly text: string }[]) {
        seen.push(messages.at(-1)?.text ?? '');
        yield { type: 'text-delta' as const, text: `{"name": "${answer}"}` };
      },
    });
    expect(await mainCharacterOf(text, answering('Ada Finch'), { signal })).toBe('Ada Finch');
    expect(seen[0]).toContain('Ada Finch');
    expect(seen[0]?.length).toBeLessThan(9_000);
    expect(await mainCharacterOf(text, answering('Hamlet'), { signal })).toBeUndefined();
  });
});
