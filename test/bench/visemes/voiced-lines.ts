import { readCharacters } from '../../../server/cast/cast.ts';
import type { MouthMovement, SpeechSynthesizer, Viseme } from '../../../voices/synthesizer.ts';
import { frameMs, MelFrames } from '../../../voices/visemes/mel-frames.ts';

/** A spoken line with the movement that its engine told. */
export interface VoicedLine {
  readonly text: string;
  readonly samples: Float32Array;
  /** Hertz. */
  readonly sampleRate: number;
  readonly mouth: MouthMovement;
}

/** A voice of an engine; `timbre` is a factor on all frequencies, as of a longer or shorter vocal tract. */
export interface TrainingVoice {
  readonly engine: SpeechSynthesizer;
  readonly id: string;
  readonly pitch?: number;
  readonly timbre?: number;
}

/** English lines of the characters that ship, in turn. Two ranges that do not overlap share no line. */
export async function linesOfCharacters(from: number, to: number): Promise<string[]> {
  const characters = [...(await readCharacters({})).values()];
  const all = Array.from({ length: to }, (_, index) => {
    const { lines: own = [] } = characters[index % characters.length] ?? {};
    return own[Math.floor(index / characters.length)]?.reply ?? '';
  });
  return all.slice(from).filter((line) => /^[\x20-\x7e’“”—…]+$/u.test(line));
}

/** Speaks lines; each phrase is one result. */
export async function* speakLines(
  { engine, id, pitch = 1, timbre = 1 }: TrainingVoice,
  lines: readonly string[],
): AsyncGenerator<VoicedLine> {
  const { signal } = new AbortController();
  async function* phrases(): AsyncGenerator<{ text: string }> {
    for (const text of lines) yield { text };
  }
  const voice = { kind: 'preset', id, pitch } as const;
  for await (const { frame, text, mouth } of engine.speak(phrases(), { signal, voice })) {
    if (mouth === undefined) continue;
    const sampleRate = Math.round((frame.sampleRate * timbre) / 100) * 100;
    const factor = frame.sampleRate / sampleRate;
    yield { text, samples: frame.samples, sampleRate, mouth: slower(mouth, factor) };
  }
}

/** Returns the movement stretched by a factor. */
export function slower({ basis, visemes, phones }: MouthMovement, factor: number): MouthMovement {
  return {
    basis,
    visemes: visemes.map((shape) => ({ ...shape, startMs: shape.startMs * factor })),
    phones: phones.map(({ sound, startMs, endMs }) => ({ sound, startMs: startMs * factor, endMs: endMs * factor })),
  };
}

/** The frames of a line, and the shape in the middle of each. */
export function labelled({ samples, sampleRate, mouth }: VoicedLine): { frames: Float32Array[]; labels: Viseme[] } {
  const frames = new MelFrames(sampleRate).push(samples);
  return { frames, labels: frames.map((_, index) => shapeAt(mouth, (index + 0.5) * frameMs)) };
}

/** The shape at a time. */
export function shapeAt({ visemes }: MouthMovement, ms: number): Viseme {
  return visemes.findLast(({ startMs }) => startMs <= ms)?.viseme ?? 'sil';
}
