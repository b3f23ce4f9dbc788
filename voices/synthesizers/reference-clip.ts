import { stat } from 'node:fs/promises';
import { EngineError } from '../engine.ts';
import { resample } from '../resampler.ts';
import type { ReferenceVoice } from '../synthesizer.ts';
import { readWav, wavBytes, WavFormatError } from '../wav.ts';

/** A voice to clone as an engine wants it: mono. */
export interface ReferenceClip {
  readonly samples: Float32Array;
  readonly sampleRate: number;
  /** The same as a 16-bit WAV. */
  readonly wav: Buffer;
  readonly seconds: number;
}

export interface ClipWishes {
  /** Hertz; the clip's own unless given. */
  readonly sampleRate?: number;
  /** What the engine takes, in seconds: a longer clip is cut, of a shorter one it would make nothing good. */
  readonly leastSeconds?: number;
  readonly mostSeconds?: number;
}

/** Reads reference clips, each once as long as its file does not change. `name` is the engine's, for errors. */
export function openClips(name: string, wishes: ClipWishes = {}): (voice: ReferenceVoice) => Promise<ReferenceClip> {
  const kept = new Map<string, { readonly changedMs: number; readonly clip: Promise<ReferenceClip> }>();
  return async ({ wavPath }) => {
    const changedMs = await changeOf(wavPath, name);
    const known = kept.get(wavPath);
    if (known?.changedMs === changedMs) return known.clip;
    const clip = readClip(wavPath, wishes, name);
    kept.set(wavPath, { changedMs, clip });
    clip.catch(() => kept.delete(wavPath));
    return clip;
  };
}

async function changeOf(wavPath: string, name: string): Promise<number> {
  try {
    return (await stat(wavPath)).mtimeMs;
  } catch {
    throw new EngineError(name, 'ENGINE_MISSING', `there is no reference clip ${wavPath}. Check "references".`);
  }
}

async function readClip(wavPath: string, wishes: ClipWishes, name: string): Promise<ReferenceClip> {
  const refused = (why: string): EngineError =>
    new EngineError(name, 'ENGINE_REFUSED', `the reference clip ${wavPath} ${why}`);
  const read = await readWav(wavPath).catch((cause: unknown) => {
    throw cause instanceof WavFormatError ? refused('is no WAV that can be read: convert it to 16-bit WAV') : cause;
  });
  const sampleRate = wishes.sampleRate ?? read.sampleRate;
  const whole = resample(read.samples, read.sampleRate, sampleRate);
  const samples = whole.subarray(0, Math.floor((wishes.mostSeconds ?? Number.POSITIVE_INFINITY) * sampleRate));
  const seconds = samples.length / sampleRate;
  if (seconds < (wishes.leastSeconds ?? 0)) {
    throw refused(`is ${seconds.toFixed(1)} s long: this engine wants ${wishes.leastSeconds} s at least`);
  }
  return { samples, sampleRate, wav: await wavBytes(samples, sampleRate), seconds };
}
