import { describe, expect, it } from 'vitest';
import { CharacterError } from '../../../characters/character-error.ts';
import { cardThreadMemoryMb, maxCardThreads, maxWaitingCards } from '../../../server/cast/card-limits.ts';
import { CardThreads } from '../../../server/cast/card-thread.ts';

const { signal } = new AbortController();
const card = Buffer.from(JSON.stringify({ name: 'Mara', description: 'A keeper.', first_mes: 'Come in.' }));
const given = { bytes: card };

describe('a thread that reads cards', () => {
  it('a card is read in a thread, with its notes', async () => {
    const { pack, notes } = await new CardThreads().run('import', given, signal);
    expect(pack.card).toMatchObject({ id: 'mara', greetings: ['Come in.'] });
    expect(notes).toEqual([]);
  });

  it('an invalid card is refused with the message of the reader', async () => {
    const refused = new CardThreads().run('import', { bytes: Buffer.from('GIF89a') }, signal);
    await expect(refused).rejects.toThrow(CharacterError);
    await expect(refused).rejects.toThrow(/not valid JSON/);
  });

  it('a card of four million values is refused before it takes the memory to parse it', async () => {
    const bytes = Buffer.from(`{"name":"Mara","a":[${'[],'.repeat(2_000_000)}[]]}`);
    await expect(new CardThreads().run('import', { bytes }, signal)).rejects.toThrow(/more than 300000 values/);
    await expect(new CardThreads().run('pack', { bytes }, signal)).rejects.toThrow(/more than 300000 values/);
  });

  it('a card that takes too long is refused with a code that names the limit', async () => {
    const refused = new CardThreads(1, { memoryMb: cardThreadMemoryMb, timeoutMs: 1 }).run('import', given, signal);
    await expect(refused).rejects.toThrow(/more than 0.001 s to process. Remove greetings/);
  });

  it('a card whose client has gone is dropped, running or waiting', async () => {
    const threads = new CardThreads();
    const gone = new AbortController();
    const runs = Array.from({ length: maxCardThreads + 1 }, () => threads.run('import', given, gone.signal));
    gone.abort(new Error('gone'));
    for (const run of runs) await expect(run).rejects.toThrow('gone');
    await expect(threads.run('import', given, signal)).resolves.toBeDefined();
  });

  it('more cards than may wait are refused with a code, and those that wait are read in turn', async () => {
    const threads = new CardThreads();
    const runs = Array.from({ length: maxCardThreads + maxWaitingCards }, () => threads.run('import', given, signal));
    await expect(threads.run('import', given, signal)).rejects.toMatchObject({ code: 'server_busy', status: 503 });
    expect(await Promise.all(runs)).toHaveLength(maxCardThreads + maxWaitingCards);
  });
});
