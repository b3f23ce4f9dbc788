import { durationMs } from '../../../voices/audio.ts';
import type { MouthMovement, SpeechChunk, SpeechSynthesizer, TimedPhone } from '../../../voices/synthesizer.ts';
import { openAligner, type Aligner } from '../../../voices/visemes/aligner.ts';
import { openEmbeddedVoices } from '../../../voices/synthesizers/embedded.ts';
import { visemesOf } from '../../../voices/visemes/visemes-of-phones.ts';
import { frameMs } from '../../../voices/visemes/mel-frames.ts';
import { shapeAt, type VoicedLine } from './voiced-lines.ts';

/** How well the movement of lines was found, against what their engine told. */
export interface AlignmentFigures {
  /** Distance of each sound's onset from the nearest one of the same sound that was told, in milliseconds. */
  readonly onsetsMs: readonly number[];
  /** The same for shapes: engines name some sounds differently, and only shapes are seen. */
  readonly shapesMs: readonly number[];
  /** The same for closed lips. */
  readonly closuresMs: readonly number[];
  /** Frames of 10 ms with the right shape, and all. */
  readonly right: number;
  readonly frames: number;
}

/** Opens the aligner of the server: the reference is `rms` in English, eSpeak NG otherwise. */
export function openBenchAligner(): Aligner {
  return openAligner(() => {
    const voices = openEmbeddedVoices({ sampleRate: 16_000 });
    return {
      ...voices.forCharacter({ flite: { id: 'rms' }, espeak: { id: 'en' } }),
      close: () => voices.close(),
    };
  });
}

/** Compares what was told with the truth. */
export function figuresOf(told: Pick<MouthMovement, 'visemes' | 'phones'>, line: VoicedLine): AlignmentFigures {
  const { mouth } = line;
  const lengthMs = (line.samples.length / line.sampleRate) * 1000;
  const onsetsMs = mouth.phones
    .filter(({ sound }) => sound !== '')
    .map(({ sound, startMs }) =>
      nearest(
        startMs,
        told.phones.filter((phone) => phone.sound === sound),
      ),
    );
  const shapesMs = mouth.visemes
    .filter(({ viseme }) => viseme !== 'sil')
    .map(({ viseme, startMs }) =>
      nearest(
        startMs,
        told.visemes.filter((shape) => shape.viseme === viseme),
      ),
    );
  const closures = told.visemes.filter(({ viseme }) => viseme === 'PP');
  const closuresMs = mouth.visemes
    .filter(({ viseme }) => viseme === 'PP')
    .map(({ startMs }) => nearest(startMs, closures));
  const frames = Math.floor(lengthMs / frameMs);
  const middles = Array.from({ length: frames }, (_, index) => (index + 0.5) * frameMs);
  const right = middles.filter((ms) => shapeAt({ ...mouth, ...told }, ms) === shapeAt(mouth, ms)).length;
  return { onsetsMs, shapesMs, closuresMs, right, frames };
}

function nearest(ms: number, to: readonly { readonly startMs: number }[]): number {
  return to.reduce((least, { startMs }) => Math.min(least, Math.abs(startMs - ms)), Infinity);
}

/** Joins the figures of several lines. */
export function together(figures: readonly AlignmentFigures[]): AlignmentFigures {
  return {
    onsetsMs: figures.flatMap(({ onsetsMs }) => onsetsMs),
    shapesMs: figures.flatMap(({ shapesMs }) => shapesMs),
    closuresMs: figures.flatMap(({ closuresMs }) => closuresMs),
    right: figures.reduce((sum, { right }) => sum + right, 0),
    frames: figures.reduce((sum, { frames }) => sum + frames, 0),
  };
}

/** The baseline: the sounds of a reference, stretched evenly over the line. */
export function stretchedEvenly(reference: VoicedLine, line: VoicedLine): Pick<MouthMovement, 'visemes' | 'phones'> {
  const lengthOf = ({ samples, sampleRate }: VoicedLine): number => samples.length / sampleRate;
  const factor = lengthOf(line) / lengthOf(reference);
  const phones = reference.mouth.phones.map(({ sound, startMs, endMs }) => ({
    sound,
    startMs: startMs * factor,
    endMs: endMs * factor,
  }));
  return { phones, visemes: visemesOf(phones) };
}

/** A line as an engine sends it that tells no sounds: in pieces, with estimated words or the times of its words. */
export function silentEngine(
  { samples, sampleRate, text }: Pick<VoicedLine, 'samples' | 'sampleRate' | 'text'>,
  pieceMs: number,
  pace: (ms: number) => Promise<void> = async () => undefined,
): (phrases: AsyncIterable<unknown>) => AsyncIterable<SpeechChunk> {
  return async function* speak(phrases) {
    for await (const _ of phrases) {
      const size = Math.round((pieceMs / 1000) * sampleRate);
      for (let at = 0; at < samples.length; at += size) {
        await pace(pieceMs);
        const frame = { samples: samples.slice(at, at + size), sampleRate, atMs: (at / sampleRate) * 1000 };
        yield { frame, text: at === 0 ? text : '', words: [] };
      }
    }
  };
}

/** Joins the movement of chunks that follow each other. */
export function joinedMouth(chunks: readonly SpeechChunk[]): Pick<MouthMovement, 'visemes'> & { phones: TimedPhone[] } {
  let startMs = 0;
  const parts = chunks.map(({ frame, mouth }) => {
    const atMs = startMs;
    startMs += durationMs(frame);
    return {
      visemes: (mouth?.visemes ?? []).map((shape) => ({ ...shape, startMs: shape.startMs + atMs })),
      phones: (mouth?.phones ?? []).map((phone) => ({
        ...phone,
        startMs: phone.startMs + atMs,
        endMs: phone.endMs + atMs,
      })),
    };
  });
  return { visemes: parts.flatMap(({ visemes }) => visemes), phones: parts.flatMap(({ phones }) => phones) };
}

/** Speaks one line by an engine that tells its sounds; undefined if it is not one chunk. */
export async function voiced(
  engine: SpeechSynthesizer,
  id: string,
  text: string,
  rate = 1,
): Promise<VoicedLine | undefined> {
  async function* phrases(): AsyncGenerator<{ text: string }> {
    yield { text };
  }
  const { signal } = new AbortController();
  const chunks = await Array.fromAsync(engine.speak(phrases(), { signal, voice: { kind: 'preset', id, rate } }));
  const [chunk] = chunks;
  if (chunk?.mouth === undefined || chunks.length > 1) return undefined;
  const { samples, sampleRate } = chunk.frame;
  return { text, samples, sampleRate, mouth: chunk.mouth };
}
