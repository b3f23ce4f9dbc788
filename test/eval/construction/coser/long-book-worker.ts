import { parentPort, workerData } from 'node:worker_threads';
import { coserPipeline } from '../../../../eval/construction/coser/pipeline.ts';
import { openPrompts } from '../../../../eval/construction/runner/prompts.ts';
import { build } from '../rig/build-rig.ts';
import { scriptedModel } from '../rig/scripted-model.ts';
import { coserScript } from './coser-script.ts';

/** Builds the data of a book in a heap of limited size. Posts the number of plots that went through. */
const { input, folder } = workerData as { readonly input: string; readonly folder: string };
const pipeline = coserPipeline({ input, rights: 'public domain', promptOf: openPrompts(), chunkTokens: 2_000 });
const model = scriptedModel(coserScript(['Sherlock Holmes', 'Doctor Watson', 'King of Bohemia']));
const report = await build(pipeline, folder, {
  name: model.name,
  async complete(request, options) {
    // The rig's model keeps all calls, which would be the growth that is looked for.
    model.calls.length = 0;
    return model.complete(request, options);
  },
});
parentPort?.postMessage({ stopped: report.stopped, plots: report.stages[3]?.in, books: report.stages[3]?.out });
