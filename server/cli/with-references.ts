import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Reference } from '../engines/engines-file.ts';

/** Merges the configured engines file with clips of roles; the merged file is written to `folder`. */
export async function withReferences(
  folder: string,
  { engines, preset }: { readonly engines?: string | undefined; readonly preset?: string | undefined },
  references: Readonly<Record<string, Reference>>,
): Promise<{ readonly engines?: string }> {
  if (Object.keys(references).length === 0) return {};
  const { readEnginesFile } = await import('../engines/engines-file.ts');
  const file = engines === undefined ? undefined : readEnginesFile(engines);
  const chosen = preset === undefined ? {} : { preset };
  const merged = { ...file, ...chosen, references: { ...file?.references, ...references } };
  const place = path.join(folder, 'engines.json');
  await writeFile(place, JSON.stringify(merged));
  return { engines: place };
}
