import path from 'node:path';
import { addRecordings, type AddProgress, type AddResult } from '../../voices/library/add-recordings.ts';
import { makeDataDir } from '../data-dir.ts';
import { openEngines } from '../engines.ts';
import { openVoiceModels } from '../voice-models.ts';
import { interruptSignal } from './interrupt.ts';
import { openProgressBar } from './progress-bar.ts';
import { UsageError } from './usage.ts';
import { printVoice, shownVoice } from './voices-show.ts';
import type { VoicesCommand } from './voices.ts';

/** Half of all clean recordings reach it; at 3, the paper's, it is few. */
const usualLeastQuality = 2.5;

/** `dramatis voices add FILE…`: recordings of one speaker become a voice; goes on where an earlier run was stopped. */
export async function add({ config, store, names: files, values, json }: VoicesCommand): Promise<number> {
  const [first] = files;
  if (first === undefined) throw new UsageError('Name one or more recordings of one speaker.');
  const leastQuality = qualityOf(values['min-quality']);
  const language = languageOf(values.language);
  makeDataDir(config.dataDir);
  const signal = interruptSignal();
  const models = await openVoiceModels(config, { signal });
  const engines = await openEngines(config);
  try {
    const { vad, recognizer } = engines;
    const result = await addRecordings(
      store,
      { vad, recognizer, meter: models.meter, encoder: models.encoder },
      {
        files,
        id: textOf(values.id) ?? idOf(first),
        consent: textOf(values.consent),
        licence: textOf(values.licence),
        language,
        leastQuality,
        signal,
        onProgress: openProgress(),
      },
    );
    if (json)
      console.log(JSON.stringify({ ...shownVoice(result.record), clips: result.clips, examined: result.examined }));
    else print(result, models.meter === undefined, models.encoder === undefined);
    return 0;
  } finally {
    await Promise.all([models.close(), engines.close()]);
  }
}

function openProgress(): (progress: AddProgress) => void {
  let bar: ReturnType<typeof openProgressBar> | undefined;
  return (progress) => {
    if (progress.type === 'cut') {
      const { file, isNew, clips } = progress;
      process.stderr.write(`${file}: ${clips} ${clips === 1 ? 'clip' : 'clips'}${isNew ? '' : ', cut before'}\n`);
      return;
    }
    bar ??= openProgressBar('s of speech');
    const { clips, ofClips, seconds, ofSeconds } = progress;
    bar.show(seconds, ofSeconds, `${clips}/${ofClips} clips`);
    if (clips === ofClips) bar.end();
  };
}

function print({ record, clips, examined, unfit }: AddResult, lacksMeter: boolean, lacksEncoder: boolean): void {
  printVoice(record);
  console.log(`\n${clips} ${clips === 1 ? 'clip' : 'clips'}, ${examined} examined now.`);
  if (unfit.poor > 0) console.log(`${unfit.poor} left out for their quality (--min-quality).`);
  if (unfit.withoutTranscript > 0)
    console.log(`${unfit.withoutTranscript} left out because nobody made out the words.`);
  if (lacksMeter) console.log('Quality was not judged: set DRAMATIS_DNSMOS (README, “Voices”).');
  if (lacksEncoder) {
    console.log(
      'The cleanest clip was chosen, not the most typical one: set DRAMATIS_SPEAKER_ENCODER (README, “Voices”).',
    );
  }
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
  const quality = value === undefined ? usualLeastQuality : Number(value);
  if (quality >= 1 && quality <= 5) return quality;
  throw new UsageError('--min-quality is a number from 1 to 5.');
}

/** A name made of the file's. */
function idOf(file: string): string {
  const words = path
    .parse(file)
    .name.toLowerCase()
    .match(/[a-z0-9]+/g);
  if (words !== null) return words.join('-').slice(0, 64).replace(/-$/, '');
  throw new UsageError('Name the voice with --id.');
}
