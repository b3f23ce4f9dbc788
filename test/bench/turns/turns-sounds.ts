import { randomFrom } from '../kit/random.ts';
import { mean } from '../../../voices/dsp/statistics.ts';

/** Sample rate of all user sounds in the turns bench; mono. */
export const rate = 16_000;

export const samplesIn = (ms: number): number => Math.round((ms * rate) / 1000);

/** Adds `sound` to `track` from `atMs` on; samples beyond the end are dropped. */
export function mix(track: Float32Array, sound: Float32Array, atMs: number, gain = 1): void {
  const start = samplesIn(atMs);
  const end = Math.min(track.length, start + sound.length);
  for (let index = Math.max(0, start); index < end; index += 1) {
    track[index] = (track[index] as number) + gain * (sound[index - start] as number);
  }
}

/** Scales a sound to a level: root mean square of its loudest half, in decibels of full scale. */
export function atLevel(sound: Float32Array, decibels: number): Float32Array {
  const frame = samplesIn(20);
  const powers = Array.from({ length: Math.max(1, Math.floor(sound.length / frame)) }, (_, index) =>
    power(sound.subarray(index * frame, (index + 1) * frame)),
  ).toSorted((a, b) => b - a);
  const loud = powers.slice(0, Math.ceil(powers.length / 2));
  const level = Math.sqrt(mean(loud)) || 1;
  const gain = fromDecibels(decibels) / level;
  return sound.map((value) => Math.max(-1, Math.min(1, value * gain)));
}

export function fromDecibels(decibels: number): number {
  return 10 ** (decibels / 20);
}

/** Part of a sound, with 20 ms fades at both ends to avoid clicks. */
export function cut(sound: Float32Array, fromMs: number, ms: number): Float32Array {
  const part = sound.slice(samplesIn(fromMs), ms === Infinity ? undefined : samplesIn(fromMs + ms));
  const fade = Math.min(samplesIn(20), part.length >> 1);
  for (let index = 0; index < fade; index += 1) {
    const last = part.length - 1 - index;
    part[index] = ((part[index] as number) * index) / fade;
    part[last] = ((part[last] as number) * index) / fade;
  }
  return part;
}

/** A speaker across the room: 600 ms of reverberation over a weak direct sound, with damped high frequencies. */
export function acrossTheRoom(sound: Float32Array, seed: number): Float32Array {
  const random = randomFrom(seed);
  const far = new Float32Array(sound.length + samplesIn(300));
  mix(far, sound, 0, 0.5);
  // Reflections of the walls, each weaker; 60 dB down after 600 ms.
  for (let echo = 0; echo < 60; echo += 1) {
    const delayMs = 3 + 297 * random();
    mix(far, sound, delayMs, (random() < 0.5 ? -1 : 1) * 0.5 * 10 ** ((-3 * delayMs) / 600));
  }
  return lowPass(lowPass(far, 2_500), 4_000);
}

/**
 * A cough: one or two bursts of throaty noise with a sharp onset, most of the energy below 3 kHz, gone within 250 ms.
 */
export function cough(seed: number): Float32Array {
  const random = randomFrom(seed);
  const bursts = 1 + Math.floor(2 * random());
  const sound = new Float32Array(samplesIn(bursts * 300 + 100));
  for (let burst = 0; burst < bursts; burst += 1) {
    const ms = 120 + 120 * random();
    const hertz = 90 + 80 * random();
    const noise = Float32Array.from({ length: samplesIn(ms) }, (_, index) => {
      const at = index / rate;
      const envelope = Math.min(1, at / 0.008) * Math.exp(-at / (ms / 3_500));
      const voice = burst === bursts - 1 ? 0.4 * Math.sin(2 * Math.PI * hertz * at) : 0;
      return envelope * (2 * random() - 1 + voice);
    });
    mix(sound, lowPass(noise, 1_500 + 1_500 * random()), burst * (220 + 60 * random()));
  }
  return sound;
}

/** A falling object, a closing door, typing: short, without voice. */
export function knocks(seed: number): Float32Array {
  const random = randomFrom(seed);
  const count = 1 + Math.floor(5 * random());
  const sound = new Float32Array(samplesIn(count * 180 + 200));
  for (let knock = 0; knock < count; knock += 1) {
    const hertz = 80 + 900 * random();
    const decayS = 0.01 + 0.05 * random();
    const one = Float32Array.from({ length: samplesIn(150) }, (_, index) => {
      const at = index / rate;
      return Math.exp(-at / decayS) * (Math.sin(2 * Math.PI * hertz * at) + 0.5 * (2 * random() - 1));
    });
    mix(sound, one, knock * (120 + 60 * random()));
  }
  return sound;
}

/**
 * A hummed "mm-hm" (two humps, the second higher) or "mmm" (one, falling): a buzz at the voice's pitch through the
 * resonances of a closed mouth (250, 1100 and 2300 Hz), with breath between the humps.
 */
export function hum(hertz: number, humps: 1 | 2, ms: number, seed: number): Float32Array {
  const random = randomFrom(seed);
  const sound = new Float32Array(samplesIn(ms));
  let phase = 0;
  for (let index = 0; index < sound.length; index += 1) {
    const place = index / sound.length;
    const hump = humps === 1 ? place : (place * 2) % 1;
    const rise = humps === 1 ? 1.05 - 0.15 * place : place < 0.5 ? 1 - 0.06 * hump : 1.12 - 0.12 * hump;
    phase += (hertz * rise * (1 + 0.01 * (random() - 0.5))) / rate;
    const open = phase % 1;
    const buzz = open < 0.6 ? Math.sin((Math.PI * open) / 0.6) ** 2 - 0.3 : -0.3;
    const envelope = Math.sin(Math.PI * Math.min(1, hump * 1.02)) ** 0.6;
    sound[index] = envelope * buzz + 0.03 * (2 * random() - 1) * (1 - envelope);
  }
  const nose = new Float32Array(sound.length);
  for (const [formant, width, gain] of [
    [250, 60, 1],
    [1_100, 150, 0.12],
    [2_300, 250, 0.05],
  ] as const) {
    mix(nose, resonance(sound, formant, width), 0, gain);
  }
  return nose;
}

/** Broadband noise like that of a room, weaker at higher frequencies. */
export function roomNoise(ms: number, seed: number): Float32Array {
  const random = randomFrom(seed);
  return lowPass(
    Float32Array.from({ length: samplesIn(ms) }, () => 2 * random() - 1),
    800,
  );
}

function power(sound: Float32Array): number {
  return sound.reduce((sum, value) => sum + value * value, 0) / Math.max(1, sound.length);
}

function lowPass(sound: Float32Array, hertz: number): Float32Array {
  const share = 1 - Math.exp((-2 * Math.PI * hertz) / rate);
  let level = 0;
  return sound.map((value) => (level += share * (value - level)));
}

/** One resonance of a vocal tract, with gain 1 at its peak. */
function resonance(sound: Float32Array, hertz: number, width: number): Float32Array {
  const radius = Math.exp((-Math.PI * width) / rate);
  const turn = 2 * radius * Math.cos((2 * Math.PI * hertz) / rate);
  const gain = (1 - radius) * Math.sqrt(1 - 2 * radius * Math.cos((4 * Math.PI * hertz) / rate) + radius * radius);
  let [one, two] = [0, 0];
  return sound.map((value) => {
    const out = gain * value + turn * one - radius * radius * two;
    two = one;
    one = out;
    return out;
  });
}
