import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { Redis } from 'ioredis';
import { afterEach, describe, expect, it } from 'vitest';
import { DataKeys } from '../../../server/memory/postgres/data-keys.ts';
import { openPostgresStore } from '../../../server/memory/postgres/postgres-store.ts';
import { migrate, migrations } from '../../../server/memory/postgres/schema.ts';
import { keyIdOf, newDataKey, seal, unseal } from '../../../server/memory/postgres/sealed-content.ts';
import { copyMemories } from '../../../server/memory/store/copied.ts';
import { exportOf } from '../../../server/memory/store/exported.ts';
import { memoryFile } from '../../../server/memory/store/store.ts';
import { hasPostgres, hasRedis, postgresProgram, startRedis, until } from '../../rigs/cluster-rig.ts';
import { dramatis } from '../../rigs/command-rig.ts';
import { freePort } from '../../rigs/kill-rig.ts';
import {
  begin,
  besides,
  bob,
  bond,
  dataFolder,
  newDatabase,
  newKeyStore,
  newStore,
  openPostgres,
  say,
} from '../../rigs/memory-rig.ts';
import { serve } from '../../rigs/serve-rig.ts';

const turn = (item: string, asked: string) => ({ session: 's1', item, asked, answered: `You said: ${asked}` });
const carol = { ...bond, user: 'carol' };

function dump(url: string, ...options: string[]): string {
  return execFileSync(postgresProgram('pg_dump'), [...options, url], { encoding: 'latin1', maxBuffer: 2 ** 28 });
}

/** Everything that can be kept of a user, with CANARY in all of it. */
async function keepAll(store: Awaited<ReturnType<typeof openPostgres>>, whose = bond): Promise<void> {
  const fact = { text: 'My CANARY is yellow.' };
  await store.record(whose, { ...turn('i1', fact.text), session: `${whose.user}-${whose.character}` }, [fact], 1);
  await store.summarise(whose, { before: '', turns: [], text: 'A CANARY.', facts: [], atMs: 2 });
  await store.keepState(whose, { name: 'feelings', value: '{"CANARY":1}', at: 3 });
  const [id] = (await store.list(whose)).filter(({ kind }) => kind === 'fact').map((one) => one.id);
  await store.keepEmbedding('model', { id: id ?? '', text: fact.text }, Float32Array.of(1, 0.5));
}

describe('sealed content', () => {
  it.each(['', 'Tea, 茶 and \0.', Buffer.from([1, 2, 3])])('is opened by its key: %o', (content) => {
    const key = newDataKey();
    const sealed = seal(content, key);
    expect(keyIdOf(sealed)).toBe(key.id);
    expect(unseal(sealed, key)).toEqual(content);
  });

  it('is not opened by another key, nor if it was changed, and other values are not taken for it', () => {
    const key = newDataKey();
    const sealed = String(seal('Tea.', key));
    expect(() => unseal(sealed, { ...newDataKey(), id: key.id })).toThrow();
    expect(() =>
      unseal(
        sealed.replace(/.$/u, (last) => (last === 'A' ? 'B' : 'A')),
        key,
      ),
    ).toThrow();
    for (const value of ['dk1:tea', '', null, 7, Buffer.from('dk1:'), new Uint8Array(40)])
      expect(keyIdOf(value)).toBeUndefined();
  });
});

