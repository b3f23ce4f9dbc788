import { shownVoice } from './show.ts';
import path from 'node:path';
import {
  addRecordings,
  requireConsent,
  type AddProgress,
  type AddResult,
} from '../../../voices/library/add-recordings.ts';
import { recordingsAt } from '../../../voices/library/recordings-at.ts';
import { makeDataDir } from '../../config/data-dir.ts';
import { openEngines } from '../../engines/engines.ts';
import { providerFallbackNotes } from '../../telemetry/provider-fallback-notes.ts';
import { openMeter } from '../../engines/voice-models.ts';
import { interruptSignal } from '../../terminal/interrupt.ts';
import { openProgressBar } from '../../terminal/progress-bar.ts';
import { wrapped, table } from '../../terminal/table.ts';
import { UsageError } from '../../terminal/usage.ts';
import { printVoice } from './show.ts';
import type { VoicesCommand } from './voices.ts';

/** Default DNSMOS threshold: half of all clean recordings reach it, but few reach 3, the paper's. */
const defaultMinQuality = 2.5;

/** `dramatis voices add FILE…`: makes a voice from recordings; continues an earlier run that was stopped. */
export async function add({ config, store, names, values, json }: VoicesCommand): Promise<number> {
  const [first] = names;
  if (first === undefined)
    throw new UsageError(
      'Name recordings, or a folder of them: dramatis voices add interview.mp3 --id martha --consent "…"',
    );
  const leastQuality = qualityOf(values['min-quality']);
  const language = languageOf(values.language);
  const speaker = speakerOf(values.speaker);
  const consent = textOf(values.consent);
  const id = textOf(values.id) ?? idOf(first);
  makeDataDir(config.dataDir);
  const files = await recordingsAt(names);
  await requireConsent(store, id, consent);
  const signal = interruptSignal();
  const progress = openProgress();
  const notes = providerFallbackNotes();
  notes.tellTo((_facts, text) => progress.note(text));
  const engines = await openEngines(config, undefined, notes.take);
  const { vad, recognizer, speakerEncoder: encoder } = engines;
  const meter = await openMeter(config, { signal }).catch(async (fault: unknown) => {
    await engines.close();
    throw fault;
  });
  try {
    const licence = textOf(values.licence);
    const result = await addRecordings(
      store,
      { vad, recognizer, meter, encoder },
      { files, id, consent, licence, language, leastQuality, speaker, signal, ...progress },
    );
    const { record, clips, examined } = result;
    if (json) console.log(JSON.stringify({ ...shownVoice(record), clips, examined, ...shownSpeakers(result) }));
    else print(result, { meter: meter !== undefined, encoder: encoder !== undefined });
    return 0;
  } finally {
    progress.end();
    await Promise.all([meter?.close(), engines.close()]);
  }
}

/** Reports progress on standard error; on a terminal the current step is drawn in place. */
function openProgress(target = process.stderr) {
  const bar = openProgressBar('s of speech', target);
  const clear = target.isTTY ? '\r\u001B[2K' : '';
  let isReading = false;
  const note = (text: string): void => {
    isReading = false;
    target.write(`${clear}${text}\n`);
  };
  return {
    note,
    onReading(file: string): void {
      isReading = target.isTTY;
      if (isReading) target.write(`${clear}${path.basename(file)} …`);
    },
    onProgress(progress: AddProgress): void {
      if (progress.type === 'cut') {
        const { file, isNew, clips } = progress;
        const found =
          clips === 0 ? 'no clip: under 3 s of speech on end' : `${clips} ${clips === 1 ? 'clip' : 'clips'}`;
        return note(`${path.basename(file)}: ${found}${isNew ? '' : ', cut before'}`);
      }
      const { clips, ofClips, seconds, ofSeconds } = progress;
      bar.show(seconds, ofSeconds, `${clips}/${ofClips} clips`);
      if (clips === ofClips) bar.end();
    },
    end(): void {
      if (isReading) target.write('\n');
      bar.end();
    },
  };
}

