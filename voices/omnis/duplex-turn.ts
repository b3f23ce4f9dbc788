import { concatSamples } from '../audio.ts';
import type { OmniPart } from '../omni.ts';

/** Limits of one turn of a full-duplex model, in milliseconds of its own audio. */
export interface DuplexTurnLimits {
  /** Length of the user's speech. */
  readonly userMs: number;
  /** Silence that ends the reply. */
  readonly endSilenceMs: number;
  /** Longest wait for a reply after the user's speech. */
  readonly waitMs: number;
  readonly mostMs: number;
}

/** Silence that ends something the model says during the user's speech, in milliseconds. */
const asideEndMs = 300;
/** RMS level above which the model counts as speaking; codecs add a little noise to silence. */
const audible = 0.008;
/** Silence passed on before the first word, in milliseconds. */
const leadMs = 80;

/**
 * Extracts the reply from the output of a full-duplex model: speech that begins after the user's speech, or continues
 * past its end, up to the first long silence. Speech that begins and ends during the user's speech is dropped, and so
 * is trailing silence.
 */
export class DuplexTurn {
  readonly #limits: DuplexTurnLimits;
  readonly #sampleRate: number;
  #atMs = 0;
  #quietMs = 0;
  #spokenMs = 0;
  #hasBegun = false;
  #isFirstText = true;
  /** Output during the user's speech, which is part of the reply only if it continues past its end. */
  #aside: OmniPart[] = [];
  #silence: Float32Array[] = [];

  constructor(sampleRate: number, limits: DuplexTurnLimits) {
    this.#sampleRate = sampleRate;
    this.#limits = limits;
  }

  /** Reason why the turn ended; undefined while it continues. */
  get end(): 'stop' | 'length' | 'nothing' | undefined {
    const { endSilenceMs, waitMs, userMs, mostMs } = this.#limits;
    if (this.#hasBegun && this.#quietMs >= endSilenceMs) return 'stop';
    if (this.#spokenMs >= mostMs) return 'length';
    return !this.#hasBegun && this.#atMs >= userMs + waitMs ? 'nothing' : undefined;
  }

  /** Takes the model's next audio; returns the parts of the reply that are known by now. */
  pushAudio(samples: Float32Array): readonly OmniPart[] {
    const ms = (samples.length / this.#sampleRate) * 1_000;
    this.#atMs += ms;
    if (!isAudible(samples)) {
      this.#quietMs += ms;
      this.#silence.push(samples);
      if (!this.#hasBegun && this.#quietMs >= asideEndMs) this.#forget();
      return this.#begun([]);
    }
    this.#quietMs = 0;
    const sound = concatSamples([...this.#silence.splice(0), samples]);
    return this.#begun([{ type: 'sound', samples: sound, sampleRate: this.#sampleRate }]);
  }

  /** Takes the model's next text; returns the parts of the reply that are known by now. */
  pushText(text: string): readonly OmniPart[] {
    this.#quietMs = 0;
    return this.#begun(text === '' ? [] : [{ type: 'text-delta', text }]);
  }

  #begun(parts: readonly OmniPart[]): readonly OmniPart[] {
    if (!this.#hasBegun) {
      this.#aside.push(...parts);
      if (this.#atMs < this.#limits.userMs || this.#aside.length === 0) return [];
      this.#hasBegun = true;
      return this.#passed(this.#aside.splice(0));
    }
    return this.#passed(parts);
  }

  #passed(parts: readonly OmniPart[]): readonly OmniPart[] {
    const passed: OmniPart[] = [];
    for (const part of parts) {
      if (part.type === 'sound') this.#spokenMs += (part.samples.length / this.#sampleRate) * 1_000;
      if (part.type === 'text-delta' && this.#isFirstText) {
        const text = part.text.trimStart();
        this.#isFirstText = text === '';
        if (text !== '') passed.push({ type: 'text-delta', text });
      } else passed.push(part);
    }
    return passed;
  }

  #forget(): void {
    this.#aside = [];
    const kept = Math.round((leadMs / 1_000) * this.#sampleRate);
    const silence = concatSamples(this.#silence);
    this.#silence = [silence.slice(Math.max(0, silence.length - kept))];
  }
}

function isAudible(samples: Float32Array): boolean {
  const energy = samples.reduce((sum, value) => sum + value * value, 0);
  return Math.sqrt(energy / Math.max(1, samples.length)) > audible;
}
