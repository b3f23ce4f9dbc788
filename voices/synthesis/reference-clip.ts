import { createHash } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { basename, dirname, join, parse } from 'node:path';
import type { Meter } from '../calls/calls.ts';
import { EngineError } from '../engine.ts';
import { resample } from '../dsp/resampler.ts';
import { writeFileAtomic } from '../runtime/files.ts';
import type { ReferenceVoice } from '../synthesizer.ts';
import { readWav, wavBytes, WavFormatError } from '../dsp/wav.ts';
import { pathOnServer } from './default-clip.ts';
import { shortenClip, type SpokenClip } from './shorten-clip.ts';

/** Clip of a voice to clone, prepared for an engine: mono, at its rate, of a length it takes. */
export interface ReferenceClip extends SpokenClip {
  /** Clip as a 16-bit WAV. */
  readonly wav: Buffer;
  readonly seconds: number;
  /** Verbatim transcript: shorter than that of the voice's own clip if that had to be cut. */
  readonly transcript: string;
  /** Path of this very clip on the server, for servers that read their own disk; empty for others. */
  readonly serverPath: string;
}

export interface ClipRequirements {
  /** In hertz; default: the clip's own. */
  readonly sampleRate?: number;
  /** Length that the engine takes, in seconds: a longer clip is cut in a pause, a shorter one refused. */
  readonly leastSeconds?: number;
  readonly mostSeconds?: number;
  /** Given if the server reads clips from its own disk: its folder, or undefined for the same path as here. */
  readonly onServer?: { readonly directory: string | undefined };
}

/** Reads a clip for one use; the call log gets the voice and the consent for it. */
export type ReadClip = (voice: ReferenceVoice, use: { readonly meter: Meter }) => Promise<ReferenceClip>;

/** The only way to clips: each is read once while unchanged, cut, resampled, noted in the call log. */
export function openClips(name: string, wishes: ClipRequirements = {}): ReadClip {
  const kept = new Map<string, { readonly changedMs: number; readonly clip: Promise<ReferenceClip> }>();
  return async (voice, { meter }) => {
    const { wavPath, transcript, consent, id = basename(wavPath) } = voice;
    meter.clone = { voice: id, consent };
    const changedMs = await changeOf(wavPath, name);
    const key = `${wavPath}\n${transcript}`;
    const known = kept.get(key);
    if (known?.changedMs === changedMs) return known.clip;
    const clip = readClip(voice, wishes, name);
    kept.set(key, { changedMs, clip });
    clip.catch(() => kept.delete(key));
    return clip;
  };
}

async function changeOf(wavPath: string, name: string): Promise<number> {
  try {
    return (await stat(wavPath)).mtimeMs;
  } catch {
    throw new EngineError(name, 'ENGINE_MISSING', `the reference clip ${wavPath} does not exist. Check "references".`);
  }
}

async function readClip(
  { wavPath, transcript }: ReferenceVoice,
  wishes: ClipRequirements,
  name: string,
): Promise<ReferenceClip> {
  const refused = (why: string): EngineError =>
    new EngineError(name, 'ENGINE_REFUSED', `the reference clip ${wavPath} ${why}`);
  const read = await readWav(wavPath).catch((cause: unknown) => {
    throw cause instanceof WavFormatError ? refused('is not a readable WAV file: convert it to 16-bit WAV') : cause;
  });
  const sampleRate = wishes.sampleRate ?? read.sampleRate;
  const whole = { samples: resample(read.samples, read.sampleRate, sampleRate), sampleRate, transcript };
  const { leastSeconds = 0, mostSeconds = Number.POSITIVE_INFINITY } = wishes;
  const long = `is ${secondsOf(whole).toFixed(1)} s long: this engine accepts ${leastSeconds > 0 ? `${leastSeconds} to ` : ''}${mostSeconds} s`;
  const fitting = secondsOf(whole) > mostSeconds ? shortenClip(whole, mostSeconds) : whole;
  if (fitting === undefined) throw refused(`${long}, and it has no pause to cut it at. Shorten it.`);
  const seconds = secondsOf(fitting);
  if (seconds < leastSeconds)
    throw refused(`is ${seconds.toFixed(1)} s long: this engine requires at least ${leastSeconds} s`);
  const wav = await wavBytes(fitting.samples, sampleRate);
  if (fitting === whole) return { ...fitting, wav, seconds, serverPath: serverPathOf(wavPath, wishes) };
  if (wishes.onServer?.directory !== undefined) throw refused(`${long}. Shorten it, here and on the server.`);
  const cutPath = wishes.onServer === undefined ? '' : await keepBeside(wavPath, wav);
  return { ...fitting, wav, seconds, serverPath: cutPath };
}

function secondsOf({ samples, sampleRate }: SpokenClip): number {
  return samples.length / sampleRate;
}

function serverPathOf(wavPath: string, { onServer }: ClipRequirements): string {
  return onServer === undefined ? '' : pathOnServer(wavPath, onServer.directory);
}

/** Writes the cut clip beside the original, where a server that reads the same disk finds it; returns its path. */
async function keepBeside(wavPath: string, wav: Buffer): Promise<string> {
  const hash = createHash('sha256').update(wav).digest('hex').slice(0, 12);
  const place = join(dirname(wavPath), `${parse(wavPath).name}.cut-${hash}.wav`);
  await writeFileAtomic(place, wav, 0o600);
  return place;
}
