import { centralities } from '../speaker-encoder.ts';
import { rounded } from './measure.ts';
import type { Measured, VoiceChoice, VoiceClip } from './record.ts';

/** A clip with measurements. */
export type MeasuredClip = VoiceClip & { readonly measured: Measured };

/** Number of clips unfit to be a reference, by reason. */
export interface Unfit {
  readonly poor: number;
  readonly withoutTranscript: number;
}

/** Clips that may become the reference: with a transcript and, if measured, a quality of at least `leastQuality`. */
export function fitClips<Clip extends MeasuredClip>(
  clips: readonly Clip[],
  leastQuality: number,
): { readonly fit: readonly Clip[]; readonly unfit: Unfit } {
  const good = clips.filter(({ measured }) => (measured.quality?.overall ?? leastQuality) >= leastQuality);
  const fit = good.filter(({ transcript }) => transcript !== '');
  return { fit, unfit: { poor: clips.length - good.length, withoutTranscript: good.length - fit.length } };
}

/**
 * Chooses the most representative clip (SpeechRole, appendix A.2): the one with the highest mean cosine to all others
 * by `encoder`. If not all have embeddings from it, chooses the best DNSMOS, otherwise the best SNR: the cleanest,
 * because no statistic without a model identifies the speaker. Undefined if there are no clips.
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

/** True if all clips have embeddings of `encoder`, or, if that is undefined, of one encoder from an earlier run. */
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
