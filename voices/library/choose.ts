import { centralities } from '../speaker-encoder.ts';
import { rounded } from './measure.ts';
import type { Measured, VoiceChoice, VoiceClip } from './record.ts';

/** A clip that was measured. */
export type MeasuredClip = VoiceClip & { readonly measured: Measured };

/** Why clips are not fit to be a reference, and how many. */
export interface Unfit {
  readonly poor: number;
  readonly withoutTranscript: number;
}

/**
 * The clips of a voice that may become its reference: with a transcript, and of a quality of at least `leastQuality` where
 * that was measured.
 */
export function fitClips<Clip extends MeasuredClip>(
  clips: readonly Clip[],
  leastQuality: number,
): { readonly fit: readonly Clip[]; readonly unfit: Unfit } {
  const good = clips.filter(({ measured }) => (measured.quality?.overall ?? leastQuality) >= leastQuality);
  const fit = good.filter(({ transcript }) => transcript !== '');
  return { fit, unfit: { poor: clips.length - good.length, withoutTranscript: good.length - fit.length } };
}

/**
 * The most representative clip (SpeechRole, appendix A.2): that with the highest mean cosine to all others by `encoder`. Where
 * not all have been embedded by it, the one of the best DNSMOS, else of the best signal to noise: the cleanest, since no
 * statistic without a model tells who speaks. Undefined of none.
 */
export function chooseClip<Clip extends MeasuredClip>(
  clips: readonly Clip[],
  encoder: string | undefined,
): { readonly clip: Clip; readonly choice: VoiceChoice } | undefined {
  const { by, scores } = scoresOf(clips, encoder);
  const score = Math.max(...scores);
  const clip = clips[scores.indexOf(score)];
  return clip === undefined ? undefined : { clip, choice: { by, score: rounded(score, 4), clips: clips.length } };
}

function scoresOf(
  clips: readonly MeasuredClip[],
  encoder: string | undefined,
): { readonly by: VoiceChoice['by']; readonly scores: readonly number[] } {
  // An earlier run may have had an encoder where this one has none.
  const name = encoder ?? clips[0]?.measured.embedding?.encoder;
  const embeddings = clips.flatMap(({ measured: { embedding } }) =>
    embedding !== null && embedding.encoder === name ? [embedding.values] : [],
  );
  if (embeddings.length === clips.length) return { by: 'embedding', scores: centralities(embeddings) };
  const qualities = clips.flatMap(({ measured: { quality } }) => (quality === null ? [] : [quality.overall]));
  if (qualities.length === clips.length) return { by: 'dnsmos', scores: qualities };
  return { by: 'snr', scores: clips.map(({ measured }) => measured.snrDb) };
}
