import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { runData } from '../../eval/construction/cli/data.ts';
import type { DataHost } from '../../eval/construction/cli/host.ts';
import { slugOf } from '../../characters/slug.ts';
import { readConfig } from '../config/config.ts';
import { interruptSignal } from '../terminal/interrupt.ts';
import { noteLine, printLine } from '../terminal/text.ts';
import { jobsHost } from './jobs-host.ts';
import { withReferences } from './with-references.ts';

/** `dramatis data …`: gives the construction of data sets a terminal, and engines that speak and hear. */
export function run(args: string[]): Promise<number> {
  return runData(args, {
    signal: interruptSignal(),
    environment: process.env,
    print: (text) => printLine(text),
    note: (text) => noteLine(text),
    openStudio,
    jobs: jobsHost,
  });
}

/**
 * Opens the configured engines. A speaker has the voice that was asked for, otherwise that of the character of the same
 * name, otherwise one by gender: female for the user.
 */
async function openStudio({
  settings,
  voices,
  references,
}: Parameters<DataHost['openStudio']>[0]): ReturnType<DataHost['openStudio']> {
  // Imported lazily: most commands need no engines.
  const [{ openEngines }, { openMeter }, { readCharacters }] = await Promise.all([
    import('../engines/engines.ts'),
    import('../engines/voice-models.ts'),
    import('../cast/cast.ts'),
  ]);
  const signal = interruptSignal();
  const plain = readConfig({ flags: settings, environment: process.env });
  const folder = await mkdtemp(path.join(tmpdir(), 'dramatis-data-'));
  try {
    const config = { ...plain, ...(await withReferences(folder, plain, references)) };
    const characters = new Map([...(await readCharacters(config)).values()].map((each) => [each.name, each]));
    const engines = await openEngines(config);
    const meter = await openMeter(config, { signal }).catch(async (fault: unknown) => {
      await engines.close();
      throw fault;
    });
    return {
      vad: engines.vad,
      recognizer: engines.recognizer,
      meter,
      encoder: engines.speakerEncoder,
      voiceOf({ name, key }) {
        const known = characters.get(name);
        const asked = voices[name] ?? voices[key] ?? (known === undefined ? voices['*'] : undefined);
        const { gender = name === 'User' ? 'female' : 'neutral', description = '' } = { ...known?.voice, ...asked };
        return engines.voiceOf({
          id: known?.id ?? slugOf(key),
          voice: { ...known?.voice, ...asked, gender, description },
          speech: known?.speech ?? { pace: 1, pronunciations: {} },
        });
      },
      async close() {
        await Promise.all([meter?.close(), engines.close()]);
      },
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
