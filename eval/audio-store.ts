import { createHash, randomUUID } from 'node:crypto';
import { access, mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';

/** WAV files by the hash of their content, so that the same sound is kept once and a name never lies. */
export interface AudioStore {
  /** Keeps a WAV and resolves to its name: the first 40 hex digits of its SHA-256. */
  keep(wav: Uint8Array): Promise<string>;
  read(name: string): Promise<Buffer>;
  pathOf(name: string): string;
}

/** Opens a store in a folder, which is made when the first sound comes. Safe against being killed: a file is whole or absent. */
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
