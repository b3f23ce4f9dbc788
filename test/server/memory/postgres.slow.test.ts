import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { Client } from 'pg';
import { describe, expect, it } from 'vitest';
import { openPostgresStore } from '../../../server/memory/postgres/postgres-store.ts';
import { migrate } from '../../../server/memory/postgres/schema.ts';
import { copyMemories } from '../../../server/memory/store/copied.ts';
import { memoryFile } from '../../../server/memory/store/store.ts';
import { fakeEngines } from '../../fakes/engines.ts';
import { hasPostgres, postgresProgram, until } from '../../rigs/cluster-rig.ts';
import { dramatis } from '../../rigs/command-rig.ts';
import {
  begin,
  besides,
  bob,
  bond,
  dataFolder,
  newDatabase,
  newStore,
  openPostgres,
  postgres,
  say,
} from '../../rigs/memory-rig.ts';
import { serve } from '../../rigs/serve-rig.ts';

const turn = (item: string, asked: string, answered = 'Yes.') => ({ session: 's1', item, asked, answered });

async function query(url: string, sql: string): Promise<void> {
  const client = new Client(url);
  await client.connect();
  await client.query(sql);
  await client.end();
}

describe.skipIf(!hasPostgres)('memories in PostgreSQL', () => {
  it('keeps one fact per topic and every turn once, in the order of ids, when two nodes write for one user at once', async () => {
    const url = await newDatabase();
    const nodes = await Promise.all([openPostgres(url), openPostgres(url)]);
    const counts = Array.from({ length: 20 }, (_, index) => index);
    let latest = 0;
    const seen: string[] = [];
    const look = async (): Promise<void> => {
      for (const { id } of (await nodes[0].list(bob)).filter(({ kind }) => kind === 'turn').toReversed()) {
        if (Number(id.slice(1)) <= latest) continue;
        seen.push(id);
        latest = Number(id.slice(1));
      }
    };
    const writes = counts.flatMap((index) =>
      nodes.map(async (node, place) => {
        const fact = { topic: 'home', text: `I live in house ${index} of ${place}.` };
        // Both nodes write some of the turns: a client that came back from one to the other.
        const item = index % 2 === 0 ? `i${index}` : `i${index}-${place}`;
        await node.record(bond, turn(item, fact.text), [fact], index);
        await look();
      }),
    );
    await Promise.all(writes);
    await look();
    const kept = await nodes[1].list(bob);
    expect(kept.filter(({ kind }) => kind === 'fact')).toHaveLength(1);
    const turns = kept.filter(({ kind }) => kind === 'turn').map(({ id }) => id);
    expect(turns).toHaveLength(30);
    // Nobody who reads on from the latest id misses a turn that was committed later.
    expect([...new Set(seen)].toSorted()).toEqual(turns.toSorted());
  });

  it('moves all users of a key while they talk, without a deadlock and without a loss', async () => {
    const store = await openPostgres(await newDatabase());
    const counts = Array.from({ length: 15 }, (_, index) => index);
    const record = (index: number): Promise<void> =>
      store.record({ ...bond, user: `user${index % 3}` }, turn(`i${index}`, `Turn ${index}.`), [], 0);
    await Promise.all([
      ...counts.map(record),
      store.move({ owner: '' }, { owner: 'game' }),
      store.move({ owner: '', user: 'user1' }, { owner: '', user: 'user2' }),
    ]);
    const people = await store.people();
    expect(people.reduce((sum, { turns }) => sum + turns, 0)).toBe(counts.length);
  });

  it('lets one node at a time summarize the talk of a user', async () => {
    const url = await newDatabase();
    const [first, second] = await Promise.all([openPostgres(url), openPostgres(url)]);
    for (let item = 0; item < 30; item += 1)
      await first.record(bond, turn(`i${item}`, 'And so on, and on. '.repeat(40)), [], 0);
    const outgrown = await first.outgrown(bond);
    expect(await second.outgrown(bond)).toBeUndefined();
    if (outgrown === undefined) throw new Error('nothing to summarize');
    expect(await first.summarise(bond, { ...outgrown, text: 'On.', facts: [], atMs: 0 })).toBe(true);
    expect(await second.summary(bond)).toBe('On.');
  });

  it('creates its tables once if several nodes start at once, and refuses those of a newer version, but not what it can work with', async () => {
    const url = await newDatabase();
    await Promise.all([openPostgres(url), openPostgres(url), openPostgres(url)]);
    await query(url, 'UPDATE dramatis_schema SET version = 99, works_with = 1');
    expect((await openPostgres(url)).version).toBe(99);
    await query(url, 'UPDATE dramatis_schema SET works_with = 99');
    await expect(openPostgresStore({ url, onChange: () => undefined })).rejects.toThrow(
      'written by a newer Dramatis (version 99)',
    );
  });

  it('migrates step by step, and undoes all of a migration that fails', async () => {
    const url = await newDatabase();
    const store = await openPostgres(url);
    await store.record(bond, turn('i1', 'Hello.'), [], 0);
    const from = store.version;
    const old = Array.from({ length: from }, () => ({ sql: [], worksWith: 1 }));
    const next = { sql: ['ALTER TABLE turns ADD COLUMN mood TEXT'], worksWith: 1 };
    const wrong = {
      sql: ['ALTER TABLE turns DROP COLUMN mood', 'ALTER TABLE nowhere ADD COLUMN x TEXT'],
      worksWith: 3,
    };
    expect(await store.within((perform) => perform(migrate([...old, next])))).toEqual({ from, to: from + 1 });
    await expect(store.within((perform) => perform(migrate([...old, next, wrong])))).rejects.toThrow('nowhere');
    expect(await store.list(bob)).toMatchObject([{ asked: 'Hello.' }]);
  });

  it('copies a file to PostgreSQL and back by command, compares both, and copies nothing onto memories', async () => {
    const [here, there] = [dataFolder(), dataFolder()];
    const file = besides(newStore(memoryFile(here)));
    for (let index = 0; index < 300; index += 1)
      await file.record(
        bond,
        turn(`i${index}`, `Turn ${index}\0.`),
        index % 3 === 0 ? [{ text: `Fact ${index}.` }] : [],
        index,
      );
    await file.keepEmbedding('model', { id: 'f1', text: 'Fact 0.' }, Float32Array.of(1, 0.5));
    await file.remove(bob, 't300');
    const url = await newDatabase();
    const copy = (to: string, dataDir: string) =>
      dramatis('memory', 'copy', '--to', to, '--json', '--postgres-url', url, '--data-dir', dataDir);
    const over = await copy('postgres', here);
    expect(over.status).toBe(0);
    const copied = JSON.parse(over.stdout);
    expect(copied.copied).toMatchObject({ turns: 299, facts: 100, 'embeddings of facts': 1 });
    const back = await copy('file', there);
    expect(JSON.parse(back.stdout)).toEqual(copied);
    expect(await besides(newStore(memoryFile(there))).embeddings('model', ['f1'])).toEqual(
      new Map([['f1', Float32Array.of(1, 0.5)]]),
    );
    const again = await copy('postgres', here);
    expect([again.status, again.stderr]).toEqual([1, expect.stringContaining('already has memories')]);
    const listed = await dramatis('memory', 'list', '--json', '--postgres-url', url);
    expect(JSON.parse(listed.stdout)).toMatchObject([{ user: 'bob', turns: 299 }]);
    // New ids come after those that were copied.
    const store = await openPostgres(url);
    await store.record(bond, turn('new', 'New.'), [], 0);
    expect((await store.list(bob, { most: 1 })).at(-1)?.id).toBe('t300');
  });

  it('restores a backup of pg_dump, as in OPERATIONS.md, with every memory unchanged', async () => {
    const [url, restored] = [await newDatabase(), await newDatabase()];
    const store = await openPostgres(url);
    for (let index = 0; index < 20; index += 1)
      await store.record(bond, turn(`i${index}`, `I like tea ${index}.`), [{ text: `I like tea ${index}.` }], index);
    const file = path.join(dataFolder(), 'memories.dump');
    execFileSync(postgresProgram('pg_dump'), ['--format=custom', `--file=${file}`, url]);
    await store.erase(bob);
    execFileSync(postgresProgram('pg_restore'), ['--no-owner', '--exit-on-error', `--dbname=${restored}`, file]);
    const again = await openPostgres(restored);
    expect(await again.list(bob)).toHaveLength(40);
    await again.record(bond, turn('later', 'Later.'), [], 99);
    expect((await copyMemories(again, besides(newStore()))).counts).toMatchObject({ turns: 21, facts: 20 });
  });
});