describe.skipIf(!hasPostgres || !hasRedis)('memories sealed with a key for each user and character', () => {
  it('an erased user is in no backup, not even in one from before; others are', async () => {
    const [url, restored, keysUrl] = [await newDatabase(), await newDatabase(), await newKeyStore()];
    const store = await openPostgres(url, { keysUrl });
    for (const whose of [bond, carol, { ...bond, character: 'holmes' }]) await keepAll(store, whose);
    expect(dump(url)).not.toContain('CANARY');
    const file = path.join(dataFolder(), 'memories.dump');
    dump(url, '--format=custom', `--file=${file}`);
    expect(await store.erase(bob, 'alice')).toBe(3);
    execFileSync(postgresProgram('pg_restore'), ['--no-owner', '--exit-on-error', `--dbname=${restored}`, file]);
    const again = await openPostgres(restored, { keysUrl });
    expect((await again.list(bob)).map(({ character }) => character)).toEqual(['holmes', 'holmes', 'holmes']);
    expect(await again.states(bob, ['alice'])).toEqual([]);
    expect(await again.embeddings('model', ['f1'])).toEqual(new Map());
    expect(await again.list(carol)).toHaveLength(3);
    expect(await again.embeddings('model', ['f2'])).toEqual(new Map([['f2', Float32Array.of(1, 0.5)]]));
    // Remembered once more, with a new key, in spite of the old rows.
    await keepAll(again);
    expect(await again.list(bob, { character: 'alice' })).toHaveLength(3);
  });

  it('bug: pages of erased rows, in a restored backup, ended an export and a copy early', async () => {
    const [url, restored, keysUrl] = [await newDatabase(), await newDatabase(), await newKeyStore()];
    const store = await openPostgres(url, { keysUrl });
    for (let item = 0; item < 260; item += 1) await store.record(bond, turn(`a${item}`, 'Gone.'), [], item);
    const holmes = { ...bond, character: 'holmes' };
    for (let item = 0; item < 3; item += 1) await store.record(holmes, turn(`h${item}`, 'Kept.'), [], item);
    const file = path.join(dataFolder(), 'memories.dump');
    dump(url, '--format=custom', `--file=${file}`);
    await store.erase(bob, 'alice');
    execFileSync(postgresProgram('pg_restore'), ['--no-owner', '--exit-on-error', `--dbname=${restored}`, file]);
    const again = await openPostgres(restored, { keysUrl });
    const exported = await Array.fromAsync(exportOf({ user: 'bob' }, (last) => again.page(bob, '', last)));
    expect(JSON.parse(exported.join('')).memories).toHaveLength(3);
    const target = await openPostgres(await newDatabase());
    expect((await copyMemories(again, target)).counts['turns']).toBe(3);
    expect(await target.list(bob)).toHaveLength(3);
  });

  it('bug: rows were hidden whose session or item had a name like sealed content', async () => {
    const store = await openPostgres(await newDatabase(), { keysUrl: await newKeyStore() });
    const posing = String(seal('', newDataKey()));
    await store.record(bond, { ...turn(posing, 'Tea?'), session: posing }, [], 1);
    expect(await store.list(bob)).toMatchObject([{ asked: 'Tea?', session: posing }]);
  });

  it('a user of two names has the memories of both, and an erasure takes both keys', async () => {
    const [url, keysUrl] = [await newDatabase(), await newKeyStore()];
    const store = await openPostgres(url, { keysUrl });
    await keepAll(store);
    await keepAll(store, carol);
    await store.move(bob, { owner: '', user: 'carol' });
    expect((await store.list(carol)).filter(({ kind }) => kind === 'turn')).toHaveLength(2);
    const redis = new Redis(keysUrl);
    const before = await redis.dbsize();
    await store.erase(carol);
    expect(before - (await redis.dbsize())).toBe(2);
    redis.disconnect();
  });

  it('whatever is stored after an erasure can be read, though three nodes write and erase at once', async () => {
    const [url, keysUrl] = [await newDatabase(), await newKeyStore()];
    const nodes = await Promise.all([0, 1, 2].map(() => openPostgres(url, { keysUrl })));
    let item = 0;
    const write = async (place: number): Promise<void> => {
      for (let count = 0; count < 25; count += 1) {
        item += 1;
        await nodes[place]!.record(bond, turn(`i${item}`, `Turn ${item}.`), [{ text: `Fact ${item}.` }], item);
      }
    };
    const erase = async (): Promise<void> => {
      for (let count = 0; count < 10; count += 1) await nodes[2]!.erase(bob);
    };
    await Promise.all([write(0), write(1), erase()]);
    await nodes[0]!.record(bond, turn('last', 'The last.'), [], 99);
    const people = await nodes[1]!.people();
    const kept = await nodes[1]!.list(bob);
    expect(kept.filter(({ kind }) => kind === 'turn')).toHaveLength(people[0]!.turns);
    expect(kept.filter(({ kind }) => kind === 'fact')).toHaveLength(people[0]!.facts);
    expect(kept).toContainEqual(expect.objectContaining({ asked: 'The last.' }));
  });

  it('a node killed in an erasure, when the keys are gone and the rows are not, leaves memories that work', async () => {
    const [url, keysUrl] = [await newDatabase(), await newKeyStore()];
    const store = await openPostgres(url, { keysUrl });
    await keepAll(store);
    const keys = new DataKeys(keysUrl);
    const killed = store.within(async (perform) => {
      await keys.check(perform);
      await keys.forget(perform, bob);
      throw new Error('killed');
    });
    await expect(killed).rejects.toThrow('killed');
    keys.close();
    const next = await openPostgres(url, { keysUrl });
    expect(await next.list(bob)).toEqual([]);
    await next.record(bond, turn('i2', 'And now?'), [], 5);
    expect(await next.list(bob)).toMatchObject([{ asked: 'And now?' }]);
    expect(await next.erase(bob)).toBe(4);
  });

  it('existing memories are sealed by command, and a copy to a file and back is the same', async () => {
    const [url, keysUrl] = [await newDatabase(), await newKeyStore()];
    const plain = await openPostgres(url);
    for (const whose of [bond, carol]) await keepAll(plain, whose);
    expect(dump(url)).toContain('CANARY');
    const flags = ['--json', '--postgres-url', url, '--memory-keys-url', keysUrl];
    const sealed = await dramatis('memory', 'seal', ...flags);
    expect([sealed.status, JSON.parse(sealed.stdout)]).toEqual([0, { sealed: 8 }]);
    expect(dump(url)).not.toContain('CANARY');
    const store = await openPostgres(url, { keysUrl });
    await store.keepEmbedding('model', { id: 'f1', text: 'My CANARY is yellow.' }, Float32Array.of(1, 0.5));
    const dataDir = dataFolder();
    const out = await dramatis('memory', 'copy', '--to', 'file', '--data-dir', dataDir, ...flags);
    expect(await besides(newStore(memoryFile(dataDir))).list(bob)).toEqual(await store.list(bob));
    const target = await newDatabase();
    const into = ['--json', '--postgres-url', target, '--memory-keys-url', keysUrl];
    const back = await dramatis('memory', 'copy', '--to', 'postgres', '--data-dir', dataDir, ...into);
    expect(JSON.parse(back.stdout)).toEqual(JSON.parse(out.stdout));
    expect(dump(target)).not.toContain('CANARY');
  });
});

