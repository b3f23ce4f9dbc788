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

/** Whether all clips were embedded by `encoder`; by that of an earlier run, where this one has none. */
export function areEmbedded(clips: readonly MeasuredClip[], encoder: string | undefined): boolean {
  const name = encoder ?? clips[0]?.measured.embedding?.encoder;
  return clips.length > 0 && clips.every(({ measured }) => name !== undefined && measured.embedding?.encoder === name);
}

function scoresOf(
  clips: readonly MeasuredClip[],
  encoder: string | undefined,
): { readonly by: VoiceChoice['by']; readonly scores: readonly number[] } {
  if (areEmbedded(clips, encoder)) {
    const embeddings = clips.map(({ measured }) => measured.embedding?.values ?? []);
    return { by: 'embedding', scores: centralities(embeddings) };
  }
  const qualities = clips.flatMap(({ measured: { quality } }) => (quality === null ? [] : [quality.overall]));
  if (qualities.length === clips.length) return { by: 'dnsmos', scores: qualities };
  return { by: 'snr', scores: clips.map(({ measured }) => measured.snrDb) };
}
