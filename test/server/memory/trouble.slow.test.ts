import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, describe, expect, it } from 'vitest';
import { openRecall } from '../../../server/memory/recall.ts';
import { memoryFile, MemoryStore } from '../../../server/memory/store/store.ts';
import { fakeEngines } from '../../fakes/engines.ts';
import { begin, besides, bond, dataFolder, newStore, say, type Call } from '../../rigs/memory-rig.ts';
import { serve } from '../../rigs/serve-rig.ts';

const mounts: string[] = [];
afterEach(() => {
  for (const folder of mounts.splice(0)) execFileSync('/usr/bin/umount', ['--lazy', folder]);
});

function mount(folder: string, options: string): void {
  execFileSync('/usr/bin/mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', folder], { stdio: 'ignore' });
  mounts.push(folder);
}

/** Mounting a disk needs a privilege that is rarely granted. */
function canMount(): boolean {
  try {
    mount(dataFolder(), 'size=64k');
    return true;
  } catch {
    console.warn('skipped: full and read-only disks, since nothing can be mounted here');
    return false;
  }
}

type Server = Awaited<ReturnType<typeof serve>>;

const listed = async (server: Server) => (await server.ask('/v1/memories?user=bob')).body;
const askedIn = async (server: Server): Promise<string[]> =>
  (await listed(server)).data.flatMap(({ kind, asked }: Record<string, string>) => (kind === 'turn' ? [asked] : []));

describe('concurrent memory', () => {
  it('stores and recalls the memories of one user from two sessions at once', async () => {
    const engines = fakeEngines();
    const server = await serve({ flags: { memory: true, dataDir: dataFolder() }, engines });
    const [first, second] = [await begin(server), await begin(server)];
    await Promise.all([say(first, 'I live in Leeds.'), say(second, 'I have a dog.')]);
    await say(second, 'Where do I live?');
    expect(engines.agent.asked.at(-1)?.memories).toContain('They told you today: I live in Leeds.');
    expect((await askedIn(server)).toSorted()).toEqual(['I have a dog.', 'I live in Leeds.', 'Where do I live?']);
  });

  it('stores and recalls the memories of one user from two servers over one folder', async () => {
    const dataDir = dataFolder();
    const engines = fakeEngines();
    const servers = [
      await serve({ flags: { memory: true, dataDir } }),
      await serve({ flags: { memory: true, dataDir }, engines }),
    ] as const;
    const [first, second] = [await begin(servers[0]), await begin(servers[1])];
    const counts = Array.from({ length: 20 }, (_, index) => index);
    const talk = async (call: Call, name: string): Promise<void> => {
      for (const index of counts) await say(call, `Turn ${index} with the ${name} server.`);
    };
    await Promise.all([talk(first, 'first'), talk(second, 'second')]);
    await say(first, 'I live in Leeds.');
    await say(second, 'Where do I live?');
    expect(engines.agent.asked.at(-1)?.memories).toContain('They told you today: I live in Leeds.');
    expect(await askedIn(servers[0])).toHaveLength(42);
    // A memory deleted by one is not recalled by the other.
    const leeds = (await listed(servers[0])).data.find(({ kind }: { kind: string }) => kind === 'fact');
    await fetch(`${servers[0].url}/v1/memories/${leeds.id}?user=bob`, { method: 'DELETE' });
    await say(second, 'Do I live in Leeds?');
    expect(engines.agent.asked.at(-1)?.memories ?? []).not.toContain('They told you today: I live in Leeds.');
  });
});

describe('clock', () => {
  it('keeps the order of memories and their recall when the clock is set back', async () => {
    const store = newStore();
    const dayMs = 86_400_000;
    for (const [index, asked] of ['The roses bloom.', 'The roses wilt.'].entries())
      store.record(bond, { session: 's', item: `i${index}`, asked, answered: '' }, [], (9 - index) * dayMs);
    expect(store.list(bond)).toMatchObject([{ asked: 'The roses wilt.' }, { asked: 'The roses bloom.' }]);
    expect(
      (await openRecall(besides(store), bond, () => 0)([{ role: 'user', text: 'How are the roses?' }])).toSorted(),
    ).toEqual(['They said today: The roses bloom.', 'They said today: The roses wilt.']);
  });
});

