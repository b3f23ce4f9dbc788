import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { novelPipeline } from '../../../eval/construction/novel/pipeline.ts';
import { openPrompts } from '../../../eval/construction/runner/prompts.ts';
import type { DataRecord, Pipeline } from '../../../eval/construction/runner/stage.ts';
import { coherenceStage } from '../../../eval/construction/novel/dialogues.ts';
import type { PairDialogue } from '../../../eval/construction/novel/roles.ts';
import { build } from '../../eval/construction/rig/build-rig.ts';
import { scriptedModel } from '../../eval/construction/rig/scripted-model.ts';
import { novelScript } from '../../eval/construction/novel/novel-script.ts';
import { summarize, type BenchRow } from '../kit/stats.ts';

const bench = 'data';

/**
 * The cost of the data factory itself, with a scripted model in this process: CPU a record of one stage that asks once,
 * answers in the journal, rows on disk, and the heap while it runs. `--records N`: 100,000 by default.
 */
export async function* run(args: readonly string[]): AsyncIterable<BenchRow> {
  const records = Number(args[args.indexOf('--records') + 1]) || 100_000;
  const folder = await mkdtemp(path.join(tmpdir(), 'dramatis-bench-data-'));
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  try {
    for (const count of [records / 10, records]) {
      const heap: number[] = [];
      const before = process.cpuUsage();
      const { calls, ...quiet } = scriptedModel(novelScript('Holmes', 'Watson', 'cold', 'terse'));
      const model = {
        ...quiet,
        complete: async (...given: Parameters<typeof quiet.complete>) => {
          calls.length = 0;
          return quiet.complete(...given);
        },
      };
      await build(stagePipeline(count), path.join(folder, `${count}`), model, {
        onProgress: (_, done) => {
          if (done % Math.ceil(count / 20) !== 0) return;
          collect();
          heap.push(process.memoryUsage().heapUsed / 2 ** 20);
        },
      });
      const { user, system } = process.cpuUsage(before);
      yield summarize(bench, `CPU a record of ${count}, scripted model included`, 'ms', [
        (user + system) / 1_000 / count,
      ]);
      const half = heap.length >> 1;
      yield summarize(bench, `heap after collection, first half of ${count}`, 'MiB', heap.slice(0, half));
      yield summarize(bench, `heap after collection, second half of ${count}`, 'MiB', heap.slice(half));
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** One stage of the novel build on as many dialogues of ten lines. */
function stagePipeline(count: number): Pipeline {
  const promptOf = openPrompts();
  const provenance = {
    stage: 'input',
    sources: [{ file: 'novel.txt', from: 0, to: 1_000 }],
    models: [],
    promptHashes: [],
  };
  const rows = Array.from({ length: 10 }, (_, at) => ({
    role: at % 2 === 0 ? 'Watson' : 'Holmes',
    dialogue: `Line ${at} of a talk about the matter at hand, and about what became of it.`,
  }));
  return {
    ...novelPipeline({ input: '', rights: '', promptOf, roles: '' }),
    name: 'bench',
    async *records() {
      for (let at = 0; at < count; at += 1) {
        const own = {
          book: 'b',
          title: 'B',
          language: 'en',
          chapter: '',
          role: 'Holmes',
          scene: `Scene ${at}.`,
        } as const;
        yield { id: `${at}`, ...own, partner: 'Watson', rows, provenance } satisfies PairDialogue;
      }
    },
    stages: [coherenceStage(promptOf('novel/coherence'))],
    rows: (record: DataRecord) => [{ file: 'rows.jsonl', value: record }],
  };
}
