/** Length of the silence kept around speech, in milliseconds. */
export interface SilenceMargins {
  /** Maximum kept before the first sound; soft consonants begin below the threshold. */
  readonly leadMs: number;
  /** Exact silence after the last sound: cut or padded. */
  readonly tailMs: number;
}

/** Speech without the silence around it. `cutMs` was removed from the start; `endMs` is the end of the last sound. */
export interface TrimmedSpeech {
  readonly samples: Float32Array<ArrayBuffer>;
  readonly cutMs: number;
  readonly endMs: number;
}

const windowMs = 5;
/** A window counts as sound above this fraction of the loudest window: 40 dB below it. */
const soundRatio = 0.01;
/** Nothing below -66 dBFS counts as sound, however quiet the whole clip. */
const leastLevel = 0.0005;
const fadeMs = 4;
/** Decay below the threshold that is kept after the last window of sound. */
const releaseMs = 20;

/**
 * Cuts leading silence to at most `leadMs` and makes trailing silence exactly `tailMs` long. Silence alone gives no
 * samples. `sampleRate` is in hertz. Cuts are faded over 4 ms, so that they do not click.
 */
export function trimSilence(samples: Float32Array, sampleRate: number, margins: SilenceMargins): TrimmedSpeech {
  const window = Math.max(1, Math.round((windowMs / 1000) * sampleRate));
  const levels = windowLevels(samples, window);
  const threshold = Math.max(leastLevel, Math.max(0, ...levels) * soundRatio);
  const first = levels.findIndex((level) => level >= threshold);
  const last = levels.findLastIndex((level) => level >= threshold);
  if (first < 0) return { samples: new Float32Array(0), cutMs: (samples.length / sampleRate) * 1000, endMs: 0 };
  const asSamples = (milliseconds: number): number => Math.round((milliseconds / 1000) * sampleRate);
  const start = Math.max(0, first * window - asSamples(margins.leadMs));
  const soundEnd = Math.min(samples.length, (last + 1) * window);
  const end = Math.min(samples.length, soundEnd + asSamples(Math.min(releaseMs, margins.tailMs)));
  const trimmed = new Float32Array(soundEnd - start + asSamples(margins.tailMs));
  trimmed.set(samples.subarray(start, end));
  const fade = Math.min(asSamples(fadeMs), end - start);
  for (let index = 0; index < fade; index += 1) {
    const gain = index / fade;
    if (start > 0) trimmed[index] = (trimmed[index] ?? 0) * gain;
    if (end < samples.length) trimmed[end - start - 1 - index] = (trimmed[end - start - 1 - index] ?? 0) * gain;
  }
  return { samples: trimmed, cutMs: (start / sampleRate) * 1000, endMs: ((soundEnd - start) / sampleRate) * 1000 };
}

/** Pause that a speaker leaves after `text`, in milliseconds, by its last punctuation mark. */
export function pauseAfterMs(text: string): number {
  const bare = text.replace(/["'”’»)\]」』》）】\s]+$/u, '');
  if (/\n\s*$/u.test(text)) return 320;
  if (/[.!?…。！？]$/u.test(bare)) return 240;
  if (/[,;:，；：、—–-]$/u.test(bare)) return 120;
  return 60;
}

/** RMS of each window; the last one may be partial. */
function windowLevels(samples: Float32Array, window: number): number[] {
  const levels: number[] = [];
  for (let start = 0; start < samples.length; start += window) {
    const block = samples.subarray(start, start + window);
    levels.push(Math.sqrt(block.reduce((sum, value) => sum + value * value, 0) / block.length));
  }
  return levels;
}
