import { concatSamples, durationMs } from '../../../voices/audio.ts';
import { readWav, wavBytes } from '../../../voices/dsp/wav.ts';
import { EngineError, type CallOptions } from '../../../voices/engine.ts';
import { cosine, type SpeakerEncoder } from '../../../voices/speaker-encoder.ts';
import type { SpeechSynthesizer, Voice } from '../../../voices/synthesizer.ts';
import { phrases } from '../../../voices/text/phrases.ts';
import { transcribe, wordErrors, type WordErrors } from '../../cues/wer.ts';
import type { SpeechStudio } from './studio.ts';

/** Text to be spoken. */
export interface Line {
  readonly text: string;
  readonly language: 'en' | 'zh';
}

/** Measurements of a recording; null where no engine could make them. */
export interface Measures {
  readonly seconds: number;
  readonly heard: string | null;
  /** Words that were heard wrongly (characters in Chinese). */
  readonly errors: WordErrors | null;
  /** DNSMOS P.835, overall, 1 to 5. */
  readonly dnsmos: number | null;
  /** Cosine to the reference clip of the voice, -1 to 1. */
  readonly similarity: number | null;
}

/** Bounds of a good recording. */
export interface Bounds {
  /** Greatest word error rate (character error rate in Chinese). */
  readonly mostErrors: number;
  readonly leastQuality: number;
  readonly leastSimilarity: number;
}

/** Speaks a whole line: all pieces that the engine makes of it, joined. Throws `EngineError` if there is no sound. */
export async function speakLine(
  { text, language }: Line,
  { synthesizer, voice }: { readonly synthesizer: SpeechSynthesizer; readonly voice: Voice },
  { signal }: CallOptions,
): Promise<Buffer> {
  const pieces = phrases(
    (async function* () {
      yield text;
    })(),
  );
  async function* spoken(): AsyncIterable<{ text: string }> {
    for await (const piece of pieces) yield { text: piece };
  }
  const blocks: Float32Array[] = [];
  for await (const { frame } of synthesizer.speak(spoken(), { signal, voice, language })) blocks.push(frame.samples);
  const samples = concatSamples(blocks);
  if (samples.length === 0)
    throw new EngineError(synthesizer.name, 'ENGINE_BAD_REPLY', 'it returned no audio for a text');
  return wavBytes(samples, synthesizer.sampleRate);
}

/** Measures a recording of a line. */
export async function measureLine(
  wav: Buffer,
  { text, language }: Line,
  { recognizer, meter, encoder, clip }: SpeechStudio & { readonly clip: Promise<Float32Array> | undefined },
  { signal }: CallOptions,
): Promise<Measures> {
  const sound = await readWav(wav);
  const isKnown = recognizer.languages.includes(language);
  const heard = isKnown ? await transcribe(sound, recognizer, { signal, language }) : null;
  const errors = heard === null ? null : wordErrors(text, heard, language);
  const quality = await meter?.rate(sound, { signal });
  const own = encoder === undefined || clip === undefined ? undefined : await embedded(sound, encoder, { signal });
  return {
    seconds: round(durationMs(sound) / 1000),
    heard,
    errors: errors === null || errors.units === 0 ? null : errors,
    dnsmos: quality === undefined ? null : round(quality.overall),
    similarity: own === undefined || clip === undefined ? null : round(cosine(own, await clip)),
  };
}

/** Embedding of a sound; undefined if it is too short for the encoder. */
async function embedded(
  sound: Parameters<SpeakerEncoder['embed']>[0],
  encoder: SpeakerEncoder,
  options: CallOptions,
): Promise<Float32Array | undefined> {
  try {
    return await encoder.embed(sound, options);
  } catch (fault) {
    if (fault instanceof EngineError && fault.code === 'ENGINE_REFUSED') return undefined;
    throw fault;
  }
}

/**
 * Seconds that a word of English, or a character of Chinese, may take: from 480 words a minute to 40, and a pause. What
 * lies outside was cut off, or continues after the text.
 */
const pace = { en: { least: 0.125, most: 1.5 }, zh: { least: 0.08, most: 1 } } as const;
const pauseSeconds = 2;

/** Faults of a recording, in words; none if it is good. A value that was not measured does not count as a fault. */
export function faultsOf(
  { seconds, errors, dnsmos, similarity }: Measures,
  { text, language }: Line,
  bounds: Bounds,
): readonly string[] {
  const { units } = wordErrors(text, '', language);
  return [
    ...(seconds < units * pace[language].least ? ['too short for its text'] : []),
    ...(seconds > units * pace[language].most + pauseSeconds ? ['too long for its text'] : []),
    ...(errors !== null && errors.edits / errors.units > bounds.mostErrors ? ['heard as another text'] : []),
    ...(dnsmos !== null && dnsmos < bounds.leastQuality ? ['of poor quality'] : []),
    ...(similarity !== null && similarity < bounds.leastSimilarity ? ['in another voice'] : []),
  ];
}

function round(value: number): number {
  return Math.round(value * 1e4) / 1e4;
}
