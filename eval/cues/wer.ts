import { Rechunker, type AudioFrame } from '../../voices/audio.ts';
import type { CallOptions } from '../../voices/engine.ts';
import type { SpeechRecognizer } from '../../voices/recognizer.ts';
import { resample } from '../../voices/dsp/resampler.ts';
import { mean } from '../statistics.ts';
import type { Cue, CueReply } from './cue.ts';
import { wordErrors } from './word-errors.ts';

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
        counts.push(wordErrors(reply.text, await transcribe(reply, recognizer, { ...options, language }), language));
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

async function transcribe(
  { sound }: CueReply,
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
