import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { findPackageJSON } from 'node:module';
import path from 'node:path';
import { isEspeakInstalled } from '../../../voices/synthesizers/espeak.ts';
import { hashOf, type Weights } from '../../../voices/models/weights.ts';

const inside = '/usr/share/espeak-ng-data/';

/**
 * eSpeak NG's own data, unpacked from the package that ships its voice; sherpa-onnx needs it to read English. Undefined
 * if that optional package is not installed.
 */
export async function espeakData(folder: string): Promise<Weights | undefined> {
  if (!isEspeakInstalled()) return undefined;
  const manifest = findPackageJSON('@echogarden/espeak-ng-emscripten', import.meta.url);
  if (manifest === undefined) return undefined;
  const source = await readFile(path.join(path.dirname(manifest), 'espeak-ng.js'), 'utf8');
  const packed = await readFile(path.join(path.dirname(manifest), 'espeak-ng.data'));
  const place = path.join(folder, 'espeak-ng-data');
  for (const [, name = '', start, end] of source.matchAll(/filename:"([^"]+)",start:(\d+),end:(\d+)/g)) {
    // Voices in other languages are not needed.
    if (!name.startsWith(inside) || !/phon|intonations|en_dict|lang\/gmw\/en|voices\/!v/.test(name)) continue;
    const file = path.join(place, name.slice(inside.length));
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, packed.subarray(Number(start), Number(end)));
  }
  return { path: place, sha256: (await hashOf(place)).sha256 };
}
