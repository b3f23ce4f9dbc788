import { readFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { comparable, conformanceFile, recorded } from './compare.ts';
import { hasProgram, runProgram } from './program.ts';
import { testFolder } from '../../fakes/test-folder.ts';

const include = path.resolve(import.meta.dirname, '../../../server/client/cpp/include');
const hasCompiler = hasProgram('g++', 'the C++ client', 'g++');
const folder = testFolder();
const built = (name: string): string => path.join(folder, name);

describe.skipIf(!hasCompiler)('the C++ client', () => {
  beforeAll(() => {
    const strict = ['-std=c++17', '-O0', '-Wall', '-Wextra', '-Wpedantic', '-Wshadow', '-Werror'];
    const program = path.join(import.meta.dirname, 'cpp/conformance.cpp');
    runProgram('g++', [...strict, '-I', include, program, '-o', built('conformance')]);
    runProgram(built('conformance'), [conformanceFile, built('done.json')]);
  }, 120_000);

  it.each(recorded.map(({ name, steps }, index) => ({ name, steps, index })))('$name', ({ steps, index }) => {
    const done = JSON.parse(readFileSync(built('done.json'), 'utf8')) as Parameters<typeof comparable>[0][];
    expect(comparable(done[index] ?? [])).toEqual(comparable(steps));
  });
});
