import { existsSync } from 'node:fs';
import { cp, mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { readConfig } from '../../../server/config/config.ts';
import { startServer } from '../../../server/app/serve.ts';
import { dramatis } from '../../rigs/command-rig.ts';
import { garden } from '../../rigs/scene-rig.ts';
import { testFolder } from '../../fakes/test-folder.ts';

const folder = testFolder();
const packs = path.join(folder, 'data', 'characters');
const shipped = path.resolve('characters');

vi.stubEnv('DRAMATIS_DATA_DIR', path.join(folder, 'data'));

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

describe('characters remove', () => {
  it('refuses to remove a character that a scene needs', async () => {
    const pack = await addAlice('twin');
    await addScene('home', 'twin');
    const refused = await dramatis('characters', 'remove', 'twin');
    expect(refused).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('appears in the scene "At home". Remove'),
    });
    expect(existsSync(pack)).toBe(true);
    await rm(path.join(packs, 'scenes', 'home.json'));
    expect(await dramatis('characters', 'remove', 'twin')).toMatchObject({ status: 0, stdout: 'Removed Alice.\n' });
    expect(existsSync(pack)).toBe(false);
  });
});

describe('broken packs and scenes', () => {
  beforeAll(async () => {
    await writeFile(path.join(await addAlice('torn'), 'card.json'), '{"id": "torn", "na\u001B[2Jme"');
    await writeFile(path.join(await addAlice('blank'), 'card.json'), '{}');
    await addScene('empty-chair', 'gone');
    await writeFile(path.join(packs, 'scenes', 'torn.json'), '{');
  });

  it('starts the server without broken packs and unplayable scenes', async () => {
    const flags = { port: '0', logLevel: 'error', dataDir: path.join(folder, 'data') };
    const server = await startServer(readConfig({ flags, environment: {} }));
    const ids = [...server.characters.keys()];
    await server.close();
    expect(ids).toContain('alice');
    expect(ids.filter((id) => /torn|blank|chair/.test(id))).toEqual([]);
  });

  it('reports each broken pack and scene in one line with file and reason', async () => {
    const { status, stderr: err } = await dramatis('characters');
    expect(status).toBe(0);
    const told = err.trim().split('\n').toSorted();
    expect(told).toEqual([
      expect.stringMatching(/^Skipped: .*blank.card\.json: .*name/),
      expect.stringMatching(/^Skipped: .*empty-chair\.json: there is no character "gone"$/),
      expect.stringMatching(/^Skipped: .*scenes.torn\.json: not valid JSON$/),
      expect.stringMatching(/^Skipped: .*torn.card\.json: not valid JSON$/),
    ]);
    expect(err).not.toMatch(/[^\P{Cc}\n]/u);
  });

  it('reports broken packs and scenes in the doctor', async () => {
    const { status, stdout } = await dramatis('doctor', '--port', '0');
    expect(status).toBe(1);
    expect(stdout.match(/^✗ characters +skipped: /gmu)).toHaveLength(4);
  });

  it('explains what is wrong with a broken pack when it is shown', async () => {
    const { status, stderr: err } = await dramatis('characters', 'show', 'torn');
    expect(status).toBe(1);
    expect(err).toMatch(/torn.card\.json: not valid JSON/);
  });

  it('removes a broken pack', async () => {
    expect(await dramatis('characters', 'remove', 'torn')).toMatchObject({ status: 0, stdout: 'Removed torn.\n' });
    expect(existsSync(path.join(packs, 'torn'))).toBe(false);
    expect((await dramatis('characters', 'remove', '../../characters')).stderr).toContain('There is no character');
  });
});
