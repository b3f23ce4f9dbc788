import { execFile, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import OpenAI from 'openai';
import { OpenAIRealtimeWS } from 'openai/realtime/ws';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { WebSocket } from 'ws';
import { dialoguePairSchema } from '../characters/card.ts';
import { openTalk } from '../server/client/open-talk.js';
import { readEnginesFile } from '../server/engines/engines-file.ts';
import { errorTable } from '../server/session/contract/errors.ts';
import { serve } from './rigs/serve-rig.ts';

const root = path.resolve(import.meta.dirname, '..');
const read = (file: string): string => readFileSync(path.join(root, file), 'utf8');

const pages = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter(
  (file) => file.endsWith('.md') && !file.includes('node_modules'),
);

/** The fenced blocks of a language, each with its page. */
function blocksOf(language: string): [page: string, text: string][] {
  return pages.flatMap((page) =>
    [...read(page).matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\``, 'gms'))].map((match): [string, string] => [
      page,
      match[1] ?? '',
    ]),
  );
}

/** The command lines of all `sh` blocks and code spans, without comments and variables. */
const commandLines = [
  ...blocksOf('sh').flatMap(([page, text]) =>
    text
      .replaceAll(/\\\n\s*/g, '')
      .split('\n')
      .map((line) => [page, line]),
  ),
  ...pages.flatMap((page) =>
    [...read(page).matchAll(/`((?:npm|npx|dramatis) [^`\n]+)`/g)].map((match) => [page, match[1]]),
  ),
]
  .map(([page = '', line = '']) => ({
    page,
    line: line
      .replace(/\s+#.*/, '')
      .replace(/^(?:[A-Z_]+=\S+\s+)+/, '')
      .trim(),
  }))
  .filter(({ line }) => line !== '' && !/\b(?:COMMAND|VERB|NAME)\b|…$/.test(line));

/** Splits a command line into words; quotes join several. */
function wordsOf(line: string): string[] {
  return [...line.matchAll(/"([^"]*)"|(\S+)/g)].map((match) => match[1] ?? match[2] ?? '');
}

/** The arguments of the `dramatis` command in a line, if it is one. */
function dramatisOf(line: string): string[] | undefined {
  const [, start, rest = ''] = /^(npm start|npm run (?:-s )?dramatis|dramatis)(?:$|\s+(?:--\s+)?(.*))/.exec(line) ?? [];
  return start === undefined ? undefined : [...(start === 'npm start' ? ['serve'] : []), ...wordsOf(rest)];
}

/** The different lines that call a command, each once. */
const ours = [...new Map(commandLines.map((each) => [each.line, each])).values()].flatMap(({ page, line }) => {
  const args = dramatisOf(line.split(' && ').at(-1) ?? '');
  return args === undefined ? [] : [{ page, line, args }];
});

/** The module of a command. */
async function commandModule(name: string): Promise<{ readonly run: (args: string[]) => Promise<number> }> {
  const file = [`${name}.ts`, `${name}/${name}.ts`].find((each) => existsSync(path.join(root, 'server/cli', each)));
  if (file === undefined) throw new Error(`there is no command "${name}"`);
  return (await import(path.join(root, 'server/cli', file))) as { run: (args: string[]) => Promise<number> };
}

/** Runs a snippet with these globals instead of its imports. */
async function runSnippet(text: string, globals: Record<string, unknown>): Promise<void> {
  const AsyncFunction = (async () => undefined).constructor as new (
    ...args: string[]
  ) => (...values: unknown[]) => Promise<void>;
  const body = text.replaceAll(/^import .*$/gm, '');
  await new AsyncFunction(...Object.keys(globals), body)(...Object.values(globals));
}

/** True if this command ends without an error; warns if it does not. */
function runs(command: string, args: string[]): boolean {
  const isThere = spawnSync(command, args).status === 0;
  if (!isThere) console.warn(`Skipped: an example, since "${command} ${args.join(' ')}" does not run.`);
  return isThere;
}

/** The snippet of a page that contains these words, with the address of a server instead of the usual one. */
function scriptOf(page: string, at: string, { language = 'js', words = '' } = {}): string {
  const found = blocksOf(language).find(([from, text]) => from === page && text.includes(words));
  return (found?.[1] ?? '').replaceAll(/(?:127\.0\.0\.1|localhost):8080/g, at);
}

afterEach(() => {
  vi.restoreAllMocks();
});

describe('the examples in the documentation', () => {
  it('are found', () => {
    expect(ours.length).toBeGreaterThan(50);
    expect(blocksOf('json').length).toBeGreaterThan(3);
    expect(
      blocksOf('js')
        .map(([page]) => page)
        .toSorted(),
    ).toEqual([
      'README.md',
      'README.md',
      'README.md',
      'server/CLIENTS.md',
      'server/PROTOCOL.md',
      'server/client/README.md',
    ]);
  });

  it('call commands with flags that these commands know', async () => {
    vi.spyOn(console, 'log').mockReturnValue();
    vi.spyOn(process.stdout, 'write').mockReturnValue(true);
    const listeners = process.listeners('SIGINT');
    const failed: string[] = [];
    for (const { page, line, args } of ours) {
      const [name = 'help', ...rest] = args;
      // With `--help` a command parses its whole line and does nothing.
      const status = await commandModule(name)
        .then(({ run }) => run([...rest, '--help']))
        .catch((fault: unknown) => String(fault));
      if (status !== 0) failed.push(`${page}: ${line}: ${status}`);
      for (const each of process.listeners('SIGINT')) if (!listeners.includes(each)) process.off('SIGINT', each);
    }
    expect(failed).toEqual([]);
  });

  it('name scripts, benches and tests that exist', () => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
    const benches = new Set(
      [...read('test/bench/main.ts').matchAll(/^ {2}'?([a-z-]+)'?: \(\) => import/gm)].map((match) => match[1]),
    );
    const unknown = commandLines.filter(({ line }) => {
      const words = wordsOf(line);
      if (line.startsWith('npx vitest run ')) return !words.slice(3).every((file) => existsSync(path.join(root, file)));
      if (line.startsWith('npm run bench -- ')) return !benches.has(words[4] ?? '');
      const [, script] = /^npm run (?:-s )?([a-z:]+)/.exec(line) ?? [];
      return script !== undefined && !(script in scripts);
    });
    expect(unknown).toEqual([]);
  });

  it('name environment variables that are settings, or of workers and tests', () => {
    const settings = read('server/SETTINGS.md');
    const others = new Set([
      'DRAMATIS_JOBS_URL',
      'DRAMATIS_SHARED_DIR',
      'DRAMATIS_SPEECH_DIR',
      'DRAMATIS_SIMULATED_SEEDS',
      'DRAMATIS_TEST_SEED',
      'DRAMATIS_TEST_KILLS',
      'DRAMATIS_TEST_HOSTILE_CASES',
    ]);
    const unknown = pages.flatMap((page) =>
      [...read(page).matchAll(/\bDRAMATIS_[A-Z0-9_]*[A-Z0-9]\b/g)]
        .map(([name]) => name)
        .filter((name) => !others.has(name) && !settings.includes(`\`${name}\``))
        .map((name) => `${page}: ${name}`),
    );
    expect(unknown).toEqual([]);
  });

  it.each(blocksOf('json'))('are valid JSON of the schema they show (%#: %s)', async (_page, text) => {
    const value = JSON.parse(text) as { engines?: object; asks?: unknown; error?: { code: string } };
    if (value.engines !== undefined) {
      const folder = await mkdtemp(path.join(tmpdir(), 'dramatis-snippets-'));
      const file = path.join(folder, 'engines.json');
      // The reader of the page fills in empty hashes.
      await writeFile(file, text.replaceAll('"sha256": ""', `"sha256": "${'0'.repeat(64)}"`));
      expect(Object.keys(readEnginesFile(file).engines)).toEqual(Object.keys(value.engines));
      await rm(folder, { recursive: true });
    }
    if (value.asks !== undefined) expect(dialoguePairSchema.parse(value)).toMatchObject({ asks: value.asks });
    if (value.error !== undefined) expect(Object.keys(errorTable)).toContain(value.error.code);
  });

  it('talk to a server without a package (PROTOCOL.md)', async () => {
    const { at } = await serve();
    const said: string[] = [];
    const closed = new Promise<void>((resolve) => {
      class Socket extends WebSocket {
        constructor(url: string) {
          super(url);
          this.on('close', () => resolve());
        }
      }
      const globals = { WebSocket: Socket, console: { log: (text: string) => said.push(text) } };
      void runSnippet(scriptOf('server/PROTOCOL.md', at), globals);
    });
    await closed;
    expect(said.join('')).not.toBe('');
  });

  it('talk to a server with the openai package (CLIENTS.md)', async () => {
    const { at } = await serve();
    const said: unknown[] = [];
    await runSnippet(scriptOf('server/CLIENTS.md', at), {
      OpenAI,
      console: { log: (text: unknown) => said.push(text) },
    });
    expect(said).toEqual([expect.stringMatching(/\w/)]);
  });

  it('get speech with the openai package (README)', async () => {
    const { at } = await serve();
    const said: string[] = [];
    const console = { log: (text: string) => said.push(text) };
    await runSnippet(scriptOf('README.md', at, { words: 'audio.speech' }), { OpenAI, console });
    expect(said).toEqual([expect.stringMatching(/^\d{3,} bytes of MP3$/)]);
  });

  it('talk over Realtime with the openai package and a certificate of our own (README)', async () => {
    const { at } = await serve({ flags: { tlsDev: true } });
    const said: string[] = [];
    const closed = new Promise<void>((resolve) => {
      class Talk extends OpenAIRealtimeWS {
        override close(): void {
          super.close();
          resolve();
        }
      }
      const console = { log: (text: string) => said.push(text) };
      void runSnippet(scriptOf('README.md', at, { words: 'realtime/ws' }), { OpenAI, OpenAIRealtimeWS: Talk, console });
    });
    await closed;
    expect(said.join('')).toMatch(/\w/);
  });

  it('talk to a server with our client (README)', async () => {
    const { at } = await serve();
    const said: string[] = [];
    const console = { log: (text: string) => said.push(text) };
    const open = (options: Parameters<typeof openTalk>[0]) => openTalk({ ...options, WebSocket });
    await runSnippet(scriptOf('README.md', at, { words: 'dramatis/client' }), { openTalk: open, console });
    expect(said.join('')).toMatch(/\w/);
  });

  const hasPython = runs('python3', ['-c', 'import openai']);
  if (!hasPython) console.warn('The example in Python is not run: there is no python3 with the package openai.');
  it.skipIf(!hasPython)("talk to a server with Python's openai package (README)", async () => {
    const { at } = await serve();
    const script = scriptOf('README.md', at, { language: 'python' });
    const { stdout } = await promisify(execFile)('python3', ['-c', script]);
    expect(stdout).toMatch(/\w/);
  });

  it.skipIf(!runs('curl', ['--version']))('get speech with curl (README)', async () => {
    const { at } = await serve();
    const cwd = await mkdtemp(path.join(tmpdir(), 'dramatis-snippets-'));
    await promisify(execFile)('sh', ['-c', scriptOf('README.md', at, { language: 'bash', words: 'curl' })], { cwd });
    expect(readFileSync(path.join(cwd, 'nemo.wav')).subarray(0, 4).toString()).toBe('RIFF');
    await rm(cwd, { recursive: true });
  });

  it('talk to a server with our client (client/README.md), here by typing', async () => {
    const { at } = await serve();
    const said: string[] = [];
    /** Our client without microphone and loudspeaker; says one thing, and hangs up after the reply. */
    const openTyped = (options: Parameters<typeof openTalk>[0]): { events: AsyncIterable<{ type: string }> } => {
      const talk = openTalk({ ...options, microphone: false, speaker: false, WebSocket });
      void talk.opened.then(() => talk.say('Who are you?'));
      const events = async function* (): AsyncGenerator<{ type: string }> {
        for await (const event of talk.events) {
          yield event;
          if (event.type === 'response.done') talk.close();
        }
      };
      return { events: events() };
    };
    await runSnippet(scriptOf('server/client/README.md', at), {
      openTalk: openTyped,
      process: { stdout: { write: (text: string) => said.push(text) } },
    });
    expect(said.join('')).not.toBe('');
  });
});
