/** How much silence stays around speech, in milliseconds. */
export interface SilenceMargins {
  /** Kept before the first sound, at most; soft consonants begin below the threshold. */
  readonly leadMs: number;
  /** Silence after the last sound, exactly: cut or added. */
  readonly tailMs: number;
}

/** Speech without the silence around it. `cutMs` was removed from the start; `endMs` is where the last sound ends. */
export interface TrimmedSpeech {
  readonly samples: Float32Array<ArrayBuffer>;
  readonly cutMs: number;
  readonly endMs: number;
}

const windowMs = 5;
/** A window counts as sound above this part of the loudest window: 40 dB below it. */
const soundRatio = 0.01;
/** Nothing below -66 dBFS is sound, however quiet the whole. */
const leastLevel = 0.0005;
const fadeMs = 4;
/** Decaying sound below the threshold that stays after the last window of sound. */
const releaseMs = 20;

/**
 * Cuts leading silence to at most `leadMs` and makes the trailing silence `tailMs` long. Silence alone gives no samples.
 * The rate is in hertz. Cuts are faded over 4 ms, so that they do not click.
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

/** Milliseconds of silence that a speaker leaves after `text`: by its last mark, none to end of paragraph. */
export function pauseAfterMs(text: string): number {
  const bare = text.replace(/["'”’»)\]」』》）】\s]+$/u, '');
  if (/\n\s*$/u.test(text)) return 320;
  if (/[.!?…。！？]$/u.test(bare)) return 240;
  if (/[,;:，；：、—–-]$/u.test(bare)) return 120;
  return 60;
}

/** Root mean square of each whole or last, partial window. */
function windowLevels(samples: Float32Array, window: number): number[] {
  const levels: number[] = [];
  for (let start = 0; start < samples.length; start += window) {
    const block = samples.subarray(start, start + window);
    levels.push(Math.sqrt(block.reduce((sum, value) => sum + value * value, 0) / block.length));
  }
  return levels;
}
