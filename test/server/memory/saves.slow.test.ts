import { describe, expect, it } from 'vitest';
import { calmFeelings } from '../../../agents/feelings.ts';
import { Saves, type Save } from '../../../server/memory/saves.ts';
import type { SavedUser } from '../../../server/memory/store/saved.ts';
import * as fc from '../../fakes/property.ts';
import { bob, bond, newStoreIn, storeKinds, type TestStore } from '../../rigs/memory-rig.ts';
import { characters } from '../../rigs/serve-rig.ts';
import { versionOne } from './save-version-1.ts';

const eve = { owner: '', user: 'eve' };
const savesOf = (store: TestStore, key = 'a key of this test') => new Saves(store, characters, () => key);
const turn = (item: string, asked: string, answered = 'Yes.') => ({ session: 's1', item, asked, answered });
const lasting = ({ made_at: _at, hmac: _code, ...save }: Save) => save;

async function some(store: TestStore): Promise<void> {
  await store.record(bond, turn('i1', 'I live in Leeds.'), [{ topic: 'home', text: 'I live in Leeds.' }], 1_000);
  await store.record({ ...bond, character: 'sherlock-holmes' }, turn('i2', 'Hello.'), [], 2_000);
  const feelings = { ...calmFeelings, intimacy: 7.25 };
  await store.keepState(bond, { name: 'feelings', value: JSON.stringify(feelings), at: 3_000 });
  await store.keepState({ ...bond, character: '' }, { name: 'world', value: '{"set":{"2":"b","1":"a"}}', at: 3_000 });
}

/** Whatever may be kept of a user. */
const texts = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }).filter((one) => !one.includes('\0'));
const times = fc.integer({ min: 0, max: 2_000_000_000_000 });
const flags = fc.integer({ min: 0, max: 1 });
const who = fc.constantFrom('alice', 'sherlock-holmes', 'gone');
const anyUser: fc.Arbitrary<SavedUser> = fc
  .array(
    fc.record({
      character: who,
      asked: texts,
      answered: texts,
      at: times,
      summarised: flags,
      corrected: flags,
      extracted: flags,
    }),
    { maxLength: 130 },
  )
  .chain((turns) =>
    fc.record({
      turns: fc.constant(turns),
      facts: fc.array(
        fc.record({
          character: who,
          turn: turns.length === 0 ? fc.constant(null) : fc.option(fc.nat(turns.length - 1)),
          topic: fc.option(texts),
          text: texts,
          at: times,
          corrected: flags,
        }),
        { maxLength: 8 },
      ),
      summaries: fc
        .uniqueArray(fc.record({ character: who, text: texts, at: times, corrected: flags }), {
          selector: ({ character }) => character,
        })
        .map((all) => all.toSorted((one, other) => (one.character < other.character ? -1 : 1))),
      states: fc
        .uniqueArray(
          fc.record({
            character: fc.constantFrom('', 'alice'),
            name: fc.constantFrom('feelings', 'relations', 'world'),
            value: fc.jsonValue({ maxDepth: 2 }).map((value) => JSON.stringify(value)),
          }),
          { selector: ({ character, name }) => `${character} ${name}` },
        )
        .map((all) =>
          all.toSorted((one, other) => (`${one.character} ${one.name}` < `${other.character} ${other.name}` ? -1 : 1)),
        ),
    }),
  );

describe.each(storeKinds)('saves of memories in %s', (kind) => {
  it('restore exactly what was saved, with any content, for the same user and for another', async () => {
    const store = await newStoreIn(kind);
    const saves = savesOf(store);
    let number = 0;
    await fc.assert(
      fc.asyncProperty(anyUser, async (user) => {
        await store.load(bob, user, { session: `made ${(number += 1)}`, at: 0 });
        expect(await store.saved(bob)).toEqual(user);
        const save = await saves.save(bob);
        const sent: unknown = JSON.parse(JSON.stringify(save));
        const read = saves.read(sent);
        if ('message' in read) throw new Error(read.message);
        await saves.load(eve, read);
        expect(lasting(await saves.save(eve))).toEqual(lasting(save));
        await store.record(bond, turn(`later ${number}`, 'Later.'), [], 5_000);
        await saves.load(bob, read);
        expect(lasting(await saves.save(bob))).toEqual(lasting(save));
      }),
      { numRuns: kind === 'PostgreSQL' ? 15 : 60 },
    );
  });

  it('roll back what came later: turns, facts, corrections, states', async () => {
    const store = await newStoreIn(kind);
    const saves = savesOf(store);
    await some(store);
    const save = await saves.save(bob);
    await store.record(bond, turn('i9', 'My dog is called Rex.'), [{ text: 'My dog is called Rex.' }], 9_000);
    await store.record({ ...bond, character: 'martha' }, turn('i10', 'Hello.'), [], 9_000);
    await store.keepState(bond, { name: 'feelings', value: '{}', at: 9_000 });
    await store.keepState(bond, { name: 'relations', value: '{}', at: 9_000 });
    await saves.load(bob, save);
    expect(lasting(await saves.save(bob))).toEqual(lasting(save));
    expect((await store.list(bob)).map((memory) => memory.character)).not.toContain('martha');
  });

  it('leave other users as they are, and a second load of the same save changes nothing', async () => {
    const store = await newStoreIn(kind);
    const saves = savesOf(store);
    await some(store);
    await store.record({ ...eve, character: 'alice' }, turn('e1', 'I am Eve.'), [], 1_000);
    const save = await saves.save(bob);
    await saves.load(bob, save);
    await saves.load(bob, save);
    expect(lasting(await saves.save(bob))).toEqual(lasting(save));
    expect(await store.list(eve)).toMatchObject([{ asked: 'I am Eve.' }]);
  });

  it('of some characters only touch these', async () => {
    const store = await newStoreIn(kind);
    const saves = savesOf(store);
    await some(store);
    const save = await saves.save(bob, ['alice']);
    expect(save.turns.map(({ character }) => character)).toEqual(['alice']);
    await saves.load(bob, save, ['alice']);
    expect((await saves.save(bob)).turns.map(({ character }) => character).toSorted()).toEqual([
      'alice',
      'sherlock-holmes',
    ]);
  });

  it('go with the user who is moved, and leave nothing of one who is erased', async () => {
    const store = await newStoreIn(kind);
    await some(store);
    await store.keepState({ ...eve, character: 'alice' }, { name: 'feelings', value: '"old"', at: 0 });
    await store.move(bob, eve);
    expect((await store.saved(bob)).states).toEqual([]);
    expect((await store.saved(eve)).states.map(({ name, value }) => [name, value.slice(0, 5)])).toEqual([
      ['world', '{"set'],
      ['feelings', '{"emo'],
    ]);
    await store.erase(eve);
    expect(await store.saved(eve)).toEqual({ turns: [], facts: [], summaries: [], states: [] });
  });

  it('load a save of version 1', async () => {
    const store = await newStoreIn(kind);
    const saves = savesOf(store, 'the key of version 1');
    const read = saves.read(versionOne);
    if ('message' in read) throw new Error(read.message);
    await saves.load(bob, read);
    const { version, turns, facts, state } = await saves.save(bob);
    expect({ version, turns, facts, state }).toMatchObject({
      version: 1,
      turns: [{ character: 'alice', asked: 'I live in Leeds.', answered: 'Indeed?', at: 1_000, summarised: 0 }],
      facts: [{ turn: 0, text: 'I live in Leeds.' }],
      state: { '*': { world: { set: { place: 'the garden' } } } },
    });
  });
});

