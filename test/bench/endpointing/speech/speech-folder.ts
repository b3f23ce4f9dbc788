import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** One recording of one turn: a speaker says something and is done. */
export interface SpokenTurn {
  /** Name of its set: the folder with the lists. */
  readonly set: string;
  readonly id: string;
  readonly speaker: string;
  readonly file: string;
  /** `tuned`: weights may be fitted on it. No speaker is in both halves. */
  readonly half: 'tuned' | 'held-out';
  /** Whether the recording is a whole turn; an excerpt from a longer one has only pauses. */
  readonly ends: boolean;
}

/**
 * Reads a folder of real speech, see `SOURCES.md`: each folder in it with a `wav.scp` (`ID PATH`, relative to the folder
 * or to the one above) is a set, in Kaldi's format. `utt2spk` (`ID SPEAKER`) may be missing: then each recording counts as a speaker.
 * A set whose name begins with `train` is tuned on, all others are held out; one whose name ends with `excerpts` is cut
 * from longer speech, anywhere, so that its ends are none. At most `mostOfSpeaker` recordings of a speaker.
 */
export function readSpeechFolder(directory: string, mostOfSpeaker = Infinity): SpokenTurn[] {
  const sets = readdirSync(directory, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && existsSync(path.join(directory, entry.name, 'wav.scp')))
    .map(({ name }) => name)
    .toSorted();
  return sets.flatMap((set) => readSet(directory, set, mostOfSpeaker));
}

function readSet(directory: string, set: string, mostOfSpeaker: number): SpokenTurn[] {
  const speakers = readList(path.join(directory, set, 'utt2spk'));
  const taken = new Map<string, number>();
  const turns: SpokenTurn[] = [];
  for (const [id, place] of readList(path.join(directory, set, 'wav.scp'))) {
    const speaker = speakers.get(id) ?? id;
    const count = (taken.get(speaker) ?? 0) + 1;
    taken.set(speaker, count);
    if (count > mostOfSpeaker) continue;
    const beside = path.resolve(directory, set, place);
    const file = existsSync(beside) ? beside : path.resolve(directory, place);
    const half = set.startsWith('train') ? 'tuned' : 'held-out';
    turns.push({ set, id, speaker, file, half, ends: !set.endsWith('excerpts') });
  }
  return turns;
}

function readList(file: string): Map<string, string> {
  if (!existsSync(file)) return new Map();
  const lines = readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line.trim() !== '');
  return new Map(
    lines.map((line) => {
      const [id = '', ...rest] = line.trim().split(/\s+/u);
      return [id, rest.join(' ')];
    }),
  );
}
