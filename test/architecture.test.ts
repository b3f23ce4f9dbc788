import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';

const root = path.resolve(import.meta.dirname, '..');

/** The only files that import eval/: they give the harness a terminal, and servers to measure. */
const evalCommands = ['eval', 'data', 'worker', 'jobs-host'].map((name) => path.join('server', 'cli', `${name}.ts`));

/** What each folder may import from us. `type:` allows types only; a file name allows that one file. */
const allowed: Readonly<Record<string, readonly string[]>> = {
  characters: [],
  voices: [],
  // Chat models are engines too: same error class, same call policy, same processes and model files. What
  // counts as a stage direction is decided once, for the cues of a reply and for the text that is spoken.
  agents: [
    'characters',
    'type:voices',
    'voices/engine.ts',
    'voices/calls',
    'voices/runtime',
    'voices/models/weights.ts',
    'voices/text/stage-directions.ts',
    // Mean and median, once for all wings.
    'voices/dsp/statistics.ts',
  ],
  server: ['voices', 'agents', 'characters'],
  eval: ['server/protocol', 'server/terminal', 'voices', 'agents', 'characters'],
  test: ['characters', 'voices', 'agents', 'server', 'eval'],
};

function read(file: string): string {
  return readFileSync(path.join(root, file), 'utf8');
}

function linesOf(file: string): number {
  return read(file).split('\n').length - 1;
}

interface Import {
  readonly from: string;
  readonly to: string;
  readonly typeOnly: boolean;
  /** Loaded when it is needed first, by `import()`. */
  readonly isLazy: boolean;
}

const files = Object.keys(allowed).flatMap((folder) =>
  readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.[jt]s$/.test(name) && !name.includes('node_modules'))
    .map((name) => path.join(folder, name)),
);

/** Folders under test/ that mirror a folder of the source need no README of their own. */
function isTestOfSource(file: string): boolean {
  const [top, wing, ...rest] = path.dirname(file).split(path.sep);
  return top === 'test' && wing !== undefined && wing in allowed && rest.length > 0;
}

/** The README that each folder with code has. Character packs and characters/scenes hold data alone and need none. */
const readmes = [
  ...new Set(files.filter((file) => !isTestOfSource(file)).map((file) => path.join(path.dirname(file), 'README.md'))),
];