describe.skipIf(!hasPostgres)('a server with memories in PostgreSQL', () => {
  it('shares them with another server, which recalls what users said to the first', async () => {
    const postgresUrl = await newDatabase();
    const engines = fakeEngines();
    const flags = { memory: true, postgresUrl };
    const [first, second] = [await serve({ flags }), await serve({ flags, engines })];
    await say(await begin(first), 'I live in Leeds.');
    await say(await begin(second), 'Where do I live?');
    expect(engines.agent.asked.at(-1)?.memories).toContain('They told you today: I live in Leeds.');
    expect((await first.ask('/healthz')).body.memory).toBe('on');
  });

  it('talks on while PostgreSQL hangs or is gone, says so once, and stores everything once when it is back', async () => {
    const postgresUrl = await newDatabase();
    const database = await postgres();
    const server = await serve({ flags: { memory: true, postgresUrl } });
    const call = await begin(server, '?model=alice&user=bob&x=notice');
    await say(call, 'Before.');
    database.signal('SIGSTOP');
    await say(call, 'While it hangs.');
    await say(call, 'While it still hangs.');
    database.signal('SIGCONT');
    await until(async () => (await server.ask('/healthz')).body.memory === 'on');
    await database.kill();
    await say(call, 'While it is gone.');
    const answer = await server.ask('/v1/memories?user=bob');
    expect([answer.status, answer.body.error.code]).toEqual([503, 'memory_unavailable']);
    // What was said by those who have left meanwhile is stored, too.
    call.socket.close();
    await call.closed;
    await database.start();
    const turns = async (): Promise<string[]> => {
      const { body } = await server.ask('/v1/memories?user=bob');
      return (body.data ?? []).flatMap(({ kind, asked }: Record<string, string>) => (kind === 'turn' ? [asked] : []));
    };
    const all = ['Before.', 'While it hangs.', 'While it is gone.', 'While it still hangs.'];
    await until(async () => (await turns()).length >= all.length);
    expect((await turns()).toSorted()).toEqual(all);
    expect(server.log.filter((line) => line.includes('PostgreSQL cannot be used')).length).toBeLessThanOrEqual(4);
  });

  it('starts while PostgreSQL is gone, and remembers once it is there', async () => {
    const postgresUrl = await newDatabase();
    const database = await postgres();
    await database.kill();
    const server = await serve({ flags: { memory: true, postgresUrl } });
    const call = await begin(server);
    await say(call, 'Hello.');
    expect((await server.ask('/healthz')).body.memory).toBe('unavailable');
    await database.start();
    await until(async () => (await server.ask('/v1/memories?user=bob')).body.data?.length === 1);
  });
});
