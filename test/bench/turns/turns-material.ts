import { readAudioFile } from '../../../voices/dsp/audio-file.ts';
import { semitones, trackPitch } from '../../../voices/dsp/pitch.ts';
import { resample } from '../../../voices/dsp/resampler.ts';
import type { EmbeddedPreset, EmbeddedVoices } from '../../../voices/synthesizers/embedded.ts';
import { sharedPath } from '../../shared.ts';
import { chinese, utterances, type SpokenClip } from '../kit/recordings.ts';
import type { Span } from './turns-scene.ts';
import { atLevel, cut, hum, rate } from './turns-sounds.ts';
import { spoken as synthesized } from '../../fakes/spoken.ts';

/** A sound made by a person, at 16 kHz and at the level of a user's voice. */
export interface Voiced {
  /** Speaker or origin. Sounds with the same source stay in the same half when sounds are divided. */
  readonly source: string;
  readonly sound: Float32Array;
  /** Time spans of speech in it. */
  readonly voice: readonly Span[];
}

/** Sounds of the users in the bench. */
export interface Material {
  /** English, cut at every pause of 96 ms or more: stretches of a few words. */
  readonly phrases: readonly Voiced[];
  /** English, whole utterances. */
  readonly turns: readonly Voiced[];
  readonly chinese: readonly Voiced[];
  /** Real vowels and nasals of 140 to 400 ms, cut from the English recordings where the pitch is steady. */
  readonly vowels: readonly Voiced[];
  /** "Yeah", "right", "I see": by embedded voices. */
  readonly words: readonly Voiced[];
  /** "Stop", "wait": by embedded voices. */
  readonly commands: readonly Voiced[];
  /** "Um", "er": by embedded voices. */
  readonly tics: readonly Voiced[];
  /** "Mm-hm" and "mmm", hummed: generated. */
  readonly hums: readonly Voiced[];
  readonly noise: Float32Array;
  readonly music: Float32Array;
}

/** Level of a voice near a microphone, in decibels of full scale. */
export const voiceLevel = -23;

const backchannels = 'Yeah.|Yes.|Right.|Okay.|I see.|Oh.|Sure.|Really?|Uh huh.|Of course.'.split('|');
const commands = 'Stop.|Wait.|No.|Hold on.|Excuse me.|Listen.|What?|Sorry.'.split('|');
const hesitations = ['Um.', 'Uh.', 'Er.'];
const speakers: readonly EmbeddedPreset[] = [
  { id: 'slt', pitch: 1, rate: 1.15 },
  { id: 'slt', pitch: 1.2, rate: 1.3 },
  { id: 'awb', pitch: 1, rate: 1.2 },
  { id: 'rms', pitch: 1, rate: 1.15 },
  { id: 'rms', pitch: 1.25, rate: 1.3 },
];

/**
 * Loads the recordings and generates the sounds without recordings. Undefined, with a printed reason, without
 * recordings.
 */
export async function loadMaterial(voices: EmbeddedVoices): Promise<Material | undefined> {
  const phrases = await utterances(96, { minMs: 500, maxMs: 8_000 });
  if (phrases.length === 0) return undefined;
  const whole = { minMs: 700, maxMs: 10_000 };
  return {
    phrases: phrases.map(voicedClip),
    turns: (await utterances(320, whole)).map(voicedClip),
    chinese: (await utterances(200, { ...whole, files: chinese })).map(voicedClip),
    vowels: (await utterances(96, { minMs: 300, maxMs: 8_000 })).flatMap((clip) => vowelsOf(clip).slice(0, 2)),
    words: await spoken(backchannels, voices),
    commands: await spoken(commands, voices),
    tics: await spoken(hesitations, voices),
    hums: [90, 110, 130, 160, 190, 220, 250].flatMap((hertz) =>
      ([1, 2] as const).flatMap((humps) =>
        [300, 420, 560].map((ms) => made(`hum ${hertz}`, hum(hertz, humps, ms, hertz * humps + ms))),
      ),
    ),
    noise: await recording('noise2.wav'),
    music: await recording('background-music.wav'),
  };
}

function voicedClip({ name, samples, leadMs, speechMs }: SpokenClip): Voiced {
  const sound = atLevel(resample(samples, 24_000, rate), voiceLevel);
  return { source: name, sound, voice: [{ fromMs: leadMs, toMs: leadMs + speechMs }] };
}

function made(source: string, sound: Float32Array): Voiced {
  return { source, sound: atLevel(sound, voiceLevel), voice: [{ fromMs: 0, toMs: (sound.length / rate) * 1000 }] };
}

async function recording(name: string): Promise<Float32Array> {
  const { signal } = new AbortController();
  const { samples } = await readAudioFile(sharedPath(`audio/${name}`), { sampleRate: rate, signal });
  return atLevel(samples, voiceLevel);
}

/** Stretches in which the pitch stays within two semitones: a vowel, a nasal. */
function vowelsOf({ name, samples }: SpokenClip): Voiced[] {
  const sound = resample(samples, 24_000, rate);
  const { hertz, hopMs } = trackPitch(sound, rate);
  const found: Voiced[] = [];
  let first = 0;
  for (let hop = 0; hop <= hertz.length; hop += 1) {
    const pitch = hertz[hop] ?? 0;
    const start = hertz[first] as number;
    if (pitch > 0 && start > 0 && Math.abs(semitones(pitch, start)) < 2) continue;
    const ms = (hop - first) * hopMs;
    if (ms >= 140 && ms <= 400) found.push(made(name, cut(sound, first * hopMs, ms)));
    first = hop;
  }
  return found;
}

async function spoken(texts: readonly string[], voices: EmbeddedVoices): Promise<Voiced[]> {
  const all: Voiced[] = [];
  for (const text of texts) {
    for (const preset of speakers) {
      const { synthesizer, voice } = voices.forCharacter({ flite: preset });
      const sound = await synthesized(text, { synthesizer, voice, sampleRate: rate });
      all.push(made(`${text} ${preset.id}`, trimmed(sound)));
    }
  }
  return all;
}

/** Removes audio more than 30 dB below the peak from both ends. */
function trimmed(sound: Float32Array): Float32Array {
  const most = sound.reduce((peak, value) => Math.max(peak, Math.abs(value)), 0);
  const isLoud = (value: number): boolean => Math.abs(value) > most / 32;
  return sound.slice(sound.findIndex(isLoud), sound.findLastIndex(isLoud) + 1);
}