function print(result: AddResult, has: { readonly meter: boolean; readonly encoder: boolean }): void {
  const { record, clips, examined, unfit, heard } = result;
  printVoice(record);
  console.log(`\n${clips} ${clips === 1 ? 'clip' : 'clips'} in all, ${examined} examined now.`);
  printSpeakers(result);
  const reasons = [
    [record.reference.choice.speaker === undefined ? 0 : (heard?.mixed.length ?? 0), 'in which several speak'],
    [unfit.poor, 'for its quality (--min-quality)'],
    [unfit.withoutTranscript, 'because nobody made out the words'],
  ].flatMap(([count, why]) => (count === 0 ? [] : [`${count} ${why}`]));
  if (reasons.length > 0) console.log(`Left out: ${reasons.join(', ')}.`);
  const say = (text: string): void => console.log(wrapped(text, 0));
  if (!has.meter)
    say('Quality was not judged: `models pull dnsmos` and --auto, or DRAMATIS_DNSMOS (README, “Voices”).');
  if (!has.encoder && record.reference.choice.by !== 'embedding') {
    say(
      'Nobody told speakers apart, and the cleanest clip was chosen, not the most typical one: set DRAMATIS_SPEAKER_ENCODER (README, “Voices”).',
    );
  }
  console.log(`\n\`dramatis voices play ${record.id}\` plays the reference.`);
  say(
    `Cast it with "voice": { "reference": "${record.id}" } in a character’s card, or in the engines file (README, “Voices”).`,
  );
}

function textOf(value: string | boolean | undefined): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined;
}

function languageOf(value: string | boolean | undefined): string | undefined {
  const language = textOf(value);
  if (language === undefined || /^[a-z]{2,3}(-[A-Za-z0-9]+)*$/.test(language)) return language;
  throw new UsageError('--language is a tag such as en or zh.');
}

function qualityOf(value: string | boolean | undefined): number {
  const quality = value === undefined ? defaultMinQuality : Number(value);
  if (quality >= 1 && quality <= 5) return quality;
  throw new UsageError('--min-quality is a number from 1 to 5.');
}

function speakerOf(value: string | boolean | undefined): number | 'all' | undefined {
  if (value === undefined || value === 'all') return value;
  const number = Number(value);
  if (Number.isInteger(number) && number >= 1) return number;
  throw new UsageError('--speaker is a number from 1, as `voices add` lists them, or "all".');
}

/** Derives a voice id from a file name. */
function idOf(file: string): string {
  const words = path
    .parse(path.resolve(file))
    .name.toLowerCase()
    .match(/[a-z0-9]+/g);
  if (words !== null) return words.join('-').slice(0, 64).replace(/-$/, '');
  throw new UsageError('Name the voice with --id.');
}

const mostRows = 8;

/** Speakers found in the recordings, as JSON; empty without a speaker encoder. */
function shownSpeakers({ heard }: AddResult): Record<string, unknown> {
  if (heard === undefined) return {};
  const speakers = heard.speakers.map(({ seconds, clips }, index) => {
    return { speaker: index + 1, seconds: Math.round(seconds), clips: clips.length, says: saysOf(clips) };
  });
  return { speakers, mixed: heard.mixed.length };
}

/** Prints the speakers found, their durations, and which one the voice uses. */
function printSpeakers({ heard, record }: AddResult): void {
  if (heard === undefined) return;
  const { speakers } = heard;
  const chosen = record.reference.choice.speaker?.number;
  if (speakers.length === 1) console.log('One speaker is heard.');
  else {
    console.log(`${speakers.length} speakers are heard${chosen === undefined ? '; all clips count as one’s' : ''}:\n`);
    const rows = speakers.slice(0, mostRows).map(({ seconds, clips }, index) => {
      const mark = index + 1 === chosen ? '→' : '';
      return [mark, String(index + 1), minutesOf(seconds), String(clips.length), saysOf(clips)];
    });
    console.log(table(['', 'speaker', 'minutes', 'clips', 'says'], rows));
    const rest = speakers.length - mostRows;
    if (rest > 0) console.log(`… and ${rest} more, each with less.`);
    console.log('\n`--speaker N` makes the voice that of another; `--speaker all` where they are one person.');
  }
}

function saysOf(clips: readonly { readonly transcript: string }[]): string {
  return clips.find(({ transcript }) => transcript !== '')?.transcript ?? '';
}

function minutesOf(seconds: number): string {
  const whole = Math.round(seconds);
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, '0')}`;
}
