import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import type { CatalogueModel } from '../../../voices/models/catalogue.ts';
import { hashOf } from '../../../voices/runtime/files.ts';
import { openHttpClient } from '../../../voices/models/http-get.ts';
import { pullModel, type PullOptions } from '../../../voices/models/pull.ts';
import { openWeightsServer, weightsOf, type WeightsServer } from '../../fakes/models/weights-server.ts';

export const weights = weightsOf(10_017);

export interface ModelRig {
  readonly server: WeightsServer;
  readonly dataDir: string;
  /** One file with a known hash. */
  readonly model: CatalogueModel;
  /** Requested waits in milliseconds; none takes any time. */
  readonly waits: number[];
  readonly notes: string[];
  pull(model?: CatalogueModel, options?: Partial<PullOptions>): Promise<boolean>;
  /** Every file in the models folder, except unfinished downloads. */
  installed(): Promise<Record<string, Buffer>>;
}

export function modelOf(url: string, changes: Partial<CatalogueModel['downloads'][number]> = {}): CatalogueModel {
  return {
    id: 'tiny',
    title: 'Tiny',
    use: 'tests',
    role: 'quality',
    languages: [],
    licence: 'none',
    downloads: [{ file: 'tiny.onnx', urls: [`${url}/tiny.onnx`], sha256: hashOf(weights), ...changes }],
    files: { model: 'tiny.onnx' },
  };
}

/** A server and a data folder for one test. `stallMs`: timeout for a silent server. */
export async function openModelRig({ stallMs = 10_000 } = {}): Promise<ModelRig> {
  const server = await openWeightsServer(weights);
  const dataDir = await mkdtemp(path.join(tmpdir(), 'dramatis-models-'));
  const client = openHttpClient(stallMs);
  onTestFinished(async () => {
    client.close();
    await server.close();
    await rm(dataDir, { recursive: true });
  });
  const waits: number[] = [];
  const notes: string[] = [];
  const model = modelOf(server.url);
  return {
    server,
    dataDir,
    model,
    waits,
    notes,
    pull: (wanted = model, options = {}) =>
      pullModel(wanted, {
        client,
        dataDir,
        mirrors: [],
        signal: new AbortController().signal,
        wait: async (ms) => void waits.push(ms),
        onNote: (text) => void notes.push(text),
        ...options,
      }),
    async installed() {
      const root = path.join(dataDir, 'models');
      const entries = await readdir(root, { recursive: true, withFileTypes: true }).catch(() => []);
      const files = entries
        .filter((entry) => entry.isFile() && !entry.parentPath.includes('.loading'))
        .map(({ parentPath, name }) => path.join(parentPath, name));
      const pairs = files.map(async (file) => [path.relative(root, file), await readFile(file)] as const);
      return Object.fromEntries(await Promise.all(pairs));
    },
  };
}
