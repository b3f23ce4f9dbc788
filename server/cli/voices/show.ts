import { VoiceError, type VoiceRecord } from '../../../voices/library/record.ts';
import { areEmbedded } from '../../../voices/library/choose-clip.ts';
import { measuredClips, type SourceClip } from '../../../voices/library/pick-reference.ts';
import { groupBySpeaker } from '../../../voices/library/group-by-speaker.ts';
import { faultText } from '../../terminal/fault-text.ts';
import { UsageError } from '../../terminal/flags.ts';
import { table } from '../../terminal/table.ts';
import { jsonText, noteLine, printLine, wrap } from '../../terminal/text.ts';
import type { VoicesCommand } from './voices.ts';

/** `dramatis voices list`: lists the voices; unreadable ones are reported at the end, with exit status 1. */
export async function list({ store, json }: VoicesCommand): Promise<number> {
  const ids = await store.list();
  const read = await Promise.allSettled(ids.map((id) => store.read(id)));
  const records = read.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
  if (json) printLine(jsonText(records.map(shownVoice), 2));
  else if (records.length > 0)
    printLine(table(['id', 'language', 'seconds', 'DNSMOS', 'F0', 'licence', 'transcript'], records.map(rowOf)));
  else if (ids.length === 0)
    printLine('There are no voices yet. Add one with `dramatis voices add FILE… --consent "…"`.');
  const faults = read.flatMap((each) => (each.status === 'rejected' ? [each.reason as unknown] : []));
  for (const fault of faults) noteLine(`dramatis voices: ${faultText(fault).text}`);
  return faults.length === 0 ? 0 : 1;
}

function rowOf({ id, language, licence, reference }: VoiceRecord): string[] {
  if (reference === null)
    return [
      id,
      language,
      '',
      '',
      '',
      licence,
      '(no reference clip yet: run `voices add` with these or more recordings)',
    ];
  const { seconds, quality, pitch } = reference.measured;
  return [
    id,
    language,
    seconds.toFixed(1),
    quality?.overall.toFixed(2) ?? '',
    pitch === null ? '' : `${Math.round(pitch.medianHertz)} Hz`,
    licence,
    reference.transcript,
  ];
}

/** `dramatis voices show ID`. */
export async function show({ store, names, values, json }: VoicesCommand): Promise<number> {
  const record = await store.read(nameFrom(names));
  const clips = values.clips === true ? shownClips(measuredClips(await store.sources(record.id))) : undefined;
  if (json) printLine(jsonText(clips === undefined ? record : { ...record, clips }, 2));
  else {
    printVoice(record);
    if (clips !== undefined) printLine(`\n${clipTable(clips, record.reference?.file)}`);
  }
  return 0;
}

/** `dramatis voices remove ID`: removes a voice with its clips. */
export async function remove({ store, names, json }: VoicesCommand): Promise<number> {
  const id = nameFrom(names);
  using _lock = (await store.has(id)) ? await store.lock(id) : undefined;
  await store.remove(id);
  printLine(json ? jsonText({ removed: id }) : `Removed the voice ${id} with its clips.`);
  return 0;
}

/** Returns the named voice. Throws a `UsageError` if none is named. */
export function nameFrom([id]: readonly string[]): string {
  if (id !== undefined) return id;
  throw new UsageError('Name a voice. `dramatis voices list` lists them.');
}

/** Returns the chosen clip of a voice; throws if none has been chosen yet. */
export function referenceOf({ id, reference }: VoiceRecord): NonNullable<VoiceRecord['reference']> {
  if (reference !== null) return reference;
  throw new VoiceError(
    'voice_not_usable',
    `The voice "${id}" has no reference clip yet: run \`dramatis voices add\` with the same or more recordings.`,
  );
}

/**
 * Returns clips in recording order without embedding values, with their speaker number: null if several speak or no
 * speaker encoder was available.
 */
