import type { CallOptions } from '../engine.ts';
import { writingOf } from '../scripts.ts';
import { chooseClip, fitClips, type Unfit } from './choose.ts';
import { examineClip, isOpen, type Studio } from './measure-source.ts';
import { VoiceError, type VoiceClip, type VoiceRecord, type VoiceSource } from './record.ts';
import { cutSource, type CutSource } from './source-clips.ts';
import type { VoiceStore } from './store.ts';

export interface AddOptions extends CallOptions {
  /** Recordings of one speaker. */
  readonly files: readonly string[];
  readonly id: string;
  /** Needed for a new voice. */
  readonly consent?: string | undefined;
  readonly licence?: string | undefined;
  /** BCP 47 tag; what is not given is guessed from the transcripts. */
  readonly language?: string | undefined;
  /** DNSMOS, all in all, that a reference must reach; 3 in SpeechRole, which keeps out half of all clean recordings. */
  readonly leastQuality: number;
  readonly onProgress?: ((progress: AddProgress) => void) | undefined;
  /** Now, as ISO 8601. */
  readonly now?: (() => string) | undefined;
}

/** How far an addition is: recordings cut first, then clips examined, of which none at the start. */
export type AddProgress =
  | { readonly type: 'cut'; readonly file: string; readonly isNew: boolean; readonly clips: number }
  | {
      readonly type: 'examined';
      readonly clips: number;
      readonly ofClips: number;
      readonly seconds: number;
      readonly ofSeconds: number;
    };

/** What came of it. */
export interface AddResult {
  readonly record: VoiceRecord & { readonly reference: NonNullable<VoiceRecord['reference']> };
  /** Clips of the voice in all, and those that were cut or examined now. */
  readonly clips: number;
  readonly examined: number;
  readonly unfit: Unfit;
}

/**
 * Adds recordings to a voice, as SpeechRole prepares its references: clips of 3 to 10 s, transcripts, quality, speaker
 * embeddings; the most representative clip becomes the reference. What an earlier run has done, also one that was killed, is
 * not done again. Throws a `VoiceError` where consent is missing or no clip is fit, an `AudioFileError` for a bad recording.
 */
export async function addRecordings(store: VoiceStore, studio: Studio, options: AddOptions): Promise<AddResult> {
  const { id } = options;
  const isNew = !(await store.has(id));
  const record = await openRecord(store, options);
  const cut = await cutAll(store, studio, options).catch(async (fault: unknown) => {
    if (isNew && (await store.sources(id)).length === 0) await store.remove(id);
    throw fault;
  });
  const examined = await examineAll(store, studio, { ...options, cut });
  const clips = (await store.sources(id)).flatMap(({ name, clips: all }) =>
    all.flatMap((clip) => (clip.measured === null ? [] : [{ ...clip, measured: clip.measured, source: name }])),
  );
  const { fit, unfit } = fitClips(clips, options.leastQuality);
  const chosen = chooseClip(fit, studio.encoder?.name);
  if (chosen === undefined) throw new VoiceError('voice_not_usable', whyNone(clips.length, unfit, options));
  const reference = { ...chosen.clip, choice: chosen.choice };
  const language = record.language === unknownLanguage ? guessLanguage(reference.transcript) : record.language;
  const finished = { ...record, language, reference };
  if (JSON.stringify(finished) !== JSON.stringify(record)) await store.write(finished);
  return { record: finished, clips: clips.length, examined, unfit };
}

/** BCP 47 for what is not determined yet. */
const unknownLanguage = 'und';

async function openRecord(store: VoiceStore, options: AddOptions): Promise<VoiceRecord> {
  const { id, language, licence } = options;
  const known = (await store.has(id)) ? await store.read(id) : undefined;
  const note = options.consent?.trim() ?? '';
  if (known === undefined && note === '') {
    throw new VoiceError(
      'voice_consent_missing',
      'A voice is cloned only where its speaker allowed it: say who did, and how that is known, with --consent "…".',
    );
  }
  const recordedAt = options.now?.() ?? new Date().toISOString();
  const record: VoiceRecord = {
    version: 1,
    id,
    language: language ?? known?.language ?? unknownLanguage,
    licence: licence ?? known?.licence ?? 'not stated',
    consent: known !== undefined && (note === '' || note === known.consent.note) ? known.consent : { note, recordedAt },
    reference: known?.reference ?? null,
  };
  if (JSON.stringify(record) !== JSON.stringify(known)) await store.write(record);
  return record;
}

async function cutAll(store: VoiceStore, { vad }: Studio, options: AddOptions): Promise<CutSource[]> {
  const { id, signal } = options;
  const cut: CutSource[] = [];
  for (const file of options.files) {
    const done = await cutSource(file, { store, id, vad, signal });
    cut.push(done);
    options.onProgress?.({ type: 'cut', file, isNew: done.isNew, clips: done.source.clips.length });
  }
  return cut;
}

interface ExamineOptions extends AddOptions {
  readonly cut: readonly CutSource[];
}

/** Examines what is open, clip by clip; each goes into its recording's journal at once. Returns how many there were. */
async function examineAll(store: VoiceStore, studio: Studio, options: ExamineOptions): Promise<number> {
  const { id, cut, language, signal } = options;
  const open = cut.flatMap(({ source, text }) => {
    const whole = source.clips.length === 1 ? text : undefined;
    return source.clips.flatMap((clip, place) => (isOpen(clip, studio, whole) ? [{ source, place, text: whole }] : []));
  });
  const ofSeconds = open.reduce((sum, { source, place }) => sum + secondsOf(source.clips[place]), 0);
  const journals = new Map<string, VoiceSource>(cut.map(({ source }) => [source.sha256, source]));
  let seconds = 0;
  if (open.length > 0) options.onProgress?.({ type: 'examined', clips: 0, ofClips: open.length, seconds, ofSeconds });
  for (const [index, { source, place, text }] of open.entries()) {
    signal.throwIfAborted();
    const journal = journals.get(source.sha256) ?? source;
    const clip = journal.clips[place] as VoiceClip;
    const wavPath = store.place(id, clip.file);
    const found = await examineClip(clip, studio, { wavPath, language, text, signal });
    const next = { ...journal, clips: journal.clips.with(place, found) };
    journals.set(source.sha256, next);
    await store.writeSource(id, next);
    seconds += secondsOf(clip);
    options.onProgress?.({ type: 'examined', clips: index + 1, ofClips: open.length, seconds, ofSeconds });
  }
  return open.length;
}

function secondsOf(clip: Pick<VoiceClip, 'startMs' | 'endMs'> | undefined): number {
  return clip === undefined ? 0 : (clip.endMs - clip.startMs) / 1000;
}

function guessLanguage(transcript: string): string {
  return writingOf(transcript).language;
}

function whyNone(clips: number, unfit: Unfit, { leastQuality }: AddOptions): string {
  if (clips === 0) {
    return 'No clip could be cut: the recordings hold no 3 seconds of speech without a long pause. Add longer ones.';
  }
  const poor = unfit.poor === 0 ? [] : [`${unfit.poor} under DNSMOS ${leastQuality} (--min-quality lowers that)`];
  const mute =
    unfit.withoutTranscript === 0
      ? []
      : [
          `${unfit.withoutTranscript} without a transcript (name a recognizer of that language, or put the words of a recording into a text file beside it, such as clip.txt beside clip.wav)`,
        ];
  return `None of ${clips} clips is fit to be a reference: ${[...poor, ...mute].join('; ')}. What was done is kept.`;
}
