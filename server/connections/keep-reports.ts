import { mkdirSync, statSync } from 'node:fs';
import { appendFile } from 'node:fs/promises';
import path from 'node:path';
import type { SessionListener } from '../session/contract/events.ts';

/** Larger than this, the file takes no more reports until the operator moves it away. */
const mostBytes = 64 * 2 ** 20;

/** Returns the file in which reports are kept, one JSON object a line. */
export function reportsFile(dataDir: string): string {
  return path.join(dataDir, 'reports', 'reports.jsonl');
}

/** Stores reports of players before they are confirmed; `onLoss` is called if one could not be stored. */
export function keepReports(
  dataDir: string,
  about: Readonly<Record<string, unknown>>,
  onLoss: (fault: unknown) => void,
): SessionListener {
  return {
    async note(event) {
      if (event.type !== 'reported') return;
      const { itemId: item, reason, note, said } = event;
      const line = { at: new Date().toISOString(), ...about, item, reason, note, said };
      const file = reportsFile(dataDir);
      try {
        mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
        if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) > mostBytes)
          throw new Error(`${file} is full. Move it away, so that reports can be stored again.`);
        await appendFile(file, `${JSON.stringify(line)}\n`, { mode: 0o600 });
      } catch (fault) {
        onLoss(fault);
      }
    },
  };
}
