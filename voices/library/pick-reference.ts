import { areEmbedded, chooseClip, fitClips, type MeasuredClip, type Unfit } from './choose-clip.ts';
import { VoiceError, type VoiceRecord, type VoiceSource } from './record.ts';
import { groupBySpeaker, type DetectedSpeakers } from './group-by-speaker.ts';

/** The clip of a voice that is cloned. */
export type Reference = NonNullable<VoiceRecord['reference']>;

/** A clip with measurements and the name of its recording. */
export type SourceClip = MeasuredClip & { readonly source: string };

/** Returns the measured clips of all recordings. */
export function measuredClips(sources: readonly VoiceSource[]): SourceClip[] {
  return sources.flatMap(({ name, clips }) =>
    clips.flatMap((clip) => (clip.measured === null ? [] : [{ ...clip, measured: clip.measured, source: name }])),
  );
}

export interface PickOptions {
  /** Name of the current speaker encoder. */
  readonly encoder: string | undefined;
  readonly leastQuality: number;
  /** Speaker of the voice: 1 speaks longest. `all`: there is one speaker, even if the encoder finds more. */
  readonly speaker: number | 'all' | undefined;
  /** Earlier choice: its speaker is kept, unless another is requested. */
  readonly before: Reference | null;
}

/** Chosen reference, and the clips that it was chosen from. */
export interface Picked {
  readonly reference: Reference;
  readonly unfit: Unfit;
  /** Undefined if speakers were not distinguished. */
  readonly heard: DetectedSpeakers<SourceClip> | undefined;
}

/** Chooses the reference of a voice among the clips of one speaker. Throws `voice_not_usable` if none is fit. */
export function pickReference(clips: readonly SourceClip[], options: PickOptions): Picked {
  const heard = areEmbedded(clips, options.encoder) ? groupBySpeaker(clips) : undefined;
  const number = heard === undefined ? 'all' : speakerOf(heard, options);
  const theirs = number === 'all' ? clips : (heard?.speakers[number - 1]?.clips ?? []);
  const { fit, unfit } = fitClips(theirs, options.leastQuality);
  const chosen = chooseClip(fit, options.encoder);
  if (chosen === undefined) throw new VoiceError('voice_not_usable', whyNone(clips, heard, unfit, options));
  const speaker = number === 'all' || heard === undefined ? {} : { speaker: { number, of: heard.speakers.length } };
  return { reference: { ...chosen.clip, choice: { ...chosen.choice, ...speaker } }, unfit, heard };
}

function speakerOf({ speakers }: DetectedSpeakers<SourceClip>, { speaker, before }: PickOptions): number | 'all' {
  if (typeof speaker === 'number' && speaker > speakers.length) {
    const choice =
      speakers.length === 1 ? 'the only choice is --speaker 1' : `choose --speaker 1 to ${speakers.length}`;
    throw new VoiceError('voice_not_usable', `No speaker ${speaker} was found: ${choice}. The clips are kept.`);
  }
  if (speaker !== undefined) return speaker;
  // A clip chosen without an encoder was not tied to any speaker.
  if (before?.choice.by !== 'embedding') return 1;
  if (before.choice.speaker === undefined) return 'all';
  const place = speakers.findIndex(({ clips }) => clips.some(({ sha256 }) => sha256 === before.sha256));
  return Math.max(1, place + 1);
}

function whyNone(
  clips: readonly SourceClip[],
  heard: DetectedSpeakers | undefined,
  unfit: Unfit,
  { leastQuality }: PickOptions,
): string {
  if (clips.length === 0) {
    return 'No clip could be cut: the recordings contain no 3 seconds of speech without a long pause. Nothing was kept. Add longer recordings.';
  }
  if (heard?.speakers.length === 0) {
    return 'Several people speak in every clip. Add recordings of one speaker, or pass --speaker all if it is one person. The clips are kept.';
  }
  const poor = unfit.poor === 0 ? [] : [`${unfit.poor} below DNSMOS ${leastQuality} (lower it with --min-quality)`];
  const mute =
    unfit.withoutTranscript === 0
      ? []
      : [
          `${unfit.withoutTranscript} without a transcript (name a recognizer of that language with --asr, or get one with \`models pull sense-voice\` and add --auto; or write the transcript of a recording to a text file beside it, clip.txt beside clip.wav)`,
        ];
  const others = (heard?.speakers.length ?? 0) > 1 ? ' --speaker 2 selects another speaker.' : '';
  const count = unfit.poor + unfit.withoutTranscript;
  const none = count === 1 ? 'The only clip is not' : `None of the ${count} clips is`;
  return `${none} usable as a reference: ${[...poor, ...mute].join('; ')}.${others} The clips are kept.`;
}