function shownClips(clips: readonly SourceClip[]) {
  const { speakers } = areEmbedded(clips, undefined) ? groupBySpeaker(clips) : { speakers: [] };
  return clips.map((clip) => {
    const place = speakers.findIndex((speaker) => speaker.clips.includes(clip));
    const { embedding: _embedding, ...measured } = clip.measured;
    return { ...clip, measured, speaker: place === -1 ? null : place + 1 };
  });
}

function clipTable(clips: ReturnType<typeof shownClips>, reference: string | undefined): string {
  const rows = clips.map(({ file, source, startMs, measured, speaker, transcript }) => [
    file === reference ? '→' : '',
    source,
    (startMs / 1000).toFixed(1),
    measured.seconds.toFixed(1),
    measured.quality?.overall.toFixed(2) ?? '',
    `${Math.round(measured.snrDb)} dB`,
    speaker?.toString() ?? '',
    transcript,
  ]);
  return table(['', 'recording', 'at', 'seconds', 'DNSMOS', 'SNR', 'speaker', 'transcript'], rows);
}

/** Returns a voice record without embedding values. */
export function shownVoice({ reference, ...rest }: VoiceRecord): Record<string, unknown> {
  if (reference === null) return { ...rest, reference };
  const { embedding, ...measured } = reference.measured;
  return { ...rest, reference: { ...reference, measured: { ...measured, encoder: embedding?.encoder ?? null } } };
}

function chosenLine({ by, score, clips, speaker }: NonNullable<VoiceRecord['reference']>['choice']): string {
  const whose = speaker === undefined || speaker.of === 1 ? '' : ` of speaker ${speaker.number} of ${speaker.of}`;
  return clips === 1 ? `the only usable clip${whose}` : `${choices[by]}: ${score}, of ${clips} clips${whose}`;
}

const choices = {
  embedding: 'highest mean cosine similarity to the other clips',
  dnsmos: 'highest DNSMOS (no speaker encoder)',
  snr: 'highest signal-to-noise ratio (no speaker encoder, no DNSMOS)',
} as const;

/** Prints a voice line by line. */
export function printVoice(record: VoiceRecord): void {
  const { id, language, licence, consent, reference } = record;
  const rows: [string, string][] = [
    ['voice', id],
    ['language', language],
    ['licence', licence],
    ['consent', `${consent.note} (${consent.recordedAt.slice(0, 10)})`],
  ];
  if (reference === null) rows.push(['reference', 'none yet']);
  else {
    const { measured, choice } = reference;
    const { pitch, speakingRate, quality, embedding } = measured;
    rows.push(
      ['reference', `${reference.file}, from ${reference.source} at ${(reference.startMs / 1000).toFixed(2)} s`],
      ['chosen', chosenLine(choice)],
      ['transcript', reference.transcript],
      ['ASR', reference.transcribedBy ?? ''],
      ['length', `${measured.seconds.toFixed(2)} s`],
      ['SNR', `${measured.snrDb} dB`],
      ['F0', pitch === null ? 'none' : `${pitch.medianHertz} Hz (${pitch.lowHertz} to ${pitch.highHertz})`],
      ['pace', speakingRate === null ? 'unknown' : `${speakingRate.perMinute} ${speakingRate.unit} per minute`],
      ['DNSMOS', qualityLine(quality)],
      ['embedding', embedding === null ? 'none' : `${embedding.values.length} numbers by ${embedding.encoder}`],
      ['SHA-256', reference.sha256],
    );
  }
  for (const [label, value] of rows) printLine(wrap(`${label.padEnd(12)}${value}`, 12));
}

function qualityLine(quality: NonNullable<VoiceRecord['reference']>['measured']['quality']): string {
  if (quality === null) return 'not rated';
  const { signal, background, overall, p808 } = quality;
  const parts = [`SIG ${signal.toFixed(2)}`, `BAK ${background.toFixed(2)}`, `OVRL ${overall.toFixed(2)}`];
  return [...parts, ...(p808 === undefined ? [] : [`P.808 ${p808.toFixed(2)}`])].join(', ');
}
