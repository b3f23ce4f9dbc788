import { setTimeout as sleep } from 'node:timers/promises';
import { downloadBytes, type CatalogueModel } from './catalogue.ts';
import { openHttpClient } from './http-get.ts';
import { ModelError } from './model-error.ts';
import { pullModel, type PullOptions } from './pull.ts';

/** A download in progress, or one that has failed. */
export interface DownloadState {
  readonly done: number;
  /** Undefined if no server has reported the size. */
  readonly of: number | undefined;
  /** Message of the failure; undefined while the download is in progress. */
  readonly error?: string;
}

/** Downloads of models that go on in the background, at most one of each model. */
export interface BackgroundDownloads {
  /** Begins, or tries again after a failure. Does nothing if the model is being downloaded. Throws a `ModelError`. */
  start(model: CatalogueModel): void;
  /** Ends a download; the received part is kept, and the next one continues from there. Also forgets a failure. */
  cancel(id: string): Promise<void>;
  /** Undefined if the model is not being downloaded and there is no failure to report. */
  stateOf(id: string): DownloadState | undefined;
  /** Cancels all of them. */
  close(): Promise<void>;
}

interface Running {
  readonly stop: AbortController;
  readonly files: Map<string, { readonly done: number; readonly of: number | undefined }>;
  readonly bytes: number | undefined;
  finished: Promise<void>;
  error?: string;
}

/** A server that is silent for as long is given up. */
const stallMs = 30_000;

/** Opens the downloads into a data folder. */
export function openBackgroundDownloads({
  dataDir,
  mirrors,
  wait = (ms, signal) => sleep(ms, undefined, { signal }),
}: Pick<PullOptions, 'dataDir' | 'mirrors'> & Partial<Pick<PullOptions, 'wait'>>): BackgroundDownloads {
  const client = openHttpClient(stallMs);
  const running = new Map<string, Running>();
  const pull = async (model: CatalogueModel, { stop, files }: Running): Promise<void> => {
    const { signal } = stop;
    const onProgress: PullOptions['onProgress'] = (file, { done, of }) => void files.set(file, { done, of });
    try {
      await pullModel(model, { client, dataDir, mirrors, signal, wait, onProgress });
      running.delete(model.id);
    } catch (fault) {
      const each = running.get(model.id);
      if (signal.aborted || each === undefined) running.delete(model.id);
      else each.error = fault instanceof Error ? fault.message : String(fault);
    }
  };
  return {
    start(model) {
      const before = running.get(model.id);
      if (before !== undefined && before.error === undefined) return;
      if (model.downloads.length === 0)
        throw new ModelError('model_not_published', model.unpublished ?? `${model.id} cannot be downloaded.`);
      const begun: Running = {
        stop: new AbortController(),
        files: new Map(),
        bytes: downloadBytes(model),
        finished: Promise.resolve(),
      };
      running.set(model.id, begun);
      begun.finished = pull(model, begun);
    },
    async cancel(id) {
      const each = running.get(id);
      each?.stop.abort(new Error('the download was cancelled'));
      await each?.finished;
      running.delete(id);
    },
    stateOf(id) {
      const each = running.get(id);
      if (each === undefined) return undefined;
      const { files, bytes, error } = each;
      const all = [...files.values()];
      const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
      const told = all.map(({ of }) => of);
      return {
        done: sum(all.map(({ done }) => done)),
        of: bytes ?? (told.length > 0 && told.every((of) => of !== undefined) ? sum(told) : undefined),
        ...(error === undefined ? {} : { error }),
      };
    },
    async close() {
      await Promise.all([...running.values()].map((each) => (each.stop.abort(new Error('closed')), each.finished)));
      client.close();
    },
  };
}
