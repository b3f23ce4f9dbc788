import { readdirSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { pcm16FromFloats } from '../../../voices/audio.ts';
import { openFlakyProxy } from '../../fakes/network/flaky-proxy.ts';
import { silence, tone } from '../../fakes/vad.ts';
import { hasProgram, runProgram, startProgram } from './program.ts';
import { openRig } from '../../rigs/talk-rig.ts';
import { comparable, conformanceFile, recorded } from './compare.ts';
import { visemeTables } from './viseme-tables.ts';
import { testFolder } from '../../fakes/test-folder.ts';

const client = path.resolve(import.meta.dirname, '../../../server/client/csharp');
const hasMono = hasProgram('mcs', 'the C# client', 'mono-mcs') && hasProgram('mono', 'the C# client', 'mono-runtime');
const folder = testFolder();
const built = (name: string): string => path.join(folder, name);

describe.skipIf(!hasMono)('the C# client under Mono', () => {
  beforeAll(async () => {
    const core = readdirSync(path.join(client, 'core')).map((file) => path.join(client, 'core', file));
    const flags = ['-langversion:7', '-warnaserror'];
    runProgram('mcs', [...flags, '-target:library', `-out:${built('Dramatis.dll')}`, ...core]);
    const against = [...flags, `-reference:${built('Dramatis.dll')}`];
    const conformance = path.join(import.meta.dirname, 'csharp/Conformance.cs');
    runProgram('mcs', [...against, `-out:${built('Conformance.exe')}`, conformance]);
    // No Unity here: its component is compiled against stubs, and never run.
    const unity = [
      path.join(import.meta.dirname, 'csharp/UnityStubs.cs'),
      path.join(client, 'unity/DramatisCharacter.cs'),
    ];
    runProgram('mcs', [...against, '-nowarn:0649', '-target:library', `-out:${built('Unity.dll')}`, ...unity]);
    runProgram('mcs', [...against, `-out:${built('Game.exe')}`, path.join(client, 'sample/ConsoleGame.cs')]);
    runProgram('mono', [built('Conformance.exe'), conformanceFile, built('done.json')]);
    await writeFile(built('question.pcm'), pcm16FromFloats(Float32Array.from([...tone(900), ...silence(200)])));
  }, 120_000);

  it.each(recorded.map(({ name, steps }, index) => ({ name, steps, index })))('$name', ({ steps, index }) => {
    const done = JSON.parse(readFileSync(built('done.json'), 'utf8')) as Parameters<typeof comparable>[0][];
    expect(comparable(done[index] ?? [])).toEqual(comparable(steps));
  });

  it('plays every sample of a spoken reply though the line drops in the middle, and stops when the user speaks', async () => {
    const says = [
      'One two three four five six seven eight nine ten.',
      `${'And so it went, '.repeat(8)}at last.`,
      'Yes.',
    ];
    await using rig = await openRig({
      hears: ['Who are you?', 'And then?', 'Hold on a moment, please.'],
      says,
      flags: { playoutAheadMs: '300' },
    });
    await using proxy = await openFlakyProxy(rig.port);
    const game = startProgram('mono', [built('Game.exe'), proxy.url, 'alice', built('sound.pcm')]);
    onTestFinished(({ task }) => {
      game.kill();
      if (task.result?.state === 'fail') console.log(game.lines.join('\n'));
    });
    await game.until('connected');
    game.write(`/hear ${built('question.pcm')}`);
    await game.until('says');
    proxy.cut();
    await game.until('resumed, lost 0 ms');
    expect(await game.until('you')).toBe('you Who are you?');
    expect(await game.until('heard')).toBe('heard 24000 samples');
    game.write(`/hear ${built('question.pcm')}`);
    await game.until('says And');
    game.write(`/hear ${built('question.pcm')}`);
    const cut = Number(/\d+/.exec(await game.until('cut after'))?.[0]);
    expect(cut).toBeGreaterThan(0);
    expect(cut).toBeLessThan(80_000);
    await game.until('says Yes.');
    game.write('/quit');
    await game.ended;
    expect(game.lines.filter((line) => line.startsWith('error'))).toEqual([]);
    const first = soundOf(readFileSync(built('sound.pcm')));
    const made = soundOf(rig.made());
    expect(first.slice(0, 23_900)).toEqual(made.slice(0, 23_900));
  });
});

it.each(Object.entries(visemeTables))('has the viseme tables of dramatis/client: %s', (file, text) => {
  expect(readFileSync(file, 'utf8')).toBe(text);
});

/** The samples that are not silent. */
function soundOf(pcm16: Buffer): number[] {
  const samples = new Int16Array(pcm16.buffer, pcm16.byteOffset, pcm16.length >> 1);
  return [...samples].filter((sample) => sample !== 0);
}
