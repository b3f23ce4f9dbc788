import { existsSync, rmSync } from 'node:fs';
import path from 'node:path';
import { writeFileAtomicSync } from '../../voices/runtime/files.ts';
import { makeDataDir } from '../config/data-dir.ts';
import { readEnginesFile, type EnginesFile } from './engines-file.ts';
import type { PlannedEngine } from './engine-plan.ts';

/** Address of an LLM that an administrator has connected in the page. */
export interface LlmConnection {
  /** Includes the version, for example `http://127.0.0.1:11434/v1`. */
  readonly url: string;
  readonly model: string;
  readonly key?: string | undefined;
}

/** Environment variable that holds the key at the next start: no key is written to a file. */
const keyVariable = 'DRAMATIS_LLM_API_KEY';

const adapterKind = 'openai-chat';

/** Name of the engine: that of the model, in the characters that an engines file allows. */
function nameOf(model: string): string {
  return (
    model
      .replaceAll(/[^a-z0-9._-]+/gi, '-')
      .replace(/^[^a-z0-9]+/i, '')
      .slice(0, 64) || 'llm'
  );
}

/** The connection as an entry of the engine plan. */
export function planConnection({ url, model, key }: LlmConnection): PlannedEngine {
  const settingNames = { baseUrl: 'the URL', model: 'the model', key: 'the key' };
  const settings = { baseUrl: url, model };
  return { name: nameOf(model), kind: adapterKind, settings, key, settingNames, callPolicy: {}, voices: {} };
}

/** Reads the connection of an earlier run, as an engines file. Undefined if there is none. Throws `ConfigError`. */
export function savedConnection(dataDir: string | undefined): EnginesFile | undefined {
  if (dataDir === undefined || !existsSync(fileIn(dataDir))) return undefined;
  return readEnginesFile(fileIn(dataDir));
}

/** Saves the connection, without its key, so that the next start uses it. Undefined forgets it. */
export function saveConnection(dataDir: string, connection: LlmConnection | undefined): void {
  const file = fileIn(dataDir);
  if (connection === undefined) return rmSync(file, { force: true });
  makeDataDir(dataDir);
  const { url, model, key } = connection;
  const keyed = key === undefined ? {} : { apiKeyEnv: keyVariable };
  const engine = { kind: adapterKind, baseUrl: url, model, ...keyed };
  const text = JSON.stringify({ engines: { [nameOf(model)]: engine }, llm: [nameOf(model)] }, null, 2);
  writeFileAtomicSync(file, `${text}\n`);
}

function fileIn(dataDir: string): string {
  return path.join(path.resolve(dataDir), 'connected-llm.json');
}