const imports: readonly Import[] = files.flatMap((file) => {
  const source = read(file);
  const found = source.matchAll(
    /^(?:import|export)\s+(type\s)?(?:[^'";]*?\sfrom\s+)?'(\.[^']+)'|import\('(\.[^']+)'\)/gm,
  );
  return [...found].map((match) => ({
    from: file,
    to: path.normalize(path.join(path.dirname(file), match[2] ?? match[3] ?? '')),
    typeOnly: match[1] !== undefined,
    isLazy: match[3] !== undefined,
  }));
});

/** Files that may be longer than others, because a state machine is easier to follow in one piece. */
const stateMachines = [
  'server/client/audio/player.js',
  'server/client/connection/resumable-connection.js',
  'server/session/output/reply.ts',
  'server/session/session.ts',
  'server/session/turns/turn.ts',
  'test/server/session/turns/turn-promises.test.ts',
];

/** Whether a file is a table of its siblings (commands, recipes, kinds): a file each is the point of it. */
function isTable(file: string): boolean {
  const siblings = imports.filter(({ from, to }) => from === file && path.dirname(to) === path.dirname(file));
  return linesOf(file) < 60 && siblings.length >= 4;
}

/** Words and names that terms of `server/GLOSSARY.md` have replaced; strings and Markdown included. */
const replacedWords =
  /\b(?:anew|lest|thereof|therein|hitherto|heretofore|whoever|whomever|whereby|wherein|whereof|whereupon|thence|albeit|whilst|beforehand|forthwith|naught|be it that|for want of|in lieu of|became of|stands in for|stood in for|as it stands|hears of|takes nobody|(?:are|client is|session is|model is|user is) told)\b/i;
const replacedNames =
  /\b\w*(?:Ear|Mouth|Lobby|Shelf|Door|Company|Unsettled|SoundBefore|SaidLines|Upkeep|Thinker|Remark|Meanings)s?\b/;

/** Openings of doc comments that ask where a statement is expected. */
const vagueOpening = /^(?:Who|What|Where|Whether|Whose|Whom|Whoever|Nobody)\b/;

const sources = files.filter((file) => !file.startsWith('test'));

const pages = [
  'README.md',
  ...Object.keys(allowed).flatMap((folder) =>
    readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.md') && !name.includes('node_modules'))
      .map((name) => path.join(folder, name)),
  ),
];

describe('the architecture', () => {
  it('has imports to look at', () => {
    expect(imports.length).toBeGreaterThan(100);
  });

  it('lets imports go one way only', () => {
    const wrong = imports.filter(({ from, to, typeOnly }) => {
      const home = from.split(path.sep)[0] ?? '';
      const target = to.split(path.sep)[0] ?? '';
      if (home === target || !(target in allowed)) return false;
      if (evalCommands.includes(from) && target === 'eval') return false;
      return !(allowed[home] ?? []).some(
        (entry) =>
          entry === target || entry === to || to.startsWith(`${entry}/`) || (typeOnly && entry === `type:${target}`),
      );
    });
    expect(wrong).toEqual([]);
  });

  it('has no import cycles', () => {
    const graph = new Map<string, string[]>();
    for (const { from, to, typeOnly } of imports) if (!typeOnly) graph.set(from, [...(graph.get(from) ?? []), to]);
    const done = new Set<string>();
    const cycles: string[] = [];
    const visit = (file: string, trail: readonly string[]): void => {
      if (trail.includes(file)) cycles.push([...trail.slice(trail.indexOf(file)), file].join(' → '));
      if (done.has(file) || trail.includes(file)) return;
      for (const next of graph.get(file) ?? []) visit(next, [...trail, file]);
      done.add(file);
    };
    for (const file of graph.keys()) visit(file, []);
    expect(cycles).toEqual([]);
  });

  it('keeps every file within 300 lines, and a state machine within 400', () => {
    const tooLong = files.filter((file) => linesOf(file) > (stateMachines.includes(file) ? 400 : 300));
    expect(tooLong).toEqual([]);
  });

  it('holds at most 20 files directly in a folder, its README aside', () => {
    const everything = Object.keys(allowed).flatMap((folder) =>
      readdirSync(path.join(root, folder), { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile() && entry.name !== 'README.md' && !entry.parentPath.includes('node_modules'))
        .map((entry) => path.relative(root, entry.parentPath)),
    );
    const counts = Map.groupBy(everything, (folder) => folder);
    expect([...counts].filter(([, here]) => here.length > 20).map(([folder]) => folder)).toEqual([]);
  });

  it('has no two folders that import each other, type imports included', () => {
    const arrows = new Set(imports.map(({ from, to }) => `${path.dirname(from)} → ${path.dirname(to)}`));
    const bothWays = [...arrows].filter((arrow) => {
      const [from, to] = arrow.split(' → ');
      return from !== to && arrows.has(`${to} → ${from}`);
    });
    expect(bothWays).toEqual([]);
  });

  it('keeps a short file with one importer inside its importer', () => {
    const closets = files.filter((file) => {
      if (file.startsWith('test') || file.endsWith('.d.ts') || linesOf(file) >= 60) return false;
      const here = imports.filter(({ to }) => to === file);
      if (here.some(({ isLazy }) => isLazy)) return false;
      const importers = [...new Set(here.map(({ from }) => from))];
      const [importer = '', ...others] = importers.filter((from) => !from.startsWith('test'));
      const isTested = importers.some((from) => from.startsWith('test'));
      const isAlone = importer !== '' && others.length === 0 && path.dirname(importer) === path.dirname(file);
      return isAlone && !isTested && !isTable(importer) && linesOf(importer) + linesOf(file) <= 300;
    });
    expect(closets).toEqual([]);
  });

  it('loads nothing of server/cluster unless the server is one of several nodes, and a Redis client only for these and for keys of memories', () => {
    const folder = 'server/cluster/';
    const eager = imports.filter(
      ({ from, to, typeOnly, isLazy }) =>
        to.startsWith(folder) && !typeOnly && !isLazy && !from.startsWith(folder) && !from.startsWith('test/'),
    );
    expect(eager).toEqual([]);
    const keys = 'server/memory/postgres/data-keys.ts';
    expect(sources.filter((file) => /from 'ioredis'/.test(read(file)))).toEqual([`${folder}redis-store.ts`, keys]);
    const loading = imports.filter(({ to, typeOnly, isLazy }) => to === keys && !typeOnly && !isLazy);
    expect(loading.filter(({ from }) => !from.startsWith('test/'))).toEqual([]);
  });

  it('loads PostgreSQL, by one file, only if it is configured', () => {
    const folder = 'server/memory/postgres/';
    const eager = imports.filter(
      ({ from, to, typeOnly, isLazy }) =>
        to.startsWith(folder) && !typeOnly && !isLazy && !from.startsWith(folder) && !from.startsWith('test/'),
    );
    expect(eager).toEqual([]);
    expect(sources.filter((file) => /from 'pg'/.test(read(file)))).toEqual([`${folder}link.ts`]);
  });

  it('loads nothing of the jobs but their flags, and no BullMQ, unless a run has workers', () => {
    const eager = imports.filter(
      ({ from, to, typeOnly, isLazy }) =>
        to.startsWith('eval/jobs/') &&
        !to.endsWith('job-flags.ts') &&
        !typeOnly &&
        !isLazy &&
        !/^(?:eval\/jobs|eval\/worker|test)\/|far-build\.ts$/.test(from),
    );
    expect(eager).toEqual([]);
    expect(sources.filter((file) => /from 'bullmq'/.test(read(file)))).toEqual(['eval/jobs/store.ts']);
  });

  it('has a README of at most 60 lines in every folder with code', () => {
    expect(readmes.filter((file) => !existsSync(path.join(root, file)))).toEqual([]);
    expect(readmes.filter((file) => linesOf(file) > 60)).toEqual([]);
  });

  it('names only existing files in the READMEs of folders', () => {
    const gone = readmes.flatMap((readme) => {
      const named = [...read(readme).matchAll(/`(?:\.{1,2}\/)*([\w./-]+\.[jt]s)`/g)].map((match) => match[1] ?? '');
      const isThere = (name: string): boolean => files.some((file) => `/${file}`.endsWith(`/${name}`));
      return named.filter((name) => !isThere(name)).map((name) => `${readme}: ${name}`);
    });
    expect(gone).toEqual([]);
  });

  it('keeps the session pure of engines: server/session imports no engine of voices/', () => {
    const engineFolders = /^voices\/(vads|recognizers|synthesizers|speakers)\//;
    expect(imports.filter(({ from, to }) => from.startsWith('server/session/') && engineFolders.test(to))).toEqual([]);
  });

  it.each([
    ['words', replacedWords],
    ['names', replacedNames],
  ])('uses the glossary in place of the %s it replaced', (_, replaced) => {
    // Transcripts quote the characters, who may say what we do not.
    const ours = pages.filter((file) => !file.endsWith('default-mind-held-out.md'));
    const found = [...sources, ...ours].flatMap((file) => {
      const lines = read(file).split('\n');
      return lines.flatMap((line, index) => (replaced.test(line) ? [`${file}:${index + 1}: ${line.trim()}`] : []));
    });
    expect(found).toEqual([]);
  });

  it('begins fewer than 2 % of the doc comments with a question word', () => {
    const openings = sources.flatMap((file) =>
      [...read(file).matchAll(/\/\*\*\s*(?:\*\s*)?([^\n]*)/g)].map((match) => `${match[1]} (${file})`),
    );
    const vague = openings.filter((opening) => vagueOpening.test(opening));
    expect(vague.length / openings.length).toBeLessThan(0.02);
  });
});
