import { concatSamples } from '../audio.ts';
import type { OmniPart } from '../omni.ts';

/** What counts as one turn of a model that always listens and may always speak; milliseconds of its own sound. */
export interface DuplexTurnLimits {
  /** How long the user speaks. */
  readonly userMs: number;
  /** Silence that ends the reply. */
  readonly endSilenceMs: number;
  /** How long to wait for a reply once the user has spoken. */
  readonly waitMs: number;
  readonly mostMs: number;
}

/** Silence that ends a remark made while the user speaks, in milliseconds. */
const remarkEndMs = 300;
/** Root mean square above which a model is heard: codecs give silence a little noise. */
const audible = 0.008;
/** How much silence before the first word is passed on, in milliseconds. */
const leadMs = 80;

/**
 * Finds the reply in what a full-duplex model says: what it begins after the user's speech, or goes on with after it, up to its
 * first long silence. What it says into the user's speech and ends there is none. Silence at the end is left out.
 */
export class DuplexTurn {
  readonly #limits: DuplexTurnLimits;
  readonly #sampleRate: number;
  #atMs = 0;
  #quietMs = 0;
  #spokenMs = 0;
  #hasBegun = false;
  #isFirstText = true;
  /** Said while the user speaks. */
  #remark: OmniPart[] = [];
  #silence: Float32Array[] = [];

  constructor(sampleRate: number, limits: DuplexTurnLimits) {
    this.#sampleRate = sampleRate;
    this.#limits = limits;
  }

  /** How it ended; undefined while it goes on. */
  get end(): 'stop' | 'length' | 'nothing' | undefined {
    const { endSilenceMs, waitMs, userMs, mostMs } = this.#limits;
    if (this.#hasBegun && this.#quietMs >= endSilenceMs) return 'stop';
    if (this.#spokenMs >= mostMs) return 'length';
    return !this.#hasBegun && this.#atMs >= userMs + waitMs ? 'nothing' : undefined;
  }

  /** The model's next sound: what of the reply is now known. */
  hear(samples: Float32Array): readonly OmniPart[] {
    const ms = (samples.length / this.#sampleRate) * 1_000;
    this.#atMs += ms;
    if (!isAudible(samples)) {
      this.#quietMs += ms;
      this.#silence.push(samples);
      if (!this.#hasBegun && this.#quietMs >= remarkEndMs) this.#forget();
      return this.#begun([]);
    }
    this.#quietMs = 0;
    const sound = concatSamples([...this.#silence.splice(0), samples]);
    return this.#begun([{ type: 'sound', samples: sound, sampleRate: this.#sampleRate }]);
  }

  /** The model's next words. */
  read(text: string): readonly OmniPart[] {
    this.#quietMs = 0;
    return this.#begun(text === '' ? [] : [{ type: 'text-delta', text }]);
  }

  #begun(parts: readonly OmniPart[]): readonly OmniPart[] {
    if (!this.#hasBegun) {
      this.#remark.push(...parts);
      if (this.#atMs < this.#limits.userMs || this.#remark.length === 0) return [];
      this.#hasBegun = true;
      return this.#passed(this.#remark.splice(0));
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
    this.#remark = [];
    const kept = Math.round((leadMs / 1_000) * this.#sampleRate);
    const silence = concatSamples(this.#silence);
    this.#silence = [silence.slice(Math.max(0, silence.length - kept))];
  }
}

function isAudible(samples: Float32Array): boolean {
  const energy = samples.reduce((sum, value) => sum + value * value, 0);
  return Math.sqrt(energy / Math.max(1, samples.length)) > audible;
}
