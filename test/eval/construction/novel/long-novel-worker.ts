import { parentPort, workerData } from 'node:worker_threads';
import { novelPipeline } from '../../../../eval/construction/novel/pipeline.ts';
import { openPrompts } from '../../../../eval/construction/runner/prompts.ts';
import { build } from '../rig/build-rig.ts';
import { scriptedModel } from '../rig/scripted-model.ts';
import { novelScript } from './novel-script.ts';

/** Builds the data of a novel in a heap of limited size. Posts the records that the first stages took. */
const { input, roles, folder } = workerData as {
  readonly input: string;
  readonly roles: string;
  readonly folder: string;
};
const pipeline = novelPipeline({ input, roles, rights: 'public domain', promptOf: openPrompts() });
const model = scriptedModel(novelScript('Holmes', 'Watson', 'cold', 'terse'));
const report = await build(pipeline, folder, {
  name: model.name,
  async complete(request, options) {
    // The rig's model keeps all calls, which would be the growth that is looked for.
    model.calls.length = 0;
    return model.complete(request, options);
  },
});
parentPort?.postMessage({ stopped: report.stopped, chunks: report.stages[0]?.in, scored: report.stages[1]?.out });
