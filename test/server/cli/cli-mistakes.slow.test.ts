import { once } from 'node:events';
import { readdir, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import path from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { memoryFile, MemoryStore } from '../../../server/memory/store/store.ts';
import { writeWav } from '../../../voices/dsp/wav.ts';
import { dramatis } from '../../rigs/command-rig.ts';
import { evaluate } from '../../rigs/eval-rig.ts';
import { testFolder } from '../../fakes/test-folder.ts';

type Command = Parameters<typeof dramatis>[0];

const folder = testFolder();
vi.stubEnv('DRAMATIS_DATA_DIR', path.join(folder, 'data'));

describe('names of object properties', () => {
  it.each([
    ['characters', ['constructor']],
    ['characters', ['import', '--from', 'constructor', 'x']],
    ['voices', ['constructor']],
    ['eval', ['constructor']],
  ] as const)(
    'rejects a subcommand named like an object property without a stack trace: %s %j',
    async (command, args) => {
      const ran = await dramatis(command, ...args);
      expect(ran.status).toBe(2);
      expect(ran.stdout + ran.stderr).not.toMatch(/TypeError|\n {4}at /);
    },
  );

  it('rejects an engine kind or name that is named like an object property', async () => {
    const engines = path.join(folder, 'engines.json');
    const chat = { kind: '__proto__', baseUrl: 'http://127.0.0.1:9/v1', model: 'x' };
    await writeFile(engines, JSON.stringify({ engines: { chat }, llm: 'chat' }));
    expect((await dramatis('serve', '--engines', engines, '--port', '0')).stderr).toMatch(
      /The engine "chat" has the unknown kind "__proto__"\. The kinds of LLM engines are: /,
    );
    expect((await dramatis('serve', '--llm', 'toString', '--port', '0')).stderr).toMatch(
      /There is no LLM engine "toString"/,
    );
  });
});

describe('options', () => {
  it.each<[Command, string[]]>([
    ['say', ['Hello.', '--character', 'alice']],
    ['replay', ['talk.wav', '--character', 'alice']],
    ['characters', ['export', 'alice']],
  ])('rejects an --out in a missing folder before any work is done: %s', async (command, args) => {
    const out = path.join(folder, 'nowhere', 'out.wav');
    expect(await dramatis(command, ...args, '--out', out)).toMatchObject({
      status: 2,
      stderr: expect.stringContaining(`--out: there is no folder ${path.dirname(out)}.`),
    });
  });

  it.each([
    ['a missing folder', 'nowhere/out.json', /--out: there is no folder .*nowhere\. Create it, or choose another\.\n$/],
    ['a file as folder', 'file/out.json', /--out: there is no folder .*file\. Create it, or choose another\.\n$/],
    ['a folder', '.', /--out: .* is a folder\. Name a file\.\n$/],
    ['a folder to be', 'nowhere/', /--out: .*nowhere is a folder\. Name a file\.\n$/],
    // Not even root can write there.
    ['an unwritable folder', '/proc/out.json', /--out: the folder \/proc cannot be written \(\w+\)\. Change its permi/],
  ])('memory export says what is wrong with %s as its --out, and writes nothing', async (_name, out, says) => {
    const place = path.join(folder, 'memories');
    const store = new MemoryStore(memoryFile(place));
    const turn = { session: 's', item: 'i', asked: 'I live in Leeds.', answered: '' };
    store.record({ owner: '', user: 'bob', character: 'alice' }, turn, [], 0);
    store.close();
    await writeFile(path.join(place, 'file'), '');
    const target = path.isAbsolute(out) ? out : `${place}${path.sep}${out}`;
    const given = ['export', '--user', 'bob', '--data-dir', place, '--out', target];
    expect(await dramatis('memory', ...given)).toEqual({ status: 2, stdout: '', stderr: expect.stringMatching(says) });
    expect((await readdir(place)).toSorted()).toEqual(['file', 'memory']);
  });

  it('a full disk is an error of memory export, too', async () => {
    const given = ['export', '--user', 'bob', '--data-dir', path.join(folder, 'memories'), '--out', '/dev/full'];
    expect(await dramatis('memory', ...given)).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/^dramatis memory: The disk is full/),
    });
  });

  it.each<[Command, string[], string]>([
    ['replay', ['x.wav', '--charakter', 'alice'], 'There is no option --charakter.\nUsage: dramatis replay '],
    ['serve', ['--port'], '--port needs a value.\n'],
    ['serve', ['--port', '--auto'], '--port needs a value; write one that begins with a dash as --port=-…'],
    ['replay', ['x.wav', '--json=yes'], '--json takes no value.\n'],
    ['serve', ['extra'], 'Unexpected argument "extra"'],
    [
      'voices',
      ['add', 'x.wav', '--id', 'x', '--consent', 'x', '--language', 'Klingon!'],
      '--language must be a tag such as',
    ],
  ])('explains a wrong option in one sentence: %s %j', async (command, args, said) => {
    expect(await dramatis(command, ...args)).toMatchObject({ status: 2, stderr: expect.stringContaining(said) });
  });

  it('explains a wrong option of eval in one sentence', async () => {
    const { status, printed } = await evaluate(['run', '--date', 'x']);
    expect(printed).toContain('dramatis eval run: There is no option --date.\nUsage: ');
    expect(status).toBe(2);
  });
});

