import type { MeasuredClip } from './choose-clip.ts';
import { clusterEmbeddings } from './cluster-embeddings.ts';

/** One speaker detected in the recordings of a voice. */
export interface DetectedSpeaker<Clip extends MeasuredClip = MeasuredClip> {
  /** Seconds of speech in clips with this speaker only. */
  readonly seconds: number;
  readonly clips: readonly Clip[];
}

/** Speakers detected in the recordings of a voice. */
export interface DetectedSpeakers<Clip extends MeasuredClip = MeasuredClip> {
  /** Sorted by speaking time, longest first. */
  readonly speakers: readonly DetectedSpeaker<Clip>[];
  /** Clips in which several people speak. */
  readonly mixed: readonly Clip[];
}

/**
 * Minimum mean cosine of clips by one speaker: the threshold that ModelScope publishes for CAM++ zh-cn-common. Its
 * bilingual sibling scores about 0.67 for one speaker and 0.06 for two; WavLM-large (Seed-TTS-eval) 0.73 for real clips
 * of one.
 */
const leastOfClips = 0.31;
/** Minimum for parts of a clip: the threshold at which 3D-Speaker's diarization joins its windows of 1.5 s. */
const leastOfParts = 0.2;

/** Groups clips by speaker; all must have embeddings of the same encoder. */
export function groupBySpeaker<Clip extends MeasuredClip>(clips: readonly Clip[]): DetectedSpeakers<Clip> {
  const isMixed = ({ measured }: Clip): boolean => (measured.embedding?.partsAlike ?? 1) < leastOfParts;
  const single = clips.filter((clip) => !isMixed(clip));
  const { groups } = clusterEmbeddings(
    single.map(({ measured }) => measured.embedding?.values ?? []),
    leastOfClips,
  );
  const inOrder = groups.toSorted(([a = 0], [b = 0]) => a - b);
  const speakers = inOrder.map((places): DetectedSpeaker<Clip> => {
    const theirs = places.map((place) => single[place] as Clip);
    return { clips: theirs, seconds: theirs.reduce((sum, { measured }) => sum + measured.seconds, 0) };
  });
  return { speakers: speakers.toSorted((a, b) => b.seconds - a.seconds), mixed: clips.filter(isMixed) };
}
