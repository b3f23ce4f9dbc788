import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { readAudioFile } from '../dsp/audio-file.ts';
import type { CallOptions } from '../engine.ts';
import { detectVoice } from '../recognition/transcribe-recording.ts';
import { hashFile, hashOf } from '../runtime/files.ts';
import { resample } from '../dsp/resampler.ts';
import type { Vad } from '../vad.ts';
import { wavBytes } from '../dsp/wav.ts';
import { cutClips } from './cut-clips.ts';
import { powerOf } from './measure.ts';
import type { VoiceClip, VoiceSource } from './record.ts';
import type { VoiceStore } from './store.ts';

/** Sample rate of stored clips; analysis runs at 16 kHz. */
export const clipSampleRate = 24_000;
/** Limits, because a recording is held in memory as a whole. */
const mostSeconds = 3_600;
const mostBytes = 2 ** 31;

/** A recording that has been cut into clips. */
export interface CutSource {
  readonly source: VoiceSource;
  /** False if an earlier run has cut it. */
  readonly isNew: boolean;
  /** Transcript of the whole recording from its sidecar text file, `clip.txt` next to `clip.wav`. */
  readonly text: string | undefined;
}

/** Cuts a recording into mono clips at 24 kHz, unless done before; writes them before the journal that lists them. */
export async function cutSource(
  file: string,
  { store, id, vad, signal }: CallOptions & { readonly store: VoiceStore; readonly id: string; readonly vad: Vad },
): Promise<CutSource> {
  const text = await textBeside(file);
  // If it cannot be read, reading it as audio below reports why.
  const sha256 = await hashFile(file).catch(() => undefined);
  const known = sha256 === undefined ? undefined : await store.readSource(id, sha256);
  if (known !== undefined) return { source: known, isNew: false, text };
  const limits = { maxSeconds: mostSeconds, maxBytes: mostBytes, timeoutMs: 600_000 };
  const { samples } = await readAudioFile(file, { sampleRate: clipSampleRate, mustBeWhole: true, signal, ...limits });
  const activity = await detectVoice(resample(samples, clipSampleRate, vad.sampleRate), vad, { signal });
  const clips: VoiceClip[] = [];
  const hash = sha256 ?? (await hashFile(file));
  for (const { startMs, endMs } of cutClips({ ...activity, powers: activity.windows.map(powerOf) })) {
    const part = samples.subarray((startMs * clipSampleRate) / 1000, (endMs * clipSampleRate) / 1000);
    const wav = await wavBytes(part, clipSampleRate);
    const name = `clips/${hash.slice(0, 12)}-${String(clips.length + 1).padStart(3, '0')}.wav`;
    await store.writeClip(id, name, wav);
    clips.push({
      file: name,
      sha256: hashOf(wav),
      startMs,
      endMs,
      transcript: '',
      transcribedBy: null,
      measured: null,
    });
  }
  const source: VoiceSource = {
    version: 1,
    name: path.basename(file),
    sha256: hash,
    seconds: samples.length / clipSampleRate,
    clips,
  };
  await store.writeSource(id, source);
  return { source, isNew: true, text };
}

async function textBeside(file: string): Promise<string | undefined> {
  const { dir, name } = path.parse(file);
  const text = await readFile(path.join(dir, `${name}.txt`), 'utf8').catch(() => '');
  return text.trim() === '' ? undefined : text.trim().replaceAll(/\s+/g, ' ');
}
