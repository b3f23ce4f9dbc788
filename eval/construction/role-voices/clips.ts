import type { MeasuredClip } from '../../../voices/library/choose-clip.ts';
import { examineClip } from '../../../voices/library/examine-clip.ts';
import { cutSource } from '../../../voices/library/source-clips.ts';
import { openVoiceStore } from '../../../voices/library/store.ts';
import type { QualityMeter } from '../../../voices/quality/dnsmos.ts';
import type { SpeechRecognizer } from '../../../voices/recognizer.ts';
import type { SpeakerEncoder } from '../../../voices/speaker-encoder.ts';
import type { Vad } from '../../../voices/vad.ts';
import type { DataRecord, Stage } from '../runner/stage.ts';
import { separated, type Separator } from './separate.ts';
import { subtitlesBeside, subtitlesWithin } from './subtitles.ts';

/** Engines that take recordings apart. */
export interface ListeningStudio {
  readonly vad: Vad;
  readonly recognizer: SpeechRecognizer;
  readonly meter?: QualityMeter | undefined;
  /** Absent: speakers cannot be distinguished, and the build is refused. */
  readonly encoder?: SpeakerEncoder | undefined;
}

/** A clip of a recording, with its place, transcripts and measurements. */
export interface CastClip {
  /** File name of the recording. */
  readonly recording: string;
  readonly clip: MeasuredClip;
  /** Subtitles of its time; empty if there are none. */
  readonly subtitle: string;
}

/** A recording to be cut. */
export interface RecordingRecord extends DataRecord {
  readonly path: string;
}

/** The clips of a recording. */
export interface ClipsRecord extends DataRecord {
  readonly clips: readonly CastClip[];
}

/** Folder of the clips in the build. */
export const clipsId = 'cast';

/** Cuts recordings into clips of speech, and examines each once: transcript, quality, embedding. */
export function clipsStage(
  studio: ListeningStudio,
  separator: Separator | undefined,
): Stage<RecordingRecord, ClipsRecord> {
  const { vad, recognizer, meter, encoder } = studio;
  const by = [vad, recognizer, meter, encoder].map((each) => each?.name ?? '').join(' ');
  return {
    name: 'clips',
    async run([recording], context) {
      if (recording === undefined) return [];
      const { signal } = context;
      const store = openVoiceStore(context.folder);
      const source =
        separator === undefined ? recording.path : await separated(recording.path, { separator, meter, context });
      const { source: cut } = await cutSource(source, { store, id: clipsId, vad, signal });
      const subtitles = await subtitlesBeside(recording.path);
      const clips: CastClip[] = [];
      for (const clip of cut.clips) {
        const examined = await context.once({
          part: clip.file,
          by,
          input: clip.sha256,
          make: () => examineClip(clip, studio, { wavPath: store.place(clipsId, clip.file), signal }),
        });
        const subtitle = subtitlesWithin(subtitles, clip.startMs, clip.endMs);
        if (examined.measured !== null)
          clips.push({ recording: recording.id, clip: examined as MeasuredClip, subtitle });
      }
      context.count('clip', clips.length);
      if (clips.length === 0) context.drop('no 3 seconds of speech without a long pause');
      return [{ id: recording.id, clips }];
    },
  };
}
