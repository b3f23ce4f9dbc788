import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { WebSocket } from 'ws';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { hasPostgres, hasRedis, startPostgres, until } from '../../rigs/cluster-rig.ts';
import { recordTalk } from '../../rigs/talk-rig.ts';

if (!hasRedis) console.warn('skipped: the tests of --nodes need redis-server (Debian package redis-server)');

const folder = await mkdtemp(path.join(tmpdir(), 'dramatis-nodes-'));
afterAll(() => rm(folder, { recursive: true, force: true }));
const main = path.resolve('server/main.ts');

/** Runs `dramatis serve --nodes 2` until it is ready. */
async function startNodes(...more: readonly string[]) {
  const flags = ['--nodes', '2', '--port', '0', '--data-dir', folder, '--workers', '1', '--log-level', 'error'];
  // Replies are sent as fast as they are made.
  flags.push('--playout-ahead-ms', '5000', ...more);
  const child = spawn(process.execPath, [main, 'serve', ...flags], { stdio: ['ignore', 'pipe', 'inherit'] });
  let printed = '';
  child.stdout.on('data', (piece: Buffer) => (printed += piece.toString()));
  await until(() => /process \d+\)\s+\S+ \(process \d+\)/u.test(printed));
  const nodes = [...printed.matchAll(/(?<url>http:\S+) \(process (?<pid>\d+)\)/gu)].map(({ groups }) => ({
    url: groups?.['url'] ?? '',
    pid: Number(groups?.['pid']),
  }));
  return {
    child,
    nodes,
    url: /ready: (?<url>\S+)/u.exec(printed)?.groups?.['url'] ?? '',
    printed: () => printed,
    async [Symbol.asyncDispose]() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}

function lives(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

describe.skipIf(!hasRedis)('dramatis serve --nodes', () => {
  it('a conversation continues at another node when its own is killed, the node is replaced, and SIGTERM ends all', async () => {
    await using server = await startNodes();
    const { talk, of, until: untilEvent } = recordTalk({ url: server.url });
    await talk.opened;
    talk.say('Hello');
    await untilEvent('response.done', 1);
    const counts = await Promise.all(
      server.nodes.map(async ({ url }) =>
        /^dramatis_sessions (?<count>\d+)$/mu.exec(await (await fetch(`${url}/metrics`)).text()),
      ),
    );
    const owner = server.nodes[counts.findIndex((count) => count?.groups?.['count'] === '1')];
    const opened = of('connection.open').length;
    process.kill(owner?.pid ?? expect.fail('no node has the session'), 'SIGKILL');
    expect(await untilEvent('connection.open', opened + 1)).toMatchObject({ isNew: false });
    talk.say('What is your name?');
    await untilEvent('response.done', 2);
    expect(server.printed()).toContain('A node has ended');
    talk.close();
    const exit = once(server.child, 'exit');
    server.child.kill('SIGTERM');
    expect(await exit).toEqual([0, null]);
    expect(server.nodes.filter(({ pid }) => lives(pid))).toEqual([]);
  }, 120_000);

  it.skipIf(!hasPostgres)(
    'all nodes remember what a user said to one of them',
    async () => {
      const postgres = await startPostgres();
      onTestFinished(() => postgres.stop());
      const url = await postgres.createDatabase('nodes');
      {
        await using server = await startNodes('--memory', '--postgres-url', url);
        for (const node of server.nodes) {
          const socket = new WebSocket(`${node.url.replace('http', 'ws')}/v1/realtime?model=alice&user=bob`);
          const content = [{ type: 'input_text', text: 'I live in Leeds.' }];
          const item = { type: 'message', role: 'user', content };
          const done = new Promise<void>((resolve) => {
            socket.on('message', (data: Buffer) => void (data.includes('"response.done"') && resolve()));
          });
          await once(socket, 'open');
          socket.send(JSON.stringify({ type: 'conversation.item.create', item }));
          socket.send(JSON.stringify({ type: 'response.create', response: { output_modalities: ['text'] } }));
          await done;
          socket.close();
        }
        const kindsAt = async (node: { readonly url: string }): Promise<string[]> => {
          const { data = [] } = (await (await fetch(`${node.url}/v1/memories?user=bob`)).json()) as {
            data?: { kind: string }[];
          };
          return data.map(({ kind }) => kind);
        };
        // A database that is slow for a second gets the turn later.
        for (const node of server.nodes) await until(async () => (await kindsAt(node)).length >= 3);
        expect(await Promise.all(server.nodes.map(kindsAt))).toEqual(server.nodes.map(() => ['fact', 'turn', 'turn']));
      }
    },
    120_000,
  );

  it('nodes and Redis end with the process that started them', async () => {
    await using server = await startNodes();
    server.child.kill('SIGKILL');
    await until(() => server.nodes.every(({ pid }) => !lives(pid)));
    expect(server.printed()).toContain('2 nodes');
  }, 120_000);
});
