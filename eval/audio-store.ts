import { createHash } from 'node:crypto';
import { access, readFile } from 'node:fs/promises';
import path from 'node:path';
import { writeFileAtomic } from '../voices/runtime/write-file-atomic.ts';

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
      await writeFileAtomic(place, wav);
      return name;
    },
    read: (name) => readFile(pathOf(name)),
    pathOf,
  };
}