describe('a save', () => {
  it('shows the cards of its characters, the world, the feelings and the last turns', async () => {
    const store = await newStoreIn('a file');
    await some(store);
    const save = await savesOf(store).save(bob);
    expect(save).toMatchObject({
      object: 'dramatis.save',
      version: 1,
      cards: { alice: expect.stringMatching(/^[\w-]{43}$/) },
      state: { '*': { world: { set: { 1: 'a', 2: 'b' } } }, alice: { feelings: { intimacy: 7.25 } } },
      last_turns: [{ character: 'alice', asked: 'I live in Leeds.' }, { character: 'sherlock-holmes' }],
    });
    expect(JSON.stringify({ ...save, hmac: '' })).not.toContain('bob');
  });

  it('reports on loading which characters have changed since', async () => {
    const store = await newStoreIn('a file');
    await some(store);
    const save = await savesOf(store).save(bob);
    const changed = new Map(characters);
    changed.set('alice', { ...characters.get('alice')!, tagline: 'Another.' });
    changed.delete('sherlock-holmes');
    expect(await new Saves(store, changed, () => 'k').load(bob, save)).toEqual(['alice', 'sherlock-holmes']);
    expect(await savesOf(store).load(bob, save)).toEqual([]);
  });

  it('is refused if anything in it was changed, left out or added, but not if its fields are in another order', async () => {
    const store = await newStoreIn('a file');
    await some(store);
    const saves = savesOf(store);
    const save = await saves.save(bob);
    const { hmac, turns, ...rest } = save;
    expect(saves.read({ hmac, ...Object.fromEntries(Object.entries(rest).toReversed()), turns })).toEqual(save);
    const wrongs: unknown[] = [
      { ...save, turns: turns.map((one) => ({ ...one, answered: 'No.' })) },
      { ...save, state: {} },
      { ...save, version: 0 },
      { ...save, gold: 1_000 },
      { ...save, hmac: '' },
      { ...save, hmac: `${hmac.slice(0, -2)}AA` },
      { ...rest, hmac },
      {},
      null,
      'save',
      [],
    ];
    for (const wrong of wrongs) expect(saves.read(wrong)).toMatchObject({ code: 'save_invalid' });
    expect(savesOf(store, 'another key').read(save)).toMatchObject({ code: 'save_invalid' });
  });

  it('that is nested too deep to be one is refused like any other', async () => {
    const saves = savesOf(await newStoreIn('a file'));
    const deep: unknown = JSON.parse('{"a":'.repeat(20_000) + '1' + '}'.repeat(20_000));
    expect(saves.read(deep)).toMatchObject({ code: 'save_invalid' });
  });

  it('is refused for any change of one character in it', async () => {
    const store = await newStoreIn('a file');
    await some(store);
    const saves = savesOf(store);
    const text = JSON.stringify(await saves.save(bob));
    let refused = 0;
    fc.assert(
      fc.property(fc.nat(text.length - 1), fc.string({ minLength: 1, maxLength: 1 }), (at, other) => {
        const changed = text.slice(0, at) + other + text.slice(at + 1);
        let given: unknown;
        try {
          given = JSON.parse(changed);
        } catch {
          return;
        }
        const read = saves.read(given);
        if ('code' in read) refused += 1;
        // Base64url has bits that mean nothing in its last letter.
        else expect(lasting(read)).toEqual(lasting(JSON.parse(text) as Save));
      }),
      { numRuns: 500 },
    );
    expect(refused).toBeGreaterThan(200);
  });
});
