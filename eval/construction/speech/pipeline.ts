import { copyFile, link, mkdir, readFile, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { readWav } from '../../../voices/dsp/wav.ts';
import type { CallOptions } from '../../../voices/engine.ts';
import type { Voice } from '../../../voices/synthesizer.ts';
import type { Endpoint } from '../../limits.ts';
import { openAudioStore, type AudioStore } from '../../run-folder.ts';
import { conversationsOf } from '../exports/conversation.ts';
import { formats } from '../exports/formats.ts';
import { reviewedDialoguesIn } from '../records/decisions.ts';
import { partsOf, type Dialogue, type Turn } from '../records/dialogue.ts';
import type { DataRecord, OutputRow, Pipeline, Stage, StageContext } from '../runner/stage.ts';
import type { SpeechStudio } from './studio.ts';
import { faultsOf, measureLine, speakLine, type Bounds, type Line, type Measures } from './take.ts';

export interface SpeechOptions {
  /** Folder of a build. */
  readonly input: string;
  readonly studio: SpeechStudio;
  readonly endpoint: Endpoint;
  readonly bounds: Bounds;
  /** Times that a recording with a fault is made again. */
  readonly retakes: number;
  /** Recordings of each answer in the test data: 3 in the released data. */
  readonly references: number;
}

/** A recording that was chosen, for `recordings.jsonl`. */
export interface Recording extends Measures {
  /** Relative to the folder of the build. */
  readonly file: string;
  readonly dialogue: string;
  readonly speaker: string;
  readonly side: 'user' | 'role';
  readonly language: 'en' | 'zh';
  readonly text: string;
  readonly engine: string;
  /** Recordings that were made until this one. */
  readonly takes: number;
  readonly faults: readonly string[];
}

interface SpokenDialogue extends DataRecord {
  readonly dialogue: Dialogue;
  /** Place and beginning of the names of its recordings. */
  readonly stem: string;
  readonly recordings: readonly Recording[];
}

/** SpeechRole-Data: every line of a build's dialogues, spoken and measured. */
export function speechPipeline(options: SpeechOptions): Pipeline {
  return {
    name: 'speech',
    command: 'data speak',
    about: 'Dialogues with recordings of both sides, measured, after SpeechRole-Data.',
    records: () => spokenIn(options.input),
    stages: [speakStage(options)],
    rows: (record) => rowsOf(record as SpokenDialogue),
  };
}

async function* spokenIn(input: string): AsyncGenerator<SpokenDialogue> {
  const counts = new Map<string, number>();
  for await (const dialogue of reviewedDialoguesIn(input)) {
    const { split, mode, key } = dialogue.labels ?? {};
    const folder = [typeof split === 'string' ? split : 'train', ...(typeof mode === 'string' ? [mode] : [])].join('_');
    const name = (typeof key === 'string' ? key : dialogue.source).replaceAll(/[/\\:]/g, '-');
    const place = `speech/${folder}/${name}`;
    const index = counts.get(place) ?? 0;
    counts.set(place, index + 1);
    const provenance = dialogue.provenance ?? { stage: 'input', sources: [], models: [], promptHashes: [] };
    yield { id: dialogue.id, dialogue, stem: `${place}/${name}_${index}`, recordings: [], provenance };
  }
}

/** Embeddings of the clips that are cloned, each made once; undefined for other voices. */
type Clips = (voice: Voice, options: CallOptions) => Promise<Float32Array> | undefined;

function clipsOf({ encoder }: SpeechStudio): Clips {
  const clips = new Map<string, Promise<Float32Array>>();
  return (voice, options) => {
    if (voice.kind !== 'reference' || encoder === undefined) return undefined;
    const known = clips.get(voice.wavPath) ?? readWav(voice.wavPath).then((sound) => encoder.embed(sound, options));
    known.catch(() => clips.delete(voice.wavPath));
    clips.set(voice.wavPath, known);
    return known;
  };
}

/** A line in a dialogue, and the name of its recording. */
type Place = Pick<Recording, 'speaker' | 'side' | 'dialogue' | 'file'> & { readonly key: string };

/** Speaks a line until a take is good, and gives the best take its name. */
async function recordLine(
  line: Line,
  place: Place,
  {
    options,
    clips,
    context,
  }: { readonly options: SpeechOptions; readonly clips: Clips; readonly context: StageContext },
): Promise<Recording> {
  const { studio, endpoint, retakes, bounds } = options;
  const { signal } = context;
  const store = openAudioStore(path.join(context.folder, 'takes'));
  const voiced = studio.voiceOf({ name: place.speaker, key: place.key });
  const { synthesizer, voice } = voiced;
  const part = path.basename(place.file, '.wav');
  const measuredBy = [studio.recognizer, studio.meter, studio.encoder].map((each) => each?.name ?? '').join(' ');
  let best: Take | undefined;
  let takes = 0;
  const sounds = new Set<string>();
  for (; takes <= retakes && best?.faults.length !== 0; takes += 1) {
    const sound = await context.once({
      part,
      attempt: `${takes}`,
      by: synthesizer.name,
      input: [line, voice],
      isKept: (kept: string) => isThere(store.pathOf(kept)),
      make: () =>
        endpoint.call(async (call) => store.keep(await speakLine(line, voiced, call)), {
          signal,
          throwIfStopped: () => signal.throwIfAborted(),
        }),
    });
    if (sounds.has(sound)) {
      // An engine without chance makes the same sound each time.
      context.count('a retake was the same sound');
      break;
    }
    sounds.add(sound);
    const measures = await context.once({
      part,
      attempt: `${takes}-measured`,
      by: measuredBy,
      input: [line, sound, voice],
      make: async () =>
        measureLine(await store.read(sound), line, { ...studio, clip: clips(voice, { signal }) }, { signal }),
    });
    const faults = faultsOf(measures, line, bounds);
    for (const fault of faults) context.count(`a take was ${fault}`);
    if (best === undefined || isBetter({ ...measures, faults }, best)) best = { ...measures, sound, faults };
  }
  if (best === undefined) throw new Error('no take was made');
  const { sound, ...measured } = best;
  await keepAs(store, sound, path.join(context.folder, place.file));
  const { file, dialogue, speaker, side } = place;
  return { file, dialogue, speaker, side, ...line, engine: synthesizer.name, takes, ...measured };
}

/** Names follow the released scripts: `KEY_DIALOGUE_TURN_SIDE.wav`, counted from 0. */
function speakStage(options: SpeechOptions): Stage<SpokenDialogue, SpokenDialogue> {
  const clips = clipsOf(options.studio);
  return {
    name: 'speak',
    async run([spoken], context) {
      if (spoken === undefined) return [];
      const { dialogue, stem } = spoken;
      const { labels, language } = dialogue;
      const recordings: Recording[] = [];
      const turns: Turn[] = [];
      const counts = { user: 0, role: 0 };
      for (const turn of dialogue.turns) {
        const side = turn.kind === 'user' ? 'user' : 'role';
        const { text } = partsOf(turn.text);
        if (turn.kind === 'environment' || !/[\p{L}\p{N}]/u.test(text)) {
          context.count('a line has nothing to say');
          turns.push(turn);
          continue;
        }
        const name = `${stem}_${counts[side]}_${side}`;
        counts[side] += 1;
        const count = side === 'role' && labels?.['split'] === 'test' ? options.references : 1;
        const key = typeof labels?.['key'] === 'string' && side === 'role' ? labels['key'] : turn.speaker;
        const files: string[] = [];
        for (let reference = 1; reference <= count; reference += 1) {
          const file = `${name}${reference === 1 ? '' : reference}.wav`;
          const place = { speaker: turn.speaker, side, dialogue: dialogue.id, file, key } as const;
          recordings.push(await recordLine({ text, language }, place, { options, clips, context }));
          files.push(file);
        }
        const [audio = '', ...more] = files;
        turns.push({ ...turn, audio, ...(more.length === 0 ? {} : { moreAudio: more }) });
      }
      return [{ ...spoken, dialogue: { ...dialogue, turns }, recordings }];
    },
  };
}

interface Take extends Measures {
  /** Name in the store of takes. */
  readonly sound: string;
  readonly faults: readonly string[];
}

function isBetter(one: Omit<Take, 'sound'>, other: Take): boolean {
  if (one.faults.length !== other.faults.length) return one.faults.length < other.faults.length;
  const rate = ({ errors }: Measures): number => (errors === null ? 0 : errors.edits / errors.units);
  return rate(one) < rate(other);
}

async function isThere(file: string): Promise<boolean> {
  return (await stat(file).catch(() => undefined))?.isFile() === true;
}

/** Gives a take its final name, without a second copy where the disk can do so. */
async function keepAs(store: AudioStore, sound: string, file: string): Promise<void> {
  await mkdir(path.dirname(file), { recursive: true });
  const source = store.pathOf(sound);
  const [wanted, found] = await Promise.all([stat(source), stat(file).catch(() => undefined)]);
  if (found?.size === wanted.size && (await readFile(file)).equals(await readFile(source))) return;
  await rm(file, { force: true });
  await link(source, file).catch(() => copyFile(source, file));
}

function rowsOf({ dialogue, recordings, provenance }: SpokenDialogue): readonly OutputRow[] {
  const made = { ...dialogue, provenance: provenance as Dialogue['provenance'] };
  const released = conversationsOf(made).flatMap((conversation) =>
    formats.speechrole(conversation, { tags: ['human', 'gpt'], turns: 'all' }),
  );
  return [
    { file: 'dialogues.jsonl', value: made },
    ...(dialogue.labels?.['mode'] === undefined ? [] : released.map((row) => ({ ...row, isItem: true }))),
    ...recordings.map((value) => ({ file: 'recordings.jsonl', value })),
    ...recordings.filter(({ faults }) => faults.length > 0).map((value) => ({ file: 'faulty.jsonl', value })),
  ];
}
