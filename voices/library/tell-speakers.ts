import type { MeasuredClip } from './choose.ts';
import { groupAlike } from './group-alike.ts';

/** One of those who speak in the recordings of a voice. */
export interface HeardSpeaker<Clip extends MeasuredClip = MeasuredClip> {
  /** Of speech, in clips that are theirs alone. */
  readonly seconds: number;
  readonly clips: readonly Clip[];
}

/** Who speaks in the recordings of a voice. */
export interface HeardSpeakers<Clip extends MeasuredClip = MeasuredClip> {
  /** Who speaks longest comes first. */
  readonly speakers: readonly HeardSpeaker<Clip>[];
  /** Clips in which several people speak. */
  readonly mixed: readonly Clip[];
}

/**
 * Mean cosine from which clips are of one speaker: the threshold that ModelScope publishes for CAM++ zh-cn-common. Those of its
 * bilingual sibling lie at about 0.67 for one speaker, 0.06 for two; WavLM-large's (Seed-TTS-eval) for real clips of one at 0.73.
 */
const leastOfClips = 0.31;
/** The same for parts of a clip, which tell less: what 3D-Speaker's diarization joins its windows of 1.5 s by. */
const leastOfParts = 0.2;

/** Tells apart who speaks in clips, all embedded by one encoder. */
export function tellSpeakers<Clip extends MeasuredClip>(clips: readonly Clip[]): HeardSpeakers<Clip> {
  const isMixed = ({ measured }: Clip): boolean => (measured.embedding?.partsAlike ?? 1) < leastOfParts;
  const single = clips.filter((clip) => !isMixed(clip));
  const { groups } = groupAlike(
    single.map(({ measured }) => measured.embedding?.values ?? []),
    leastOfClips,
  );
  const inOrder = groups.toSorted(([a = 0], [b = 0]) => a - b);
  const speakers = inOrder.map((places): HeardSpeaker<Clip> => {
    const theirs = places.map((place) => single[place] as Clip);
    return { clips: theirs, seconds: theirs.reduce((sum, { measured }) => sum + measured.seconds, 0) };
  });
  return { speakers: speakers.toSorted((a, b) => b.seconds - a.seconds), mixed: clips.filter(isMixed) };
}
