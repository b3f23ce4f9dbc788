import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { concatSamples } from '../../../voices/audio.ts';
import { wavBytes } from '../../../voices/dsp/wav.ts';
import { writeFileAtomic } from '../../../voices/runtime/files.ts';
import { openEmbeddedVoices } from '../../../voices/synthesizers/embedded.ts';

/** A text that the synthetic voice of the probes speaks. */
export interface SpokenLine {
  readonly text: string;
  readonly language: 'en' | 'zh';
  /** High and fast. */
  readonly isGiddy?: boolean;
}

/** Speech for probes of words and feelings, in files. */
export interface ProbeSpeech {
  /** Place of a line's recording, whether or not it exists. */
  pathOf(line: SpokenLine): string;
  /** Speaks a line unless its recording exists, and resolves to the place. */
  speak(line: SpokenLine, signal: AbortSignal): Promise<string>;
  close(): Promise<void>;
}

const giddy = { pitch: 1.7, rate: 1.4 };

/** Opens the embedded voices. */
export function openProbeSpeech(folder: string): ProbeSpeech {
  const voices = openEmbeddedVoices({ sampleRate: 16_000 });
  /** Recordings in the making; several dialogues may need the same. */
  const making = new Map<string, Promise<string>>();
  const pathOf = ({ text, language, isGiddy = false }: SpokenLine): string => {
    const hash = createHash('sha256')
      .update(JSON.stringify([text, language, isGiddy]))
      .digest('hex');
    return path.join(folder, `${hash.slice(0, 24)}.wav`);
  };
  const record = async (line: SpokenLine, place: string, signal: AbortSignal): Promise<string> => {
    const change = line.isGiddy === true ? giddy : {};
    const { synthesizer, voice } = voices.forCharacter({
      flite: { id: 'rms', ...change },
      espeak: { id: 'cmn', ...change },
    });
    const phrases = (async function* () {
      yield { text: line.text };
    })();
    const chunks = await Array.fromAsync(synthesizer.speak(phrases, { signal, voice, language: line.language }));
    const samples = concatSamples(chunks.map(({ frame }) => frame.samples));
    await mkdir(folder, { recursive: true });
    await writeFileAtomic(place, await wavBytes(samples, synthesizer.sampleRate));
    return place;
  };
  return {
    pathOf,
    speak(line, signal) {
      const place = pathOf(line);
      const known = making.get(place) ?? (existsSync(place) ? Promise.resolve(place) : record(line, place, signal));
      making.set(place, known);
      known.catch(() => making.delete(place));
      return known;
    },
    close: () => voices.close(),
  };
}
