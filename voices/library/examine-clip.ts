import type { CallOptions } from '../engine.ts';
import { detectVoice, transcribeRecording } from '../recognition/transcribe-recording.ts';
import type { QualityMeter } from '../quality/dnsmos.ts';
import type { SpeechRecognizer } from '../recognizer.ts';
import { resample } from '../dsp/resampler.ts';
import type { SpeakerEncoder } from '../speaker-encoder.ts';
import type { Vad } from '../vad.ts';
import { readWav } from '../dsp/wav.ts';
import { clusterEmbeddings } from './cluster-embeddings.ts';
import { measureClip, rounded } from './measure.ts';
import type { Measured, VoiceClip } from './record.ts';

/** Engines used to examine clips. */
export interface ClipEngines {
  readonly vad: Vad;
  readonly recognizer: SpeechRecognizer;
  /** Absent: quality is not measured. */
  readonly meter?: QualityMeter | undefined;
  /** Absent: speakers are not distinguished. */
  readonly encoder?: SpeakerEncoder | undefined;
}

interface ClipOptions extends CallOptions {
  /** Path of the clip. */
  readonly wavPath: string;
  readonly language?: string | undefined;
  /** Known transcript of the clip. */
  readonly text?: string | undefined;
}

/** Source label of transcripts read from a sidecar `.txt`. */
const textFile = 'text file';

/** True if the studio could still add something to what is known about a clip. */
export function needsExamination(clip: VoiceClip, { recognizer, meter, encoder }: ClipEngines, text?: string): boolean {
  const { measured } = clip;
  if (measured === null || wantsTranscript(clip, recognizer, text)) return true;
  const wantsQuality = meter !== undefined && measured.quality?.meter !== meter.name;
  return wantsQuality || (encoder !== undefined && measured.embedding?.encoder !== encoder.name);
}

/** Examines a clip: adds the transcript, measurements, quality and embedding that are missing. */
export async function examineClip(clip: VoiceClip, studio: ClipEngines, options: ClipOptions): Promise<VoiceClip> {
  const { vad, recognizer } = studio;
  const { signal, text, language } = options;
  const frame = await readWav(options.wavPath);
  const activity = await detectVoice(resample(frame.samples, frame.sampleRate, vad.sampleRate), vad, { signal });
  const transcribe = async (): Promise<Pick<VoiceClip, 'transcript' | 'transcribedBy'>> => {
    if (!wantsTranscript(clip, recognizer, text)) return clip;
    if (text !== undefined) return { transcript: text, transcribedBy: textFile };
    const heard = await transcribeRecording(activity, recognizer, {
      signal,
      ...(language !== undefined && { language }),
    });
    return { transcript: heard?.text.trim() ?? '', transcribedBy: recognizer.name };
  };
  const [heard, quality, embedding] = await Promise.all([
    transcribe(),
    rate(clip, studio.meter, frame, signal),
    embed(clip, studio.encoder, frame, signal),
  ]);
  return {
    ...clip,
    transcript: heard.transcript,
    transcribedBy: heard.transcribedBy,
    measured: { ...measureClip(frame, activity, heard.transcript), quality, embedding },
  };
}

function wantsTranscript(clip: VoiceClip, recognizer: SpeechRecognizer, text: string | undefined): boolean {
  return clip.transcript === '' && (text !== undefined || clip.transcribedBy !== recognizer.name);
}

type Frame = Parameters<QualityMeter['rate']>[0];

async function rate(
  { measured }: VoiceClip,
  meter: QualityMeter | undefined,
  frame: Frame,
  signal: AbortSignal,
): Promise<Measured['quality']> {
  const known = measured?.quality ?? null;
  if (meter === undefined || known?.meter === meter.name) return known;
  const quality = Object.entries(await meter.rate(frame, { signal })).map(([key, value]) => [key, rounded(value, 4)]);
  return { meter: meter.name, ...Object.fromEntries(quality) } as Measured['quality'];
}

async function embed(
  { measured }: VoiceClip,
  encoder: SpeakerEncoder | undefined,
  frame: Frame,
  signal: AbortSignal,
): Promise<Measured['embedding']> {
  const known = measured?.embedding ?? null;
  if (encoder === undefined || known?.encoder === encoder.name) return known;
  const [values, ...parts] = await Promise.all(
    [frame, ...partsOf(frame)].map((each) => encoder.embed(each, { signal })),
  );
  return {
    encoder: encoder.name,
    values: [...(values ?? [])].map((value) => rounded(value, 6)),
    partsAlike: rounded(clusterEmbeddings(parts, -1).loosest, 4),
  };
}

/** Length of equal parts long enough to identify a speaker: 3D-Speaker's diarization uses windows of 1.5 s. */
const partSeconds = 1.5;

function partsOf({ samples, sampleRate, atMs }: Frame): Frame[] {
  const count = Math.max(1, Math.floor(samples.length / sampleRate / partSeconds));
  const length = Math.floor(samples.length / count);
  return Array.from({ length: count }, (_, index) => {
    return { samples: samples.subarray(index * length, (index + 1) * length), sampleRate, atMs };
  });
}