describe('unreadable memory file', () => {
  const newer = (file: string): void => {
    new MemoryStore(file).close();
    const database = new DatabaseSync(file);
    database.exec('PRAGMA user_version = 99');
    database.close();
  };
  const broken = (file: string): void => {
    new MemoryStore(file).close();
    writeFileSync(file, 'broken'.repeat(3_000));
  };
  const damaged = (file: string): void => {
    const store = new MemoryStore(file);
    for (let item = 0; item < 200; item += 1)
      store.record(bond, { session: 's', item: `i${item}`, asked: 'word '.repeat(100), answered: '' }, [], 0);
    store.close();
    const bytes = readFileSync(file);
    bytes.fill(0x55, 8_192, bytes.length - 4_096);
    writeFileSync(file, bytes);
  };

  it.each([
    ['of a newer Dramatis', newer, /written by a newer Dramatis \(version 99\)/],
    ['that is not a database', broken, /cannot be read .*Restore the file from a backup, or move it away/],
    ['with damaged pages', damaged, /cannot be read/],
  ])('keeps a memory file %s untouched, reports it and serves without memory', async (_name, make, reason) => {
    const dataDir = dataFolder();
    const file = memoryFile(dataDir);
    make(file);
    const before = readFileSync(file);
    const server = await serve({ flags: { memory: true, dataDir } });
    await say(await begin(server), 'I live in Leeds.');
    expect(server.log.join('')).toMatch(reason);
    expect((await server.ask('/healthz')).body.memory).toBe('unavailable');
    const answer = await server.ask('/v1/memories?user=bob');
    expect([answer.status, answer.body.error.code]).toEqual([503, 'memory_unavailable']);
    expect(readFileSync(file).equals(before)).toBe(true);
  });

  it('serves on without memory if the memory file breaks while the server runs', async () => {
    const dataDir = dataFolder();
    const server = await serve({ flags: { memory: true, dataDir } });
    const call = await begin(server);
    await say(call, 'I live in Leeds.');
    const database = new DatabaseSync(memoryFile(dataDir));
    database.exec('DROP TABLE points; DROP TABLE facts; DROP TABLE turns');
    database.close();
    for (const text of ['One.', 'Two.', 'Three.']) await say(call, text);
    const answer = await server.ask('/v1/memories?user=bob');
    expect([answer.status, answer.body.error.code]).toEqual([503, 'memory_unavailable']);
    expect(server.log.filter((line) => line.includes('no such table'))).toHaveLength(1);
  });
});

describe.skipIf(!canMount())('disk', () => {
  it('stores everything said while the disk was full when there is space again, and reports the loss until then', async () => {
    const dataDir = dataFolder();
    mount(dataDir, 'size=2m');
    const server = await serve({ flags: { memory: true, dataDir } });
    const call = await begin(server, '?model=alice&user=bob&x=notice');
    const warnings: string[] = [];
    call.socket.on('message', (data: Buffer) => {
      const { type, code } = JSON.parse(data.toString()) as Record<string, string>;
      if (type === 'x_dramatis.warning') warnings.push(String(code));
    });
    await say(call, 'I live in Leeds.');
    const ballast = path.join(dataDir, 'ballast');
    let size = 2_048;
    for (; size > 0; size -= 16)
      try {
        writeFileSync(ballast, Buffer.alloc(size * 1_024));
        break;
      } catch {
        rmSync(ballast, { force: true });
      }
    const long = (index: number): string => `${index}: ${'a tale of many words '.repeat(500)}`;
    for (let index = 0; index < 12; index += 1) await say(call, long(index));
    expect((await askedIn(server)).length).toBeLessThan(12);
    expect(server.log.filter((line) => line.includes('full'))).toHaveLength(1);
    expect(warnings).toEqual(['memory_not_stored']);
    rmSync(ballast);
    await say(call, 'Is there room again?');
    expect(await askedIn(server)).toHaveLength(14);
  });

  it('serves without memory on a read-only disk and reports it', async () => {
    const dataDir = dataFolder();
    mount(dataDir, 'size=400k');
    new MemoryStore(memoryFile(dataDir)).close();
    execFileSync('/usr/bin/mount', ['-o', 'remount,ro', dataDir]);
    const server = await serve({ flags: { memory: true, dataDir } });
    await say(await begin(server), 'I live in Leeds.');
    expect((await server.ask('/healthz')).body.memory).toBe('unavailable');
    expect(server.log.join('')).toMatch(/cannot be read .*(read-?only|EROFS)/i);
  });
});
