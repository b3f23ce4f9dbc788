import { openDnsmos, type QualityMeter } from '../../voices/quality/dnsmos.ts';
import { openOnnxSpeaker } from '../../voices/speakers/onnx-speaker.ts';
import { openContext } from '../../voices/calls/context.ts';
import type { CallOptions } from '../../voices/engine.ts';
import type { SpeechRecognizer } from '../../voices/recognizer.ts';
import { openMoonshine } from '../../voices/recognizers/moonshine.ts';
import { readWav } from '../../voices/dsp/wav.ts';
import { EvalError } from '../eval-error.ts';
import { measurementKey } from '../run-log.ts';
import type { DialogueScorer } from '../speechrole/data/task.ts';
import { missingCue, type Cue, type CueResult } from './cue.ts';
import { pitchCue } from './pitch.ts';
import { rateCue } from './rate.ts';
import { similarityCue } from './similarity.ts';
import { werCue } from './wer.ts';
import { mean } from '../statistics.ts';

/** The scorer's name in the log. */
export const cueScorerName = 'cues';

export const cueNames = ['pitch', 'rate', 'wer', 'dnsmos', 'similarity'] as const;

export interface CueSettings {
  /** Names from `cueNames`, or `all`. */
  readonly names: readonly string[];
  /** OpenAI-compatible transcription server for `wer`; Moonshine (English only) by default. */
  readonly recognizer?: { readonly url: string; readonly model: string; readonly key?: string | undefined } | undefined;
  /** ONNX files supplied by the user; without them `similarity` and `dnsmos` have no values. */
  readonly speakerModels?: readonly string[] | undefined;
  readonly dnsmosModel?: string | undefined;
  /** Folder of the roles' voice clips, for `similarity`. */
  readonly roleVoices?: string | undefined;
}

/**
 * Opens the requested paralinguistic cues. A cue whose model is not installed stays in the list and reports why it has
 * no value.
 */
export async function openCues(
  settings: CueSettings,
  options: CallOptions,
): Promise<{ readonly scorer: DialogueScorer; readonly close: () => Promise<void> }> {
  const wanted = settings.names.includes('all') ? [...cueNames] : settings.names;
  const unknown = wanted.filter((name) => !(cueNames as readonly string[]).includes(name));
  if (unknown.length > 0)
    throw new EvalError(
      'usage',
      `There is no cue "${unknown.join('", "')}". The cues are: ${cueNames.join(', ')}, all.`,
    );
  const closing: (() => Promise<void>)[] = [];
  const cues: Cue[] = [];
  for (const name of wanted) {
    for (const { cue, close } of await openCue(name as (typeof cueNames)[number], settings, options)) {
      cues.push(cue);
      if (close !== undefined) closing.push(close);
    }
  }
  return {
    scorer: cueScorer(cues),
    async close() {
      for (const close of closing) await close();
    },
  };
}

interface OpenedCue {
  readonly cue: Cue;
  readonly close?: () => Promise<void>;
}

async function openCue(
  name: (typeof cueNames)[number],
  settings: CueSettings,
  options: CallOptions,
): Promise<readonly OpenedCue[]> {
  const { recognizer, dnsmosModel } = settings;
  switch (name) {
    case 'pitch':
      return [{ cue: pitchCue }];
    case 'rate':
      return [{ cue: rateCue }];
    case 'wer': {
      const opened = await openCueRecognizer(recognizer);
      return [{ cue: werCue(opened.recognizer), close: opened.close }];
    }
    case 'dnsmos': {
      if (dnsmosModel === undefined)
        return [{ cue: missingCue(name, dnsmosUnits, 'no DNSMOS: name its file with --dnsmos-model') }];
      const meter = await openDnsmos({ modelPath: dnsmosModel, ...options });
      return [{ cue: dnsmosCue(meter), close: () => meter.close() }];
    }
    case 'similarity':
      return openSimilarity(settings, options);
  }
}

