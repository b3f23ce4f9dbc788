import { Rechunker, type AudioFrame } from '../../voices/audio.ts';
import type { CallOptions } from '../../voices/engine.ts';
import type { SpeechRecognizer } from '../../voices/recognizer.ts';
import { resample } from '../../voices/dsp/resampler.ts';
import { editDistance, mean } from '../statistics.ts';
import type { Cue } from './cue.ts';

/**
 * Word error rate of an ASR transcript against the reply's text (character error rate in Chinese): does the audio say
 * what the text says?
 */
export function werCue(recognizer: SpeechRecognizer): Cue {
  return {
    name: 'wer',
    units: {
      mean: `word errors by ${recognizer.name}, mean over replies (as Seed-TTS)`,
      corpus: 'the same over all words of the dialogue',
    },
    async measure({ replies, language }, options) {
      if (!recognizer.languages.includes(language)) {
        const why = `${recognizer.name} does not know ${language === 'zh' ? 'Chinese' : 'English'}`;
        return { values: { mean: null, corpus: null }, why };
      }
      const counts: { edits: number; units: number }[] = [];
      for (const reply of replies) {
        if (reply.text.trim() === '') continue;
        counts.push(
          wordErrors(reply.text, await transcribe(reply.sound, recognizer, { ...options, language }), language),
        );
      }
      const units = counts.reduce((sum, count) => sum + count.units, 0);
      const values = {
        mean: mean(counts.filter((count) => count.units > 0).map((count) => count.edits / count.units)),
        corpus: units === 0 ? null : counts.reduce((sum, count) => sum + count.edits, 0) / units,
      };
      return units === 0 ? { values, why: 'the replies have no text' } : { values };
    },
  };
}

/** Resolves to what a recognizer hears in a recording. */
export async function transcribe(
  sound: Pick<AudioFrame, 'samples' | 'sampleRate'>,
  recognizer: SpeechRecognizer,
  options: CallOptions & { readonly language: string },
): Promise<string> {
  const samples = resample(sound.samples, sound.sampleRate, recognizer.sampleRate);
  for await (const part of recognizer.transcribe(frames(samples, recognizer.sampleRate), options)) {
    if (part.type === 'transcript-final') return part.text;
  }
  return '';
}

/** Marks every window as voiced: the recognizer, not a VAD, has to find the pauses. */
async function* frames(samples: Float32Array, sampleRate: number): AsyncIterable<AudioFrame> {
  const windowSamples = Math.round(sampleRate * 0.032);
  const rechunker = new Rechunker(windowSamples);
  const windows = [...rechunker.push(samples), rechunker.flush()];
  for (const [at, window] of windows.entries()) yield { samples: window, sampleRate, atMs: at * 32, voiced: true };
}

/** Edit distance between a transcript and the text that should have been spoken. */
export interface WordErrors {
  /** Substitutions, insertions and deletions, in units: words in English, characters in Chinese. */
  readonly edits: number;
  readonly units: number;
}

/**
 * Counts errors as Seed-TTS-eval does: removes punctuation except the apostrophe; English in lower case, by words;
 * Chinese by characters. (Seed-TTS-eval also maps traditional characters to simplified ones first, which is not done
 * here.)
 */
export function wordErrors(said: string, heard: string, language: 'en' | 'zh'): WordErrors {
  const [wanted, found] = [unitsOf(said, language), unitsOf(heard, language)];
  return { edits: editDistance(wanted, found), units: wanted.length };
}

function unitsOf(text: string, language: 'en' | 'zh'): string[] {
  const plain = text
    .normalize('NFKC')
    .replaceAll('’', "'")
    .replaceAll(/[^\p{L}\p{N}\p{M}'\s]/gu, language === 'zh' ? '' : ' ')
    .toLowerCase();
  return language === 'zh' ? (plain.match(/\S/gu) ?? []) : plain.split(/\s+/).filter((word) => word !== '');
}
