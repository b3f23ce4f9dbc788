import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll } from 'vitest';
import { concatSamples } from '../../../voices/audio.ts';
import { openFlite } from '../../../voices/synthesizers/flite.ts';
import { writeWav } from '../../../voices/dsp/wav.ts';
import { writeSmallReaders } from '../../fakes/models/small-models.ts';
import { spoken } from '../../fakes/spoken.ts';
import { dramatis } from '../../rigs/command-rig.ts';

const story = [
  'The weather was fine on the morning that we left the harbour behind us.',
  'Nobody had told the captain that there were only eleven barrels of water.',
  'We saw the lighthouse once more, and then nothing but the open sea.',
  'On the third day the wind turned, and all of us went up on deck.',
];

/**
 * Writes a recording with a sentence by each of the named embedded voices, one second apart. All but `rms` are filtered
 * like a thin microphone, because small encoders detect that difference.
 */
export async function speak(file: string, voices: readonly string[]): Promise<void> {
  const flite = openFlite();
  const parts: Float32Array[] = [];
  for (const [index, id] of voices.entries()) {
    const voice = { kind: 'preset', id } as const;
    const sound = await spoken(story[index] ?? '', { synthesizer: flite, voice, sampleRate: flite.sampleRate });
    parts.push(id === 'rms' ? sound : thin(sound), new Float32Array(flite.sampleRate));
  }
  await flite.close();
  await writeWav(file, concatSamples(parts), flite.sampleRate);
}

function thin(sound: Float32Array): Float32Array {
  return sound.map((value, index) => 2 * (value - 0.97 * (sound[index - 1] ?? 0)));
}

/** A recording of four sentences to add with `dramatis voices`. The folder is deleted after the tests. */
export async function openVoicesRig() {
  const folder = await mkdtemp(path.join(tmpdir(), 'dramatis-voices-command-'));
  afterAll(() => rm(folder, { recursive: true }));
  const file = path.join(folder, 'voyage.wav');
  await speak(file, ['rms', 'rms', 'rms', 'rms']);
  const { modelPath: encoder } = await writeSmallReaders(path.join(folder, 'readers.onnx'));
  /** Arguments of `dramatis voices` on a data folder. */
  const on = (dataDir: string, ...args: readonly string[]) => [...args, '--data-dir', dataDir, '--workers', '1'];
  const adding = (dataDir: string, ...more: readonly string[]) =>
    on(dataDir, 'add', file, '--id', 'sailor', '--consent', 'made for this test', '--json', ...more);
  return {
    folder,
    file,
    /** A small speaker encoder. */
    encoder,
    on,
    adding,
    added: async (dataDir: string, ...more: readonly string[]): Promise<Record<string, unknown>> => {
      const { stdout, stderr, status } = await dramatis('voices', ...adding(dataDir, ...more));
      if (status !== 0) throw new Error(stderr);
      return JSON.parse(stdout) as Record<string, unknown>;
    },
  };
}

/** Files of the voice library on disk, without the time at which consent was recorded. */
export async function keptIn(dataDir: string): Promise<Record<string, string>> {
  const entries = await readdir(dataDir, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile() && !entry.parentPath.endsWith('.locks'));
  const pairs = files.map(async ({ parentPath, name }) => {
    const place = path.join(parentPath, name);
    const text = await readFile(place, name.endsWith('.json') ? 'utf8' : 'base64');
    return [path.relative(dataDir, place), text.replace(/"recordedAt": "[^"]*"/, '')];
  });
  return Object.fromEntries(await Promise.all(pairs)) as Record<string, string>;
}