describe('data folder', () => {
  const writer = ['--llm-base-url', 'http://127.0.0.1:9/v1', '--llm-model', 'x'];
  // Node's own recursive mkdir never returns there.
  it.each<[Command, string[]]>([
    ['serve', ['--port', '0', '--memory']],
    ['models', ['pull', 'dnsmos']],
    ['voices', ['add', 'talk.wav', '--consent', 'x']],
    ['characters', ['import', 'card.json']],
    ['characters', ['new', '--text', 'package.json', '--name', 'x', ...writer]],
  ])('explains at once how to choose another data folder if it cannot be created: %s %j', async (command, args) => {
    const said = /\/proc(\/\w+)*: the folder cannot be created \(\w+\)\. Choose another with --data-dir/;
    expect(await dramatis(command, ...args, '--data-dir', '/proc/nowhere')).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(said),
    });
  });

  it('explains at once if the folder for a drafted character cannot be created', async () => {
    const args = ['new', '--text', 'package.json', '--name', 'x', ...writer, '--out', '/proc/nowhere'];
    expect((await dramatis('characters', ...args)).stderr).toMatch(/the folder cannot be created .* with --out\.\n$/);
  });
});

describe('commands that cannot do their work', () => {
  it('lists the characters if the default character is unknown', async () => {
    const { stderr } = await dramatis('serve', '--port', '0', '--default-character', 'nobody');
    expect(stderr).toMatch(
      /DRAMATIS_DEFAULT_CHARACTER is "nobody", which does not exist\. The characters are: abraham-lincoln, /,
    );
  });

  it('explains without a stack trace that the server of --url is unreachable or not an address', async () => {
    const recording = path.join(folder, 'talk.wav');
    await writeWav(recording, new Float32Array(24_000), 24_000);
    const ask = (url: string) => dramatis('replay', recording, '--character', 'alice', '--url', url);
    const gone = await ask('http://127.0.0.1:9');
    expect(gone.stderr).toMatch(/^dramatis replay: ws:\/\/127\.0\.0\.1:9 cannot be reached: .*\n$/);
    expect(await ask('nonsense')).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('"nonsense" is not a URL'),
    });
  });

  it('explains what to do if the port is taken or the characters folder is missing', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as AddressInfo;
    const flags = ['--port', String(port), '--workers', '1'];
    expect((await dramatis('serve', ...flags)).stderr).toContain(`Port ${port} is in use. Choose another`);
    taken.close();
    const nowhere = path.join(folder, 'nowhere');
    expect((await dramatis('characters', '--characters-dir', nowhere)).stderr).toMatch(
      /nowhere: the folder does not exist; check the path/,
    );
  });

  it('reports why turns were not answered, such as an unknown character', async () => {
    const recording = path.join(folder, 'talk.wav');
    const { stdout, stderr } = await dramatis('latency', recording, '--character', 'nobody', '--turns', '1');
    expect(stdout + stderr).toContain('error unknown_character: There is no character "nobody"');
  });
});

describe('help', () => {
  it.each<[Command, ...string[]]>([['serve'], ['characters'], ['voices'], ['replay'], ['eval', 'run']])(
    'prints the help of %s within 80 columns',
    async (...command) => {
      const { stdout } = await dramatis(...command, '--help');
      expect(stdout).toContain('dramatis ');
      expect(stdout.split('\n').filter((line) => line.length > 80)).toEqual([]);
    },
  );

  it('lists the server’s settings only in the help of serve', async () => {
    expect((await dramatis('serve', '--help')).stdout).toContain('--max-sessions-per-key');
    const { stdout } = await dramatis('voices', '--help');
    expect(stdout).not.toContain('--max-sessions-per-key');
    expect(stdout).toMatch(/`dramatis serve\s+--help` lists them\./);
  });

  it('lists the subcommands in the help of characters', async () => {
    expect((await dramatis('characters', '--help')).stdout).toMatch(/list.*show ID.*import.*export ID.*remove ID/s);
  });
});
