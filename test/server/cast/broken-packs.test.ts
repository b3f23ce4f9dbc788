import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readConfig } from '../../../server/config/config.ts';
import { startServer } from '../../../server/app/serve.ts';
import { garden } from '../../rigs/scene-rig.ts';

const folder = await mkdtemp(path.join(tmpdir(), 'dramatis-broken-packs-'));
const packs = path.join(folder, 'data', 'characters');
const shipped = path.resolve('characters');
afterAll(() => rm(folder, { recursive: true }));

interface Ran {
  readonly status: number;
  readonly out: string;
  readonly err: string;
}

function dramatis(...args: string[]): Promise<Ran> {
  const env = { ...process.env, DRAMATIS_DATA_DIR: path.join(folder, 'data') };
  return new Promise((resolve) => {
    execFile(process.execPath, [path.resolve('server/main.ts'), ...args], { env }, (fault, out, err) => {
      resolve({ status: typeof fault?.code === 'number' ? fault.code : 0, out, err });
    });
  });
}

async function addScene(id: string, player: string): Promise<void> {
  const motivation = 'To be there.';
  const characters = [player, 'alice'].map((each) => ({ id: each, motivation }));
  await mkdir(path.join(packs, 'scenes'), { recursive: true });
  await writeFile(
    path.join(packs, 'scenes', `${id}.json`),
    JSON.stringify({ ...garden.scene, title: `At ${id}`, characters, script: [] }),
  );
}

/** A pack of the shipped Alice under another name. */
async function addAlice(id: string): Promise<string> {
  const pack = path.join(packs, id);
  await cp(path.join(shipped, 'alice'), pack, { recursive: true });
  const { default: card } = (await import(path.join(pack, 'card.json'), { with: { type: 'json' } })) as {
    default: object;
  };
  await writeFile(path.join(pack, 'card.json'), JSON.stringify({ ...card, id }));
  return pack;
}

describe('a character that a scene needs', () => {
  it('is not removed on the command line either', async () => {
    const pack = await addAlice('twin');
    await addScene('home', 'twin');
    const refused = await dramatis('characters', 'remove', 'twin');
    expect(refused).toMatchObject({ status: 1, err: expect.stringContaining('plays in the scene "At home". Remove') });
    expect(existsSync(pack)).toBe(true);
    await rm(path.join(packs, 'scenes', 'home.json'));
    expect(await dramatis('characters', 'remove', 'twin')).toMatchObject({ status: 0, out: 'Removed Alice.\n' });
    expect(existsSync(pack)).toBe(false);
  });
});

describe('a broken pack, and scenes that cannot be played', () => {
  beforeAll(async () => {
    await writeFile(path.join(await addAlice('torn'), 'card.json'), '{"id": "torn", "na\u001B[2Jme"');
    await writeFile(path.join(await addAlice('blank'), 'card.json'), '{}');
    await addScene('empty-chair', 'gone');
    await writeFile(path.join(packs, 'scenes', 'torn.json'), '{');
  });

  it('do not keep the server from starting', async () => {
    const flags = { port: '0', logLevel: 'error', dataDir: path.join(folder, 'data') };
    const server = await startServer(readConfig({ flags, environment: {} }));
    const ids = [...server.characters.keys()];
    await server.close();
    expect(ids).toContain('alice');
    expect(ids.filter((id) => /torn|blank|chair/.test(id))).toEqual([]);
  });

  it('are told in one line each, with file and fault', async () => {
    const { status, err } = await dramatis('characters');
    expect(status).toBe(0);
    const told = err.trim().split('\n').toSorted();
    expect(told).toEqual([
      expect.stringMatching(/^Left out: .*blank.card\.json: .*name/),
      expect.stringMatching(/^Left out: .*empty-chair\.json: there is no character "gone"$/),
      expect.stringMatching(/^Left out: .*scenes.torn\.json: not valid JSON$/),
      expect.stringMatching(/^Left out: .*torn.card\.json: not valid JSON$/),
    ]);
    expect(err).not.toMatch(/[^\P{Cc}\n]/u);
  });

  it('are told by the doctor', async () => {
    const { status, out } = await dramatis('doctor', '--port', '0');
    expect(status).toBe(1);
    expect(out.match(/^✗ characters +skipped: /gmu)).toHaveLength(4);
  });

  it('say what is wrong where one of them is asked for', async () => {
    const { status, err } = await dramatis('characters', 'show', 'torn');
    expect(status).toBe(1);
    expect(err).toMatch(/torn.card\.json: not valid JSON/);
  });

  it('can be removed', async () => {
    expect(await dramatis('characters', 'remove', 'torn')).toMatchObject({ status: 0, out: 'Removed torn.\n' });
    expect(existsSync(path.join(packs, 'torn'))).toBe(false);
    expect((await dramatis('characters', 'remove', '../../characters')).err).toContain('There is no character');
  });
});
