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
import { numberFlag, textFlag, UsageError, type FlagValue } from '../../terminal/flags.ts';
import { table } from '../../terminal/table.ts';
import { jsonText, printLine, wrap } from '../../terminal/text.ts';
import { printVoice } from './show.ts';
import type { VoicesCommand } from './voices.ts';

/** Default DNSMOS threshold: half of all clean recordings reach it, but few reach 3, the paper's. */
const defaultMinQuality = 2.5;

/** `dramatis voices add FILE…`: makes a voice from recordings; continues an earlier run that was stopped. */
export async function add({ config, store, names, values, json }: VoicesCommand): Promise<number> {
  const [first] = names;
  if (first === undefined)
    throw new UsageError(
      'Name recordings, or a folder with recordings: dramatis voices add interview.mp3 --id martha --consent "…"',
    );
  const leastQuality = numberFlag(values['min-quality'], 'min-quality', { min: 1, max: 5 }) ?? defaultMinQuality;
  const language = languageOf(values.language);
  const speaker = speakerOf(values.speaker);
  const consent = textFlag(values.consent);
  const id = textFlag(values.id) ?? idOf(first);
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
    const licence = textFlag(values.licence);
    const result = await addRecordings(
      store,
      { vad, recognizer, meter, encoder },
      { files, id, consent, licence, language, leastQuality, speaker, signal, ...progress },
    );
    const { record, clips, examined } = result;
    if (json) printLine(jsonText({ ...shownVoice(record), clips, examined, ...shownSpeakers(result) }));
    else print(result, { meter: meter !== undefined, encoder: encoder !== undefined });
    return 0;
  } finally {
    progress.end();
    await Promise.all([meter?.close(), engines.close()]);
  }
}

/** Reports progress on standard error; on a terminal the current step is drawn in place. */
function openProgress(target = process.stderr) {
  const bar = openProgressBar({ unit: 's of speech', target });
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
          clips === 0 ? 'no clip: less than 3 s of continuous speech' : `${clips} ${clips === 1 ? 'clip' : 'clips'}`;
        return note(`${path.basename(file)}: ${found}${isNew ? '' : ', already cut'}`);
      }
      const { clips, ofClips, seconds, ofSeconds } = progress;
      bar.show({ done: seconds, of: ofSeconds, facts: [`${clips}/${ofClips} clips`] });
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
  printLine(`\n${clips} ${clips === 1 ? 'clip' : 'clips'} in total, ${examined} examined now.`);
  printSpeakers(result);
  const reasons = [
    [record.reference.choice.speaker === undefined ? 0 : (heard?.mixed.length ?? 0), 'with several speakers'],
    [unfit.poor, 'below --min-quality'],
    [unfit.withoutTranscript, 'without a transcript'],
  ].flatMap(([count, why]) => (count === 0 ? [] : [`${count} ${why}`]));
  if (reasons.length > 0) printLine(`Left out: ${reasons.join(', ')}.`);
  const say = (text: string): void => printLine(wrap(text, 0));
  if (!has.meter)
    say(
      'Quality was not rated: install DNSMOS with `models pull dnsmos` and use --auto, or set DRAMATIS_DNSMOS (README, “Voices”).',
    );
  if (!has.encoder && record.reference.choice.by !== 'embedding') {
    say(
      'Without a speaker encoder, speakers are not separated, and the cleanest clip was chosen instead of the most typical one: set DRAMATIS_SPEAKER_ENCODER (README, “Voices”).',
    );
  }
  printLine(`\n\`dramatis voices play ${record.id}\` plays the reference.`);
  say(
    `To use it, set "voice": { "reference": "${record.id}" } in a character’s card, or in the engines file (README, “Voices”).`,
  );
}

function languageOf(value: FlagValue): string | undefined {
  const language = textFlag(value);
  if (language === undefined || /^[a-z]{2,3}(-[A-Za-z0-9]+)*$/.test(language)) return language;
  throw new UsageError('--language must be a tag such as en or zh.');
}

function speakerOf(value: FlagValue): number | 'all' | undefined {
  if (value === 'all' || value === undefined) return value;
  const number = Number(value);
  if (Number.isInteger(number) && number >= 1) return number;
  throw new UsageError('--speaker must be a number from 1, as listed by `voices add`, or "all".');
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
  if (speakers.length === 1) printLine('One speaker found.');
  else {
    printLine(
      `${speakers.length} speakers found${chosen === undefined ? '; all clips are treated as one speaker' : ''}:\n`,
    );
    const rows = speakers.slice(0, mostRows).map(({ seconds, clips }, index) => {
      const mark = index + 1 === chosen ? '→' : '';
      return [mark, String(index + 1), minutesOf(seconds), String(clips.length), saysOf(clips)];
    });
    printLine(table(['', 'speaker', 'minutes', 'clips', 'says'], rows));
    const rest = speakers.length - mostRows;
    if (rest > 0) printLine(`… and ${rest} more with less speech.`);
    printLine('\n`--speaker N` selects another speaker; `--speaker all` treats them as one person.');
  }
}

function saysOf(clips: readonly { readonly transcript: string }[]): string {
  return clips.find(({ transcript }) => transcript !== '')?.transcript ?? '';
}

function minutesOf(seconds: number): string {
  const whole = Math.round(seconds);
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, '0')}`;
}
