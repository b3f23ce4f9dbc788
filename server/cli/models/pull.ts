import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openHttpClient } from '../../../voices/models/http-get.ts';
import { modelsFolder } from '../../../voices/models/installed.ts';
import { pullModel, type PullOptions } from '../../../voices/models/pull.ts';
import { makeDataDir } from '../../config/data-dir.ts';
import { interruptSignal } from '../../terminal/interrupt.ts';
import { namedModels } from './list.ts';
import type { ModelsCommand } from './models.ts';
import { openProgressBar, type ProgressBar } from '../../terminal/progress-bar.ts';
import { jsonText, noteLine, printLine, wrap } from '../../terminal/text.ts';

const stallMs = 30_000;

/** `dramatis models pull ID…`: downloads models; an interrupted download is resumed by the next run. */
export async function pull({ catalogue, config, names, again, json }: ModelsCommand): Promise<number> {
  const models = namedModels(catalogue, names);
  makeDataDir(config.dataDir);
  const client = openHttpClient(stallMs);
  const signal = interruptSignal();
  const done: { readonly id: string; readonly isNew: boolean }[] = [];
  try {
    for (const model of models) {
      if (!json) printLine(`${model.id}: ${model.title}; licence: ${model.licence}`);
      const progress = openPullProgress();
      const isNew = await pullModel(model, {
        client,
        signal,
        again,
        dataDir: config.dataDir,
        mirrors: config.modelMirrors,
        wait: (ms, ends) => sleep(ms, undefined, { signal: ends }),
        onProgress: progress.show,
        onRetry: (why, ms) => {
          progress.end();
          noteLine(`${why}; retrying in ${Math.ceil(ms / 1000)} s`);
        },
        onNote: (text) => noteLine(wrap(text, 0)),
      }).finally(progress.end);
      done.push({ id: model.id, isNew });
      if (json) continue;
      const place = path.join(modelsFolder(config.dataDir), model.id);
      printLine(isNew ? `  installed in ${place}` : '  is already installed; --again downloads it again');
    }
  } finally {
    client.close();
  }
  const forAuto = models.filter(({ auto }) => auto !== undefined).map(({ id }) => id);
  if (!json && forAuto.length > 0) printLine(wrap(`\`dramatis serve --auto\` may use ${forAuto.join(', ')}.`, 2));
  if (json) printLine(jsonText(done, 2));
  return 0;
}

/** One progress bar per file. */
function openPullProgress(): { readonly show: NonNullable<PullOptions['onProgress']>; readonly end: () => void } {
  let bar: ProgressBar | undefined;
  let current = '';
  return {
    show(file, { done, of, already }) {
      if (file !== current) {
        bar?.end();
        bar = openProgressBar({ unit: 'MB', already: already / 1e6 });
        current = file;
      }
      const size = of === undefined ? '?' : (of / 1e6).toFixed(1);
      const facts = [`${file} ${(done / 1e6).toFixed(1)} of ${size} MB`];
      bar?.show({ done: done / 1e6, of: (of ?? done) / 1e6, facts });
    },
    end: () => bar?.end(),
  };
}
