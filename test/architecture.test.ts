import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';

const root = path.resolve(import.meta.dirname, '..');

/** The one way into eval/: the command line lends it a terminal and servers, and eval/ imports neither. */
const evalCommand = path.join('server', 'cli', 'eval.ts');

/** What each folder may import from us. `type:` allows types only; a file name allows that one file. */
const allowed: Readonly<Record<string, readonly string[]>> = {
  characters: [],
  voices: [],
  // The one error class of engines is a value that minds throw too, and all engines are called with the same care. What
  // counts as a stage direction is decided once, for the cues of a reply and for the text that is spoken.
  agents: ['characters', 'type:voices', 'voices/engine.ts', 'voices/calls', 'voices/text/stage-directions.ts'],
  server: ['voices', 'agents', 'characters'],
  eval: ['server/protocol', 'voices', 'agents', 'characters'],
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
}

const files = Object.keys(allowed).flatMap((folder) =>
  readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.[jt]s$/.test(name) && !name.includes('node_modules'))
    .map((name) => path.join(folder, name)),
);

/** The README that each folder with code has. Character packs and characters/scenes hold data alone and need none. */
const readmes = [...new Set(files.map((file) => path.join(path.dirname(file), 'README.md')))];

const imports: readonly Import[] = files.flatMap((file) => {
  const source = read(file);
  const found = source.matchAll(
    /^(?:import|export)\s+(type\s)?(?:[^'";]*?\sfrom\s+)?'(\.[^']+)'|import\('(\.[^']+)'\)/gm,
  );
  return [...found].map((match) => ({
    from: file,
    to: path.normalize(path.join(path.dirname(file), match[2] ?? match[3] ?? '')),
    typeOnly: match[1] !== undefined,
  }));
});

describe('the architecture', () => {
  it('has imports to look at', () => {
    expect(imports.length).toBeGreaterThan(100);
  });

  it('lets imports go one way only', () => {
    const wrong = imports.filter(({ from, to, typeOnly }) => {
      const home = from.split(path.sep)[0] ?? '';
      const target = to.split(path.sep)[0] ?? '';
      if (home === target || !(target in allowed)) return false;
      if (from === evalCommand && target === 'eval') return false;
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

  it('keeps every source file under 300 lines', () => {
    expect(files.filter((file) => linesOf(file) > 300)).toEqual([]);
  });

  it('has a README of at most 60 lines in every folder with code', () => {
    expect(readmes.filter((file) => !existsSync(path.join(root, file)))).toEqual([]);
    expect(readmes.filter((file) => linesOf(file) > 60)).toEqual([]);
  });

  it('tells in the READMEs of folders only of files that are there', () => {
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
});