/** Opens one cue per encoder, because scores of different encoders are not comparable. */
async function openSimilarity(
  { speakerModels = [], roleVoices }: CueSettings,
  options: CallOptions,
): Promise<readonly OpenedCue[]> {
  const missing = (why: string): OpenedCue[] => [
    { cue: missingCue('similarity', { toReference: 'cosine to the role’s clip' }, why) },
  ];
  if (speakerModels.length === 0) return missing('no speaker encoder: name its file with --speaker-model');
  if (roleVoices === undefined) return missing('no clips of the roles: name their folder with --role-voices');
  return Promise.all(
    speakerModels.map(async (file) => {
      const encoder = await openOnnxSpeaker({ modelPath: file, ...options });
      return { cue: similarityCue(encoder, roleVoices), close: () => encoder.close() };
    }),
  );
}

/** Opens a recognizer on a server, by default Moonshine here. */
export async function openCueRecognizer(
  wanted: CueSettings['recognizer'],
): Promise<{ readonly recognizer: SpeechRecognizer; readonly close: () => Promise<void> }> {
  if (wanted === undefined) {
    const recognizer = openMoonshine();
    return { recognizer, close: () => recognizer.close() };
  }
  const { adapter } = await import('../../voices/recognizers/openai-transcriptions.ts');
  const settings = adapter.settings.parse({ baseUrl: wanted.url, model: wanted.model });
  const callPolicy = [adapter.callPolicy?.(settings)];
  const recognizer = adapter.open(settings, openContext('recognizer of the cues', { key: wanted.key, callPolicy }));
  return { recognizer, close: async () => recognizer.close?.() };
}

/** Log record of a measured cue. */
export interface MeasuredCue extends CueResult {
  readonly units: Cue['units'];
}

/** Measures cues on the reply recordings, one measurement per cue and dialogue. */
export function cueScorer(cues: readonly Cue[]): DialogueScorer {
  return {
    name: cueScorerName,
    measurementKeys: () => cues.map((cue) => cue.name),
    async measure(name, { sample, output }, { audio, signal }): Promise<MeasuredCue> {
      const cue = cues.find((each) => each.name === name) as Cue;
      const sounds = await Promise.all(
        output.answers.flatMap((answer) =>
          answer.audio === null
            ? []
            : [audio.read(answer.audio).then(async (wav) => ({ sound: await readWav(wav), text: answer.text }))],
        ),
      );
      const { role, language } = sample.input;
      return { ...(await cue.measure({ role, language, replies: sounds }, { signal })), units: cue.units };
    },
    score: (_solved, measured) =>
      cues.flatMap((cue) => {
        const result = measured.get(measurementKey(cueScorerName, cue.name)) as CueResult | undefined;
        return Object.keys(cue.units).map((key) => {
          const value = result?.values[key] ?? null;
          const why = result === undefined ? 'not measured' : result.why;
          return { name: `${cue.name}.${key}`, value, ...(value === null && why !== undefined ? { why } : {}) };
        });
      }),
  };
}

const dnsmosUnits = {
  overall: 'DNSMOS P.835, all in all, 1 to 5',
  signal: 'DNSMOS P.835, the speech itself',
  background: 'DNSMOS P.835, the background',
} as const;

/** Detects noise, clipping and dead air; does not measure how natural the speech is. */
function dnsmosCue(meter: QualityMeter): Cue {
  return {
    name: 'dnsmos',
    units: dnsmosUnits,
    async measure({ replies }, options) {
      const rated: Awaited<ReturnType<QualityMeter['rate']>>[] = [];
      for (const { sound } of replies) rated.push(await meter.rate(sound, options));
      const of = (key: keyof typeof dnsmosUnits): number | null => mean(rated.map((each) => each[key]));
      return { values: { overall: of('overall'), signal: of('signal'), background: of('background') } };
    },
  };
}
