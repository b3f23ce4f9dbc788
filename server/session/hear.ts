import { Rechunker, type AudioFrame } from '../../voices/audio.ts';
import { createEdges, type Edge } from '../../voices/edges.ts';
import { Resampler } from '../../voices/resampler.ts';
import type { VadStream } from '../../voices/vad.ts';
import type { SessionCommand } from './events.ts';

/** What enters a session, with the wall time it came at. */
export interface Inbound {
  readonly command: SessionCommand;
  readonly arrivedMs: number;
}

/** One window of the user's audio, as the VAD heard it. */
export interface Heard {
  readonly type: 'heard';
  readonly frame: AudioFrame;
  readonly voiced: boolean;
  readonly edge?: Edge;
  readonly arrivedMs: number;
  /** Set when the VAD failed on this window, which then counts as silence. */
  readonly failure?: unknown;
}

/** Shortest run of speech that counts, and shortest silence that is looked at as a possible end of the turn. */
const minSpeechMs = 96;
const minSilenceMs = 96;

interface Ear {
  readonly vad: VadStream;
  /** What the VAD wants. */
  readonly sampleRate: number;
  readonly windowSamples: number;
  /** Probability that counts as speech; asked anew whenever the settings change. */
  threshold(): number;
}

/** Turns appended audio into heard windows; every other command passes through in its place. */
export async function* hear(inbox: AsyncIterable<Inbound>, ear: Ear): AsyncIterable<Heard | Inbound> {
  const windows = new Rechunker(ear.windowSamples);
  const windowMs = (ear.windowSamples / ear.sampleRate) * 1000;
  let threshold = ear.threshold();
  let edges = openEdges(threshold, windowMs);
  let edgesFromMs = 0;
  let atMs = 0;
  let inputRate = ear.sampleRate;
  let resampler = new Resampler(inputRate, ear.sampleRate);
  for await (const inbound of inbox) {
    if (inbound.command.type !== 'audio') {
      yield inbound;
      if (ear.threshold() !== threshold) {
        threshold = ear.threshold();
        edges = openEdges(threshold, windowMs);
        edgesFromMs = atMs;
      }
      continue;
    }
    if (inbound.command.sampleRate !== inputRate) {
      inputRate = inbound.command.sampleRate;
      resampler = new Resampler(inputRate, ear.sampleRate);
    }
    for (const samples of windows.push(resampler.push(inbound.command.samples))) {
      const { probability, failure } = await score(ear.vad, samples);
      const edge = edges.push(probability);
      const voiced = probability >= threshold;
      yield {
        type: 'heard',
        frame: { samples, sampleRate: ear.sampleRate, atMs, voiced },
        voiced,
        arrivedMs: inbound.arrivedMs,
        ...(edge === undefined ? {} : { edge: { ...edge, atMs: edgesFromMs + edge.atMs } }),
        ...(failure === undefined ? {} : { failure }),
      };
      atMs += windowMs;
    }
  }
}

function openEdges(threshold: number, windowMs: number): ReturnType<typeof createEdges> {
  return createEdges({
    threshold,
    exitThreshold: Math.max(0.01, threshold - 0.15),
    minSpeechMs,
    minSilenceMs,
    windowMs,
  });
}

async function score(vad: VadStream, window: Float32Array): Promise<{ probability: number; failure?: unknown }> {
  try {
    return { probability: await vad.score(window) };
  } catch (failure) {
    return { probability: 0, failure };
  }
}
