import { createHash, randomUUID } from 'node:crypto';
import { access, mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';

/** WAV files named by content hash: identical audio is stored once, and a name always matches its content. */
export interface AudioStore {
  /** Stores a WAV and resolves to its name: the first 40 hex digits of its SHA-256. */
  keep(wav: Uint8Array): Promise<string>;
  read(name: string): Promise<Buffer>;
  pathOf(name: string): string;
}

/**
 * Opens a store in a folder, which is created on the first write. Writes are atomic, so a killed process leaves no
 * partial file.
 */
export function openAudioStore(folder: string): AudioStore {
  const pathOf = (name: string): string => path.join(folder, `${name}.wav`);
  return {
    async keep(wav) {
      const name = createHash('sha256').update(wav).digest('hex').slice(0, 40);
      const place = pathOf(name);
      const known = await access(place).then(
        () => true,
        () => false,
      );
      if (known) return name;
      await mkdir(folder, { recursive: true });
      const draft = `${place}.${randomUUID()}.tmp`;
      await writeFile(draft, wav, { flag: 'wx' });
      await rename(draft, place);
      return name;
    },
    read: (name) => readFile(pathOf(name)),
    pathOf,
  };
}
