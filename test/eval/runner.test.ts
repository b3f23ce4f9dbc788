import * as fc from '../fakes/property.ts';
import { appendFile, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { openAudioStore, openRunFolder } from '../../eval/run-folder.ts';
import { openBudget } from '../../eval/limits.ts';
import { openRunLog, readRunLog, type LogLine } from '../../eval/run-log.ts';
import { noPriorResults, runTask, type PriorResults } from '../../eval/runner.ts';
import { EngineError } from '../../voices/engine.ts';
import { ManualClock } from '../fakes/clock.ts';
import { countingTask, plainHeader } from './counting-task.ts';
import { openScratch } from './scratch.ts';

const forever = new AbortController().signal;

/** Runs a task in a folder, resuming from its log if there is one. */
async function runIn(
  folder: string,
  task: ReturnType<typeof countingTask>,
  options: { maxDollars?: number; signal?: AbortSignal; concurrency?: number } = {},
): Promise<string> {
  const file = path.join(folder, 'log.jsonl');
  const known: PriorResults = await readRunLog(file).catch(() => noPriorResults);
  const log = await openRunLog(file);
  const clock = new ManualClock();
  try {
    if (known === noPriorResults) await log.append(plainHeader);
    return await runTask(task, known, {
      log,
      audio: openAudioStore(path.join(folder, 'audio')),
      budget: openBudget(options, { clock, spentDollars: known.spentDollars }),
      clock,
      signal: options.signal ?? forever,
      concurrency: options.concurrency ?? 4,
    });
  } finally {
    await log.close();
  }
}

describe('runner', () => {
  it('the runner does every step once', async () => {
    await using scratch = await openScratch();
    const task = countingTask(10);
    expect(await runIn(scratch.path, task)).toBe('finished');
    expect(new Set(task.calls).size).toBe(30);
    expect(task.calls).toHaveLength(30);
    const record = await readRunLog(path.join(scratch.path, 'log.jsonl'));
    expect(record.outputs.get('s3')).toBe(6);
    expect(record.measured.get('s3')?.get('size/b')).toEqual({ ask: 'b', output: 6 });
    expect(record.spentDollars).toBeCloseTo(0.2);
  });

  it('the runner resumes after an abort and repeats nothing that is in the log', async () => {
    await using scratch = await openScratch();
    const stop = new AbortController();
    let measured = 0;
    const first = countingTask(10, {
      measure: () => {
        measured += 1;
        if (measured === 7) stop.abort(new Error('interrupted'));
      },
    });
    await expect(runIn(scratch.path, first, { signal: stop.signal, concurrency: 1 })).rejects.toThrow('interrupted');
    const before = await readRunLog(path.join(scratch.path, 'log.jsonl'));
    const second = countingTask(10);
    expect(await runIn(scratch.path, second)).toBe('finished');
    for (const [sample, asks] of before.measured) {
      for (const ask of asks.keys()) expect(second.calls).not.toContain(`${sample}/${ask.slice('size/'.length)}`);
    }
    for (const sample of before.outputs.keys()) expect(second.calls).not.toContain(sample);
    const after = await readRunLog(path.join(scratch.path, 'log.jsonl'));
    expect([...after.measured.values()].map((asks) => asks.size)).toEqual(Array.from({ length: 10 }, () => 2));
    expect(after.repeated).toBe(0);
  });

  it('the runner measures everything exactly once, even if it is stopped often and calls fail', async () => {
    const part = fc.record({
      stopAfter: fc.integer({ min: 1, max: 12 }),
      failing: fc.array(fc.integer({ min: 0, max: 17 })),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(part, { maxLength: 5 }), fc.integer({ min: 1, max: 5 }), async (parts, concurrency) => {
        await using scratch = await openScratch();
        const done: string[] = [];
        for (const { stopAfter, failing } of [...parts, { stopAfter: 1_000, failing: [] }]) {
          const stop = new AbortController();
          let calls = 0;
          const step = async (): Promise<void> => {
            calls += 1;
            await new Promise((resolve) => setImmediate(resolve));
            if (calls >= stopAfter) stop.abort(new Error('stopped'));
            if (failing.includes(calls)) throw new EngineError('judge', 'ENGINE_BAD_REPLY', 'garbage');
          };
          const task = countingTask(6, { solve: step, measure: step });
          await runIn(scratch.path, task, { signal: stop.signal, concurrency }).catch(() => undefined);
        }
        const text = await readFile(path.join(scratch.path, 'log.jsonl'), 'utf8');
        for (const line of text.trimEnd().split('\n')) {
          const event = JSON.parse(line) as LogLine;
          if (event.event === 'measured') done.push(`${event.sample}/${event.ask}`);
          if (event.event === 'output') done.push(event.sample);
        }
        expect(done).toHaveLength(18);
        expect(new Set(done).size).toBe(18);
      }),
      { numRuns: 60 },
    );
  });

  it('the runner logs a failure with its code, continues with the rest, and retries it on resume', async () => {
    await using scratch = await openScratch();
    const task = countingTask(4, {
      solve: (id) => {
        if (id === 's1') throw new EngineError('agent', 'ENGINE_UNAVAILABLE', 'away');
      },
      measure: (what) => {
        if (what === 's2/a') throw new TypeError('a bug of ours');
      },
    });
    expect(await runIn(scratch.path, task)).toBe('finished');
    const file = path.join(scratch.path, 'log.jsonl');
    const { failures } = await readRunLog(file);
    expect(failures.map(({ sample, ask, code }) => ({ sample, ask, code }))).toEqual([
      { sample: 's1', ask: undefined, code: 'ENGINE_UNAVAILABLE' },
      { sample: 's2', ask: 'a', code: 'internal_error' },
    ]);
    const again = countingTask(4);
    await runIn(scratch.path, again);
    expect(again.calls.toSorted()).toEqual(['s1', 's1/a', 's1/b', 's2/a']);
    expect((await readRunLog(file)).failures).toEqual([]);
  });

  it('the runner ends when its budget is used up, and continues with a larger one', async () => {
    await using scratch = await openScratch();
    const reason = await runIn(scratch.path, countingTask(50), { maxDollars: 0.1, concurrency: 2 });
    expect(reason).toContain('--max-cost 0.1');
    const file = path.join(scratch.path, 'log.jsonl');
    const { spentDollars } = await readRunLog(file);
    expect(spentDollars).toBeGreaterThanOrEqual(0.1);
    // Calls in progress when the budget was used up may still cost something.
    expect(spentDollars).toBeLessThanOrEqual(0.14);
    expect(await runIn(scratch.path, countingTask(50), { maxDollars: 10 })).toBe('finished');
    expect((await readRunLog(file)).spentDollars).toBeCloseTo(1);
  });
});

describe('run log', () => {
  it('the run log ignores a last line torn by a kill, and removes it on resume', async () => {
    await using scratch = await openScratch();
    const file = path.join(scratch.path, 'log.jsonl');
    await runIn(scratch.path, countingTask(2));
    const whole = await readFile(file, 'utf8');
    await appendFile(file, '{"event":"measured","sample":"s9","sco');
    expect((await readRunLog(file)).outputs.size).toBe(2);
    const log = await openRunLog(file);
    await log.append({ event: 'resumed', at: 'now' });
    await log.close();
    expect(await readFile(file, 'utf8')).toBe(`${whole}{"event":"resumed","at":"now"}\n`);
  });

  it('the run log removes a torn line longer than a block', async () => {
    await using scratch = await openScratch();
    const file = path.join(scratch.path, 'log.jsonl');
    await writeFile(file, `${JSON.stringify(plainHeader)}\n{"event":"${'x'.repeat(200_000)}`);
    await (await openRunLog(file)).close();
    expect(await readFile(file, 'utf8')).toBe(`${JSON.stringify(plainHeader)}\n`);
  });

  it('the run log reports a broken line before the last', async () => {
    await using scratch = await openScratch();
    const file = path.join(scratch.path, 'log.jsonl');
    await writeFile(file, `${JSON.stringify(plainHeader)}\nnonsense\n{"event":"ended","at":"now","reason":"x"}\n`);
    await expect(readRunLog(file)).rejects.toMatchObject({
      code: 'eval_log',
      message: expect.stringContaining(':2 is not a line'),
    });
  });

  it('the run log refuses to start a run in a folder that has one', async () => {
    await using scratch = await openScratch();
    const file = path.join(scratch.path, 'log.jsonl');
    await writeFile(file, `${JSON.stringify(plainHeader)}\n`);
    await expect(openRunLog(file, { fresh: true })).rejects.toMatchObject({ code: 'eval_log' });
  });

  it('the run log belongs to one process at a time, and the lock of a killed process is taken over', async () => {
    await using scratch = await openScratch();
    await writeFile(path.join(scratch.path, 'run.lock'), '1');
    await expect(openRunFolder(scratch.path)).rejects.toMatchObject({ code: 'eval_busy' });
    await writeFile(path.join(scratch.path, 'run.lock'), '999999999');
    await (await openRunFolder(scratch.path))[Symbol.asyncDispose]();
    await (await openRunFolder(scratch.path))[Symbol.asyncDispose]();
  });
});
