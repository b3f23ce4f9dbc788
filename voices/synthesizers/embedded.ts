import type { CallOptions } from '../engine.ts';
import type { EngineLoad } from '../runtime/worker-pool.ts';
import type { PresetVoice, SpeechSynthesizer, Voice } from '../synthesizer.ts';
import { byLanguage } from './by-language.ts';
import { isEspeakInstalled, openEspeak } from './espeak.ts';
import { openFlite } from './flite.ts';

/** Voice of a character on each embedded engine; absent ones are chosen by gender. */
export interface EmbeddedVoice {
  readonly gender?: 'female' | 'male' | 'neutral' | undefined;
  readonly flite?: EmbeddedPreset | undefined;
  readonly espeak?: EmbeddedPreset | undefined;
}

/** Voice of one engine, by its name there; factors from 0.5 to 2. */
export interface EmbeddedPreset {
  readonly id: string;
  readonly pitch?: number | undefined;
  readonly rate?: number | undefined;
}

/** Voices that need no download: Flite for English, eSpeak NG (if installed) for everything else. */
export interface EmbeddedVoices {
  readonly name: string;
  /** Rate of all their speech, in hertz. */
  readonly sampleRate: number;
  /** BCP 47 primary tags. */
  readonly languages: readonly string[];
  /** Returns the synthesizer for a character, and the voice to pass to it. */
  forCharacter(voice: EmbeddedVoice): { readonly synthesizer: SpeechSynthesizer; readonly voice: Voice };
  /** Resolves when both engines can speak without delay. Aborting throws `signal.reason`; the engines still warm up. */
  warm(signal: CallOptions['signal']): Promise<void>;
  /** Phrases of both engines at the moment. */
  load(): EngineLoad;
  close(): Promise<void>;
}

/** Opens both engines with at most `workers` threads each, default 1; speech comes at `sampleRate`, default 24000. */
export function openEmbeddedVoices(options: { workers?: number; sampleRate?: number } = {}): EmbeddedVoices {
  const english = openFlite(options);
  const other = isEspeakInstalled() ? openEspeak(options) : undefined;
  const synthesizerFor = (otherVoice: Voice): SpeechSynthesizer => byLanguage({ english, other, otherVoice });
  const { name, sampleRate, languages } = synthesizerFor({ kind: 'preset', id: 'en' });
  return {
    name,
    sampleRate,
    languages,
    forCharacter({ gender, flite, espeak }) {
      const female = gender === 'female';
      const synthesizer = synthesizerFor(presetFor(espeak ?? { id: female ? 'cmn+f2' : 'cmn' }));
      return { synthesizer, voice: presetFor(flite ?? { id: female ? 'slt' : 'rms' }) };
    },
    async warm(signal) {
      signal.throwIfAborted();
      const aborted = Promise.withResolvers<never>();
      const onAbort = (): void => aborted.reject(signal.reason);
      signal.addEventListener('abort', onAbort, { once: true });
      try {
        await Promise.race([Promise.all([english.warm(), other?.warm()]), aborted.promise]);
      } finally {
        signal.removeEventListener('abort', onAbort);
      }
    },
    load() {
      const loads = [english.load(), ...(other === undefined ? [] : [other.load()])];
      const sumOf = (part: keyof EngineLoad): number => loads.reduce((sum, each) => sum + each[part], 0);
      return { running: sumOf('running'), waiting: sumOf('waiting') };
    },
    close: async () => {
      await Promise.all([english.close(), other?.close()]);
    },
  };
}

function presetFor({ id, pitch = 1, rate = 1 }: EmbeddedPreset): PresetVoice {
  return { kind: 'preset', id, pitch, rate };
}
