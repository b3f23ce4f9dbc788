import type { ChatModel } from '../../../agents/chat.ts';
import type { SpeechRecognizer, TranscriptPart } from '../../../voices/recognizer.ts';
import type { SpeechSynthesizer } from '../../../voices/synthesizer.ts';

/** A chat model that never gives the same answer twice; `asked` counts the calls. */
export function chanceModel(): ChatModel & { asked: number } {
  return {
    name: 'chance',
    asked: 0,
    async *chat() {
      this.asked += 1;
      for (const word of ['I', ' say', ` ${Math.random().toString(36)}`, ' today.'])
        yield { type: 'text-delta', text: word };
      yield { type: 'chat-end', reason: 'stop', inputTokens: 10, outputTokens: 4 };
    },
  };
}

/** A synthesizer that never makes the same noise twice. */
export function noiseSynthesizer(): SpeechSynthesizer & { spoken: number } {
  return {
    name: 'noise',
    sampleRate: 24_000,
    languages: ['en'],
    spoken: 0,
    async *speak(phrases) {
      let atMs = 0;
      for await (const { text } of phrases) {
        this.spoken += 1;
        for (const half of [text.slice(0, 2), text.slice(2)]) {
          yield { text: half, frame: { samples: noise(2_400), sampleRate: 24_000, atMs }, words: [] };
          atMs += 100;
        }
      }
    },
  };
}

export function noise(samples: number): Float32Array {
  return Float32Array.from({ length: samples }, () => Math.random() - 0.5);
}

/** Hears how long the utterance is; a partial transcript each 100 ms. */
export function countingRecognizer(): SpeechRecognizer & { heard: number } {
  return {
    name: 'counting',
    sampleRate: 16_000,
    languages: ['en'],
    heard: 0,
    async *transcribe(audio): AsyncGenerator<TranscriptPart> {
      this.heard += 1;
      let samples = 0;
      let told = 0;
      for await (const frame of audio) {
        samples += frame.samples.length;
        if (samples - told < 1_600) continue;
        told = samples;
        yield { type: 'transcript-partial', text: `${samples}` };
      }
      yield { type: 'transcript-final', text: `all ${samples}`, confidence: 0.5 };
    },
  };
}
