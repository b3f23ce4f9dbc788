import { execFile } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { once } from 'node:events';
import { rm, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { faultText } from '../../../server/terminal/fault-text.ts';
import { writeWav } from '../../../voices/dsp/wav.ts';
import { evaluate } from '../../rigs/eval-rig.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'dramatis-cli-mistakes-'));
afterAll(() => rm(folder, { recursive: true, force: true }));

const main = path.resolve(import.meta.dirname, '../../../server/main.ts');

interface Ran {
  readonly status: number;
  readonly said: string;
}

function dramatis(...args: string[]): Promise<Ran> {
  const env = { ...process.env, DRAMATIS_DATA_DIR: path.join(folder, 'data') };
  return new Promise((resolve) => {
    execFile(process.execPath, [main, ...args], { env, cwd: folder }, (fault, out, err) => {
      resolve({ status: typeof fault?.code === 'number' ? fault.code : 0, said: out + err });
    });
  });
}

const commandFiles: Readonly<Record<string, string>> = {
  serve: 'cli/serve.ts',
  replay: 'cli/replay.ts',
  models: 'cli/models/models.ts',
  voices: 'cli/voices/voices.ts',
  characters: 'cli/characters/characters.ts',
};

/** What a command throws, in this process. */
async function faultOf(command: string, args: string[]): Promise<unknown> {
  const module = (await import(path.join(path.dirname(main), commandFiles[command] ?? ''))) as {
    run(args: string[]): Promise<number>;
  };
  return module.run(args).then(
    () => undefined,
    (fault: unknown) => fault,
  );
}

describe('a mistake in a command line', () => {
  it.each([
    [['constructor'], 2],
    [['__proto__'], 2],
    [['characters', 'constructor'], 2],
    [['characters', 'import', '--from', 'constructor', 'x'], 2],
    [['voices', 'constructor'], 2],
    [['eval', 'constructor'], 2],
  ] as const)('is told without a stack trace where the name is one that every object has: %j', async (args, status) => {
    const ran = await dramatis(...args);
    expect(ran.said).not.toMatch(/TypeError|\n {4}at /);
    expect(ran.status).toBe(status);
  });

  it('is told where an engine’s kind or name is one that every object has', async () => {
    const engines = path.join(folder, 'engines.json');
    const chat = { kind: '__proto__', baseUrl: 'http://127.0.0.1:9/v1', model: 'x' };
    await writeFile(engines, JSON.stringify({ engines: { chat }, llm: 'chat' }));
    expect((await dramatis('serve', '--engines', engines, '--port', '0')).said).toMatch(
      /The engine "chat" has the unknown kind "__proto__"\. The kinds of LLM engines are: /,
    );
    expect((await dramatis('serve', '--llm', 'toString', '--port', '0')).said).toMatch(
      /There is no LLM engine "toString"/,
    );
  });

  it.each([
    ['say', 'Hello.', '--character', 'alice'],
    ['replay', 'talk.wav', '--character', 'alice'],
    ['characters', 'export', 'alice'],
  ])('is told before any work where --out names a folder that is not there: %s', async (...args) => {
    const out = path.join(folder, 'nowhere', 'out.wav');
    const ran = await dramatis(...args, '--out', out);
    expect(ran.said).toContain(`--out: there is no folder ${path.dirname(out)}.`);
    expect(ran.status).toBe(2);
  });
});

describe('an option that is none, or is used as it cannot be', () => {
  it.each([
    ['replay', ['x.wav', '--charakter', 'alice'], 'There is no option --charakter.\nUsage: dramatis replay '],
    ['serve', ['--port'], '--port needs a value.\n'],
    ['serve', ['--port', '--auto'], '--port needs a value; write one that begins with a dash as --port=-…'],
    ['replay', ['x.wav', '--json=yes'], '--json takes no value.\n'],
    ['serve', ['extra'], 'Unexpected argument "extra"'],
  ])('is told in a sentence: %s %j', async (command, args, said) => {
    expect(faultText(await faultOf(command, args))).toEqual({ text: expect.stringContaining(said), status: 2 });
  });

  it('is told likewise by eval', async () => {
    const { status, printed } = await evaluate(['run', '--date', 'x']);
    expect(printed).toContain('dramatis eval run: There is no option --date.\nUsage: ');
    expect(status).toBe(2);
  });
});

describe('a data folder that cannot be made', () => {
  const writer = ['--llm-base-url', 'http://127.0.0.1:9/v1', '--llm-model', 'x'];
  // Node's own recursive mkdir never comes back there.
  it.each([
    ['serve', ['--port', '0', '--memory']],
    ['models', ['pull', 'dnsmos']],
    ['voices', ['add', 'talk.wav', '--consent', 'x']],
    ['characters', ['import', 'card.json']],
    ['characters', ['new', '--text', 'package.json', '--name', 'x', ...writer]],
  ])('is told at once, with what to do: %s %j', async (command, args) => {
    const fault = await faultOf(command, [...args, '--data-dir', '/proc/nowhere']);
    const said = /\/proc(\/\w+)*: the folder cannot be created \(\w+\)\. Choose another with --data-dir/;
    expect(faultText(fault)).toEqual({ text: expect.stringMatching(said), status: 1 });
  });

  it('nor a folder for a draft', async () => {
    const args = ['new', '--text', 'package.json', '--name', 'x', ...writer, '--out', '/proc/nowhere'];
    expect(faultText(await faultOf('characters', args)).text).toMatch(/the folder cannot be created .* with --out\.$/);
  });
});

describe('a server that cannot start', () => {
  it('says that nobody is called as its default character', async () => {
    const fault = await faultOf('serve', ['--port', '0', '--default-character', 'nobody']);
    expect(faultText(fault).text).toMatch(
      /DRAMATIS_DEFAULT_CHARACTER is "nobody", which does not exist\. The characters are: abraham-lincoln, /,
    );
  });

  it.each([
    // What it had opened by then kept it alive for ever.
    [['--smart-turn', 'nope.onnx'], /smart-turn: its weights are not at nope\.onnx/],
    [['--host', 'nowhere.invalid', '--api-keys', 'k'], /nowhere\.invalid is not an address of this machine/],
  ])('says why, and ends: %j', async (args, said) => {
    const ran = await dramatis('serve', '--port', '0', ...args);
    expect(ran.said).toMatch(said);
    expect(ran.status).toBe(1);
  });
});

describe('the language of a voice', () => {
  it('is a tag, not any word', async () => {
    const ran = await dramatis('voices', 'add', 'talk.wav', '--id', 'x', '--consent', 'x', '--language', 'Klingon!');
    expect(ran).toMatchObject({
      status: 2,
      said: expect.stringContaining('--language must be a tag such as en or zh'),
    });
  });
});

describe('a command that cannot do its work', () => {
  it('says without a stack trace that the server of --url cannot be reached, or is no address', async () => {
    const recording = path.join(folder, 'talk.wav');
    await writeWav(recording, new Float32Array(24_000), 24_000);
    const ask = (url: string): Promise<Ran> => dramatis('replay', recording, '--character', 'alice', '--url', url);
    const gone = await ask('http://127.0.0.1:9');
    expect(gone.said).toMatch(/^dramatis replay: ws:\/\/127\.0\.0\.1:9 cannot be reached: .*\n$/);
    const nonsense = await ask('nonsense');
    expect(nonsense).toMatchObject({ status: 2, said: expect.stringContaining('"nonsense" is not a URL') });
  });

  it('says what to do where the port is taken, or the folder of characters is not there', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as AddressInfo;
    expect((await dramatis('serve', '--port', String(port))).said).toContain(`Port ${port} is in use. Choose another`);
    taken.close();
    expect((await dramatis('characters', '--characters-dir', path.join(folder, 'nowhere'))).said).toMatch(
      /nowhere: there is no such folder; check the path/,
    );
  });

  it('tells why turns were not answered, also where the character is unknown from the first on', async () => {
    const ran = await dramatis('latency', path.join(folder, 'talk.wav'), '--character', 'nobody', '--turns', '1');
    expect(ran.said).toContain('error unknown_character: There is no character "nobody"');
  });
});

describe('the help', () => {
  it.each(['serve', 'characters', 'voices', 'replay', 'eval run'])('of %s fits 80 columns', async (command) => {
    const { said } = await dramatis(...command.split(' '), '--help');
    expect(said.split('\n').filter((line) => line.length > 80)).toEqual([]);
  });

  it('lists the settings of the server once, under serve', async () => {
    expect((await dramatis('serve', '--help')).said).toContain('--max-sessions-per-key');
    const { said } = await dramatis('voices', '--help');
    expect(said).not.toContain('--max-sessions-per-key');
    expect(said).toContain('`dramatis serve --help` lists them.');
  });

  it('of characters names its verbs', async () => {
    expect((await dramatis('characters', '--help')).said).toMatch(/list.*show ID.*import.*export ID.*remove ID/s);
  });
});
