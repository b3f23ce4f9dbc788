import { readdirSync } from 'node:fs';
import { Rechunker } from '../../../voices/audio.ts';
import { readAudioFile } from '../../../voices/dsp/audio-file.ts';
import { createVadHysteresis } from '../../../voices/dsp/vad-hysteresis.ts';
import { openSilero } from '../../../voices/vads/silero.ts';
import { sharedAvailable, sharedPath } from '../../shared.ts';

/** A stretch of real speech with at most 250 ms of the silence around it, 24 kHz mono. */
export interface SpokenClip {
  readonly name: string;
  readonly samples: Float32Array;
  /** Length of the audio before the speech. */
  readonly leadMs: number;
  readonly speechMs: number;
}

const rate = 24_000;
const aroundMs = 250;

const english = /^(jfk|LJ|libri|vad-labelled).*\.(wav|flac)$/;
export const chinese = /^(aishell|zh).*\.wav$/;

/**
 * Utterances cut from the recordings (English ones unless given) at their pauses. `joinMs`: shorter pauses stay inside
 * an utterance. Empty, with a printed reason, without recordings.
 */
export async function utterances(
  joinMs: number,
  options: { minMs: number; maxMs: number; files?: RegExp },
): Promise<SpokenClip[]> {
  if (!sharedAvailable) {
    console.error('The recordings of ../shared/audio are not here; nothing to measure.');
    return [];
  }
  const signal = new AbortController().signal;
  const vad = openSilero();
  const clips: SpokenClip[] = [];
  const names = readdirSync(sharedPath('audio')).filter((name) => (options.files ?? english).test(name));
  for (const name of names.toSorted()) {
    const file = sharedPath(`audio/${name}`);
    const [low, high] = await Promise.all(
      [vad.sampleRate, rate].map((sampleRate) => readAudioFile(file, { sampleRate, signal })),
    );
    if (low === undefined || high === undefined) continue;
    const stream = vad.open();
    const windows = new Rechunker(vad.windowSamples).push(low.samples);
    const probabilities = await Promise.all(windows.map((window) => stream.score(window)));
    stream.close();
    const runs = speechRuns(probabilities, joinMs);
    for (const [place, { startMs, endMs }] of runs.entries()) {
      if (endMs - startMs < options.minMs || endMs - startMs > options.maxMs) continue;
      const at = (ms: number): number => Math.round((ms * rate) / 1000);
      // With more than half of the pause, a clip may end with the beginning of what follows.
      const [before, after] = [runs[place - 1], runs[place + 1]];
      const leadMs = Math.min(aroundMs, before === undefined ? startMs : (startMs - before.endMs) / 2);
      const tailMs = Math.min(aroundMs, after === undefined ? aroundMs : (after.startMs - endMs) / 2);
      const samples = high.samples.slice(at(startMs - leadMs), at(endMs + tailMs));
      clips.push({ name: `${name}@${(startMs / 1000).toFixed(1)}`, samples, leadMs, speechMs: endMs - startMs });
    }
  }
  await vad.close();
  return clips;
}

function speechRuns(probabilities: readonly number[], joinMs: number): { startMs: number; endMs: number }[] {
  const edges = createVadHysteresis({ minSpeechMs: 96, minSilenceMs: joinMs, windowMs: 32 });
  const runs: { startMs: number; endMs: number }[] = [];
  let startMs = 0;
  // The silence at the end closes a run that reaches the end.
  for (const probability of [...probabilities, ...Array<number>(64).fill(0)]) {
    const edge = edges.push(probability);
    if (edge?.type === 'speech-start') startMs = edge.atMs;
    if (edge?.type === 'speech-end') runs.push({ startMs, endMs: edge.atMs });
  }
  return runs;
}
