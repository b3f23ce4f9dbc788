import { readFileSync } from 'node:fs';
import type { AudioFrame } from '../audio.ts';
import { visemes, type MouthMovement, type TimedViseme } from '../synthesizer.ts';
import { frameMs, MelFrames } from './mel-frames.ts';
import {
  contextFrames,
  evaluateNetwork,
  inputSize,
  networkInput,
  readNetwork,
  type NetworkLayer,
} from './sound-network.ts';

/** Opening of the mouth for each shape, from 0 to 1, in the order of `visemes`: Live2D's `ParamMouthOpenY`. */
export const openings: readonly number[] = [0, 0, 0.1, 0.2, 0.2, 0.25, 0.2, 0.1, 0.2, 0.25, 1, 0.5, 0.35, 0.7, 0.35];

const closed = new Set(['sil', 'PP']);
/** Share of the last frames in the probabilities of the current one. */
const inertia = 0.3;
/** A new shape must be so much more probable than the current one. */
const lead = 0.05;
/** A shape holds so long, unless the lips close. */
const leastFrames = 2;
/** Delay with which a change is noticed: its position is moved earlier by this, as far as its chunk reaches. */
const noticedMs = 10;
/** Weights are reported in steps of a quarter; below this one a vowel would not be seen. */
const leastWeight = 0.5;

/** Weights of the network, written by `test/bench/visemes/train.ts`: learned from our own voices, of which no sound is kept. */
const networkUrl = new URL('./sound.bin', import.meta.url);
let loaded: readonly NetworkLayer[] | undefined;

/**
 * Finds the mouth shapes in the sound of one voice, for engines that tell no times: a small network over log-mel
 * frames of 10 ms that looks ahead at nothing. Chunks come in order, all at one rate in hertz from 8000.
 */
export class VisemesBySound {
  readonly #mel: MelFrames;
  readonly #network = (loaded ??= readNetwork(readFileSync(networkUrl)));
  readonly #input = new Float32Array(inputSize);
  /** Those that the network still looks at. */
  #frames: Float32Array[] = [];
  #shares = new Float32Array(visemes.length);
  #shape = 0;
  #heldFrames = leastFrames;
  #weight = 1;
  /** Frames and samples so far. */
  #made = 0;
  #taken = 0;

  constructor(sampleRate: number) {
    this.#mel = new MelFrames(sampleRate);
  }

  /** Returns the movement during the next chunk; its first shape begins at 0. */
  take({ samples, sampleRate }: Pick<AudioFrame, 'samples' | 'sampleRate'>): MouthMovement {
    const fromMs = (this.#taken / sampleRate) * 1000;
    this.#taken += samples.length;
    const told = [this.#told(0)];
    for (const frame of this.#mel.push(samples)) {
      const startMs = Math.max(0, this.#made * frameMs - noticedMs - fromMs);
      this.#made += 1;
      const [shape, weight] = [this.#shape, this.#weight];
      this.#hear(frame);
      if (shape === this.#shape && weight === this.#weight) continue;
      while ((told.at(-1)?.startMs ?? -1) >= startMs) told.pop();
      told.push(this.#told(startMs));
    }
    return { basis: 'sound', visemes: told, phones: [] };
  }

  #told(startMs: number): TimedViseme {
    const viseme = visemes[this.#shape] ?? 'sil';
    return { viseme, startMs, ...(this.#weight !== 1 && { weight: this.#weight }) };
  }

  #hear(frame: Float32Array): void {
    const kept = Math.max(...contextFrames) + 1;
    this.#frames = [...this.#frames.slice(1 - kept), frame];
    networkInput(this.#frames, this.#frames.length - 1, this.#input);
    const now = evaluateNetwork(this.#network, this.#input);
    this.#shares = now.map((share, index) => (1 - inertia) * share + inertia * (this.#shares[index] as number));
    const shareOf = (index: number): number => this.#shares[index] as number;
    const best = this.#shares.indexOf(this.#shares.reduce((most, share) => Math.max(most, share), 0));
    this.#heldFrames += 1;
    const mayChange = this.#heldFrames >= leastFrames || closed.has(visemes[best] ?? '');
    if (best !== this.#shape && mayChange && shareOf(best) > shareOf(this.#shape) + lead) {
      this.#shape = best;
      this.#heldFrames = 0;
    }
    const opening = this.#shares.reduce((sum, share, index) => sum + share * (openings[index] as number), 0);
    const full = openings[this.#shape] as number;
    // An open shape that may as well be another one opens less.
    const weight = full < 0.3 ? 1 : Math.min(1, Math.max(leastWeight, opening / full));
    const step = Math.round(weight * 4) / 4;
    if (Math.abs(weight - this.#weight) > 0.2 || this.#heldFrames === 0) this.#weight = step;
  }
}
