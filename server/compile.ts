import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire, stripTypeScriptTypes } from 'node:module';
import path from 'node:path';

/**
 * Compiles the package for npm: Node runs no TypeScript under `node_modules`. `npm pack` calls it before it packs, and
 * removes `dist` afterwards.
 */

const root = path.join(import.meta.dirname, '..');
const dist = path.join(root, 'dist');

/** A relative module, in an import or in the URL of a worker. */
const relativeModule = /(['"])(\.{1,2}\/[\w./-]+)\.ts\1/g;

/** Writes every module as JavaScript, and the files that they read, in the folders they have in the source. */
function compile(): void {
  const files = globSync('{agents,characters,eval,server,voices}/**/*.*', { cwd: root }).filter(
    (file) => !/\.(md|d\.ts)$/.test(file) && !file.endsWith(path.join('server', 'compile.ts')),
  );
  for (const file of files) {
    const to = path.join(dist, file.replace(/\.ts$/, '.js'));
    mkdirSync(path.dirname(to), { recursive: true });
    if (file.endsWith('.ts')) writeFileSync(to, javascriptOf(file));
    else cpSync(path.join(root, file), to);
  }
  const { name, version, type } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as Manifest;
  writeFileSync(path.join(dist, 'package.json'), `${JSON.stringify({ name, version, type }, undefined, 2)}\n`);
}

type Manifest = Readonly<Record<'name' | 'version' | 'type', string>>;

function javascriptOf(file: string): string {
  const source = stripTypeScriptTypes(readFileSync(path.join(root, file), 'utf8'));
  return source.replaceAll(relativeModule, (_all, quote: string, module: string) => {
    if (!existsSync(path.join(root, path.dirname(file), `${module}.ts`)))
      throw new Error(`${file}: there is no module ${module}.ts.`);
    return `${quote}${module}.js${quote}`;
  });
}

/** Writes the types of `dramatis/client`, which are inferred from the schemas of the protocol. */
function declareClient(): void {
  const types = path.join('server', 'client', 'types');
  for (const name of ['api.d.ts', 'events.d.ts']) cpSync(path.join(root, types, name), path.join(dist, types, name));
  const compiler = path.join(
    path.dirname(createRequire(import.meta.url).resolve('typescript/package.json')),
    'bin/tsc',
  );
  const config = path.join(dist, 'tsconfig.json');
  const compilerOptions = { noEmit: false, emitDeclarationOnly: true, declaration: true, outDir: '.', rootDir: '..' };
  writeFileSync(
    config,
    JSON.stringify({
      extends: '../tsconfig.json',
      compilerOptions,
      include: [],
      files: [path.join('..', types, 'api.d.ts')],
    }),
  );
  execFileSync(process.execPath, [compiler, '-p', config], { stdio: 'inherit' });
  rmSync(config);
}

rmSync(dist, { recursive: true, force: true });
compile();
declareClient();