describe.skipIf(!hasPostgres || !hasRedis)('a key store', () => {
  const started: { kill(): Promise<void> }[] = [];
  afterEach(async () => {
    await Promise.all(started.splice(0).map((one) => one.kill()));
  });
  const start = async (...options: string[]) => {
    const redis = await startRedis(await freePort(), options);
    started.push(redis);
    return redis;
  };
  const open = (url: string, keysUrl?: string) => openPostgresStore({ url, keysUrl, onChange: () => undefined });

  it('is refused if it may lose keys, has lost them, or is not named', async () => {
    const url = await newDatabase();
    await expect(open(url, (await start()).url)).rejects.toThrow('Set appendonly yes there.');
    const full = await start('--appendonly', 'yes', '--maxmemory-policy', 'allkeys-lru');
    await expect(open(url, full.url)).rejects.toThrow('Set maxmemory-policy noeviction there.');
    const keysUrl = await newKeyStore();
    await (await open(url, keysUrl)).close();
    await expect(open(url)).rejects.toThrow('Set DRAMATIS_MEMORY_KEYS_URL');
    const other = await start('--appendonly', 'yes');
    await expect(open(url, other.url)).rejects.toThrow('does not have the keys of these memories');
    expect((await openPostgres(url, { keysUrl })).isThere).toBe(true);
  });

  it('keeps nodes away that do not understand what is sealed', async () => {
    const url = await newDatabase();
    const store = await openPostgres(url);
    const older = migrations.slice(0, 2);
    expect(await store.within((perform) => perform(migrate(older)))).toMatchObject({ from: migrations.length });
    await openPostgres(url, { keysUrl: await newKeyStore() });
    await expect(store.within((perform) => perform(migrate(older)))).rejects.toThrow('written by a newer Dramatis');
  });

  it('bug: a key store that hung was told as a fault of PostgreSQL', async () => {
    const redis = await start('--appendonly', 'yes');
    const store = await open(await newDatabase(), redis.url);
    await store.keepState(bond, { name: 'feelings', value: '{}', at: 3 });
    redis.signal('SIGSTOP');
    await expect(store.states(bob, ['alice'])).rejects.toThrow(/key store .* no answer within 500 ms/u);
    await store.close();
  });

  it('that is away delays no conversation; what was said is stored when it is back', async () => {
    const redis = await start('--appendonly', 'yes');
    const flags = { memory: true, postgresUrl: await newDatabase(), memoryKeysUrl: redis.url };
    const server = await serve({ flags });
    const call = await begin(server, '?model=alice&user=bob&x=notice');
    await say(call, 'Before.');
    redis.signal('SIGSTOP');
    await say(call, 'While it hangs.');
    await say(call, 'While it still hangs.');
    const answer = await server.ask('/v1/memories?user=bob');
    expect([answer.status, answer.body.error.code]).toEqual([503, 'memory_unavailable']);
    redis.signal('SIGCONT');
    const asked = async (): Promise<string[]> => {
      const { body } = await server.ask('/v1/memories?user=bob');
      return (body.data ?? []).flatMap(({ kind, asked: text }: Record<string, string>) =>
        kind === 'turn' ? [text] : [],
      );
    };
    await until(async () => (await asked()).length === 3);
    expect((await asked()).toSorted()).toEqual(['Before.', 'While it hangs.', 'While it still hangs.']);
    expect(server.log.some((line) => line.includes('The key store of the memories cannot be used'))).toBe(true);
  });
});
