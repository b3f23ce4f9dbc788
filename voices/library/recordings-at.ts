import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { AudioFileError } from '../dsp/audio-file.ts';

/** Extensions of audio and video files; other files in a folder are skipped. */
const endings = new Set(
  'wav mp3 flac ogg oga opus m4a m4b aac mp4 m4v mov mkv mka webm avi wma aif aiff aifc caf au w64 amr 3gp ac3 mpg mpeg mts m2ts wv'
    .split(' ')
    .map((ending) => `.${ending}`),
);

/** Recordings at these paths, a folder's by name. Throws an `AudioFileError` for a missing path or an empty folder. */
export async function recordingsAt(paths: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  for (const place of paths) {
    const facts = await stat(place).catch((cause: unknown) => {
      throw new AudioFileError(place, 'audio_file_not_found', 'the file does not exist: check the path', cause);
    });
    const names = facts.isDirectory() ? (await readdir(place)).filter(isRecording).toSorted() : undefined;
    if (names?.length === 0) {
      throw new AudioFileError(place, 'audio_file_not_found', 'this folder contains no recording: name the files');
    }
    found.push(...(names?.map((name) => path.join(place, name)) ?? [place]));
  }
  return found;
}

function isRecording(name: string): boolean {
  return !name.startsWith('.') && endings.has(path.extname(name).toLowerCase());
}
