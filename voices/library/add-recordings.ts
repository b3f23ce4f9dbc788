import type { CallOptions } from '../engine.ts';
import { writingOf } from '../text/scripts.ts';
import { examineClip, needsExamination, type ClipEngines } from './examine-clip.ts';
import { measuredClips, pickReference, type Picked, type PickOptions } from './pick-reference.ts';
import { VoiceError, type VoiceClip, type VoiceRecord, type VoiceSource } from './record.ts';
import { cutSource, type CutSource } from './source-clips.ts';
import type { VoiceStore } from './store.ts';

export interface AddOptions extends CallOptions {
  readonly files: readonly string[];
  readonly id: string;
  /** Required for a new voice. */
  readonly consent?: string | undefined;
  readonly licence?: string | undefined;
  /** BCP 47 tag; guessed from the transcripts if not given. */
  readonly language?: string | undefined;
  /** Minimum overall DNSMOS of a reference. SpeechRole uses 3, which rejects half of all clean recordings. */
  readonly leastQuality: number;
  /** Speaker to use if several people speak; requires a speaker encoder. */
  readonly speaker?: PickOptions['speaker'];
  readonly onProgress?: ((progress: AddProgress) => void) | undefined;
  /** Called when a recording starts to be read and cut, which takes a while if it is long. */
  readonly onReading?: ((file: string) => void) | undefined;
  /** Current time as ISO 8601. */
  readonly now?: (() => string) | undefined;
}

/** Recordings are cut first, then clips are examined; the first `examined` report has 0 clips. */
export type AddProgress =
  | { readonly type: 'cut'; readonly file: string; readonly isNew: boolean; readonly clips: number }
  | {
      readonly type: 'examined';
      readonly clips: number;
      readonly ofClips: number;
      readonly seconds: number;
      readonly ofSeconds: number;
    };

/** Result of adding recordings to a voice. */
export interface AddResult extends Omit<Picked, 'reference'> {
  readonly record: VoiceRecord & Pick<Picked, 'reference'>;
  /** All clips of the voice, and those examined in this run. */
  readonly clips: number;
  readonly examined: number;
}

/**
 * Adds recordings to a voice, following SpeechRole's preparation of references: clips of 3 to 10 s, transcripts,
 * quality, speaker embeddings. The most representative clip of the speaker who talks longest, or of the one requested,
 * becomes the reference. Work done by an earlier run, even one that was killed, is not repeated. Throws a `VoiceError`
 * if consent is missing, no clip is fit or another process is adding to the voice, and an `AudioFileError` for a bad
 * recording.
 */
export async function addRecordings(store: VoiceStore, studio: ClipEngines, options: AddOptions): Promise<AddResult> {
  const { id, leastQuality, speaker } = options;
  const encoder = studio.encoder?.name;
  if (typeof speaker === 'number' && encoder === undefined) {
    const why = '--speaker requires a speaker encoder (DRAMATIS_SPEAKER_ENCODER). Set one, or leave --speaker out.';
    throw new VoiceError('voice_not_usable', why);
  }
  using _lock = await store.lock(id);
  const isNew = !(await store.has(id));
  const record = await openRecord(store, options);
  const cut = await cutAll(store, studio, options).catch(async (fault: unknown) => {
    if (isNew && (await store.sources(id)).length === 0) await store.remove(id);
    throw fault;
  });
  const examined = await examineAll(store, studio, { ...options, cut });
  const clips = measuredClips(await store.sources(id));
  // Nothing is lost by removing it, and a voice without clips would only be in the way.
  if (clips.length === 0) await store.remove(id);
  const { reference, ...from } = pickReference(clips, { encoder, leastQuality, speaker, before: record.reference });
  const language = record.language === unknownLanguage ? guessLanguage(reference.transcript) : record.language;
  const finished = { ...record, language, reference };
  if (JSON.stringify(finished) !== JSON.stringify(record)) await store.write(finished);
  return { record: finished, clips: clips.length, examined, ...from };
}

/** BCP 47 tag for an undetermined language. */
const unknownLanguage = 'und';

async function openRecord(store: VoiceStore, options: AddOptions): Promise<VoiceRecord> {
  const { id, language, licence } = options;
  const known = (await store.has(id)) ? await store.read(id) : undefined;
  const note = options.consent?.trim() ?? '';
  if (known === undefined && note === '') throw consentMissing();
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

/** Throws `voice_consent_missing` for a new voice without a consent note, before any work is done. */
export async function requireConsent(store: VoiceStore, id: string, consent: string | undefined): Promise<void> {
  if ((consent?.trim() ?? '') === '' && !(await store.has(id))) throw consentMissing();
}

function consentMissing(): VoiceError {
  const detail =
    'Cloning a voice requires the consent of its speaker. State who gave it, and how you know, with --consent "…".';
  return new VoiceError('voice_consent_missing', detail);
}

async function cutAll(store: VoiceStore, { vad }: ClipEngines, options: AddOptions): Promise<CutSource[]> {
  const { id, signal } = options;
  const cut: CutSource[] = [];
  for (const file of options.files) {
    options.onReading?.(file);
    const done = await cutSource(file, { store, id, vad, signal });
    cut.push(done);
    options.onProgress?.({ type: 'cut', file, isNew: done.isNew, clips: done.source.clips.length });
  }
  return cut;
}

interface ExamineOptions extends AddOptions {
  readonly cut: readonly CutSource[];
}

/** Examines the voice's clips that still need it; saves each result to its journal at once. Returns their number. */
async function examineAll(store: VoiceStore, studio: ClipEngines, options: ExamineOptions): Promise<number> {
  const { id, cut, language, signal } = options;
  const texts = new Map(cut.map(({ source, text }) => [source.sha256, text]));
  const sources = await store.sources(id);
  const open = sources.flatMap((source) => {
    const text = source.clips.length === 1 ? texts.get(source.sha256) : undefined;
    return source.clips.flatMap((clip, place) =>
      needsExamination(clip, studio, text) ? [{ source, place, text }] : [],
    );
  });
  const ofSeconds = open.reduce((sum, { source, place }) => sum + secondsOf(source.clips[place]), 0);
  const journals = new Map<string, VoiceSource>(sources.map((source) => [source.sha256, source]));
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
