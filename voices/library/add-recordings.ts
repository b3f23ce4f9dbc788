import type { CallOptions } from '../engine.ts';
import { writingOf } from '../text/scripts.ts';
import { examineClip, isOpen, type Studio } from './measure-source.ts';
import { measuredClips, pickReference, type Picked, type PickOptions } from './pick-reference.ts';
import { VoiceError, type VoiceClip, type VoiceRecord, type VoiceSource } from './record.ts';
import { cutSource, type CutSource } from './source-clips.ts';
import type { VoiceStore } from './store.ts';

export interface AddOptions extends CallOptions {
  readonly files: readonly string[];
  readonly id: string;
  /** Needed for a new voice. */
  readonly consent?: string | undefined;
  readonly licence?: string | undefined;
  /** BCP 47 tag; what is not given is guessed from the transcripts. */
  readonly language?: string | undefined;
  /** DNSMOS, all in all, that a reference must reach; 3 in SpeechRole, which keeps out half of all clean recordings. */
  readonly leastQuality: number;
  /** Whose voice it is, where several people speak; needs a speaker encoder. */
  readonly speaker?: PickOptions['speaker'];
  readonly onProgress?: ((progress: AddProgress) => void) | undefined;
  /** A recording is read and cut from now on, which takes a while where it is long. */
  readonly onReading?: ((file: string) => void) | undefined;
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
export interface AddResult extends Omit<Picked, 'reference'> {
  readonly record: VoiceRecord & Pick<Picked, 'reference'>;
  /** Clips of the voice in all, and those that were examined now. */
  readonly clips: number;
  readonly examined: number;
}

/**
 * Adds recordings to a voice, as SpeechRole prepares its references: clips of 3 to 10 s, transcripts, quality, speaker
 * embeddings; of the speaker who is heard longest, or the one asked for, the most representative clip becomes the reference.
 * What an earlier run has done, also one that was killed, is not done again. Throws a `VoiceError` where consent is missing, no
 * clip is fit or another process adds to the voice, an `AudioFileError` for a bad recording.
 */
export async function addRecordings(store: VoiceStore, studio: Studio, options: AddOptions): Promise<AddResult> {
  const { id, leastQuality, speaker } = options;
  const encoder = studio.encoder?.name;
  if (typeof speaker === 'number' && encoder === undefined) {
    const why =
      'Without a speaker encoder (DRAMATIS_SPEAKER_ENCODER) nobody tells speakers apart: leave --speaker out.';
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
  // Nothing is lost by it, and a voice of no clips is in everybody's way.
  if (clips.length === 0) await store.remove(id);
  const { reference, ...from } = pickReference(clips, { encoder, leastQuality, speaker, before: record.reference });
  const language = record.language === unknownLanguage ? guessLanguage(reference.transcript) : record.language;
  const finished = { ...record, language, reference };
  if (JSON.stringify(finished) !== JSON.stringify(record)) await store.write(finished);
  return { record: finished, clips: clips.length, examined, ...from };
}

/** BCP 47 for what is not determined yet. */
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

/** Throws `voice_consent_missing` for a new voice of which nobody says who allowed it: before any work. */
export async function requireConsent(store: VoiceStore, id: string, consent: string | undefined): Promise<void> {
  if ((consent?.trim() ?? '') === '' && !(await store.has(id))) throw consentMissing();
}

function consentMissing(): VoiceError {
  return new VoiceError(
    'voice_consent_missing',
    'A voice is cloned only where its speaker allowed it: say who did, and how that is known, with --consent "…".',
  );
}

async function cutAll(store: VoiceStore, { vad }: Studio, options: AddOptions): Promise<CutSource[]> {
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

/**
 * Examines what is open of the voice, also of recordings added earlier, clip by clip; each goes into its recording's journal at
 * once. Returns how many there were.
 */
async function examineAll(store: VoiceStore, studio: Studio, options: ExamineOptions): Promise<number> {
  const { id, cut, language, signal } = options;
  const texts = new Map(cut.map(({ source, text }) => [source.sha256, text]));
  const sources = await store.sources(id);
  const open = sources.flatMap((source) => {
    const text = source.clips.length === 1 ? texts.get(source.sha256) : undefined;
    return source.clips.flatMap((clip, place) => (isOpen(clip, studio, text) ? [{ source, place, text }] : []));
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
