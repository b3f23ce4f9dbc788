import { readdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import type { z } from 'zod';
import { takeProcessLock } from '../runtime/process-lock.ts';
import { draftEnding, writeFileAtomic } from '../runtime/files.ts';
import { sourceSchema, VoiceError, voiceIdSchema, voiceSchema, type VoiceRecord, type VoiceSource } from './record.ts';

/** The voices of one data folder. Files are renamed into place, so that a kill leaves either the old or the new one. */
export interface VoiceStore {
  /** Ids, sorted. Folders without a record are skipped. */
  list(): Promise<string[]>;
  /** Throws `voice_not_found`, or `voice_invalid` if the record does not match its schema. */
  read(id: string): Promise<VoiceRecord>;
  has(id: string): Promise<boolean>;
  write(record: VoiceRecord): Promise<void>;
  /** Locks out other processes that add or remove, and deletes files left by a killed one. Throws `voice_in_use`. */
  lock(id: string): Promise<Disposable>;
  /** Removes the voice with its clips. Throws `voice_not_found`. */
  remove(id: string): Promise<void>;
  /** Recordings of a voice, sorted by name. */
  sources(id: string): Promise<VoiceSource[]>;
  readSource(id: string, sha256: string): Promise<VoiceSource | undefined>;
  writeSource(id: string, source: VoiceSource): Promise<void>;
  /** Writes a clip atomically. */
  writeClip(id: string, file: string, wav: Uint8Array): Promise<void>;
  /** Path of a file of a voice. */
  place(id: string, file: string): string;
}

/** Opens the store in a data folder; creates nothing before the first write. */
export function openVoiceStore(dataDir: string): VoiceStore {
  const root = path.join(dataDir, 'voices');
  const folderOf = (id: string): string => path.join(root, checkedId(id));
  const recordOf = (id: string): string => path.join(folderOf(id), 'voice.json');
  const sourcesOf = (id: string): string => path.join(folderOf(id), 'sources');
  const sourceOf = (id: string, sha256: string): string => path.join(sourcesOf(id), `${sha256.slice(0, 32)}.json`);
  const has = async (id: string): Promise<boolean> => (await textAt(recordOf(id))) !== undefined;
  const store: VoiceStore = {
    async list() {
      const names = await namesIn(root);
      const ids = names.filter((name) => voiceIdSchema.safeParse(name).success);
      const known = await Promise.all(ids.map(has));
      return ids.filter((_, index) => known[index]).toSorted();
    },
    async read(id) {
      const text = await textAt(recordOf(id));
      if (text !== undefined) return parse(voiceSchema, text, recordOf(id));
      throw new VoiceError('voice_not_found', `There is no voice "${id}". \`dramatis voices list\` lists them.`);
    },
    has,
    write: (record) => writeJson(recordOf(record.id), record),
    async lock(id) {
      const lock = await takeProcessLock(path.join(root, '.locks', checkedId(id)), (holder) => {
        const detail = `${holder} is using the voice "${id}". Wait for it to finish, or stop it.`;
        return new VoiceError('voice_in_use', detail);
      });
      // Temporary files left by processes that were killed while writing.
      const files = await readdir(folderOf(id), { recursive: true }).catch(() => []);
      const drafts = files.filter((file) => file.endsWith(draftEnding));
      await Promise.all(drafts.map((draft) => rm(path.join(folderOf(id), draft), { force: true })));
      return lock;
    },
    async remove(id) {
      await store.read(id).catch((cause: unknown) => {
        if (cause instanceof VoiceError && cause.code === 'voice_not_found') throw cause;
      });
      await rm(folderOf(id), { recursive: true, force: true });
    },
    async sources(id) {
      const files = (await namesIn(sourcesOf(id))).filter((name) => name.endsWith('.json'));
      const sources = await Promise.all(files.map((file) => store.readSource(id, file.replace('.json', ''))));
      return sources.filter((source) => source !== undefined).toSorted((a, b) => (a.name < b.name ? -1 : 1));
    },
    async readSource(id, sha256) {
      const file = sourceOf(id, sha256);
      const text = await textAt(file);
      return text === undefined ? undefined : parse(sourceSchema, text, file);
    },
    writeSource: (id, source) => writeJson(sourceOf(id, source.sha256), source),
    writeClip: (id, file, wav) => writeFileAtomic(path.join(folderOf(id), file), wav, 0o600),
    place: (id, file) => path.join(folderOf(id), file),
  };
  return store;
}

function checkedId(id: string): string {
  if (voiceIdSchema.safeParse(id).success) return id;
  throw new VoiceError('voice_invalid', `"${id}" is not a valid voice name. Use lower-case words joined by hyphens.`);
}

async function namesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch(() => []);
}

async function textAt(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return undefined;
    throw new VoiceError('voice_invalid', `${file} cannot be read: check its permissions.`, cause);
  }
}

function parse<Schema extends z.ZodType>(schema: Schema, text: string, file: string): z.infer<Schema> {
  try {
    return schema.parse(JSON.parse(text));
  } catch (cause) {
    throw new VoiceError('voice_invalid', `${file} is damaged. Remove it, and add the voice again.`, cause);
  }
}

async function writeJson(file: string, value: unknown): Promise<void> {
  await writeFileAtomic(file, `${JSON.stringify(value, undefined, 1)}\n`, 0o600);
}
