import { findPackageJSON } from 'node:module';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { EngineError } from '../engine.ts';
import type { SpeechRecognizer, Unclear } from '../recognizer.ts';
import { openWorkerPool, type WorkerPool } from '../runtime/worker-pool.ts';
import { checkRate } from '../recognition/check-rate.ts';
import { DecodeAhead, type DecodeAheadOptions, type Urgency } from '../recognition/decode-ahead.ts';
import { concludeHearing, confidenceOf, judge, type Hypothesis } from '../recognition/hypothesis.ts';
import type { MoonshineModelOptions } from './moonshine-model.ts';
import { untilAborted } from '../runtime/until-aborted.ts';

export interface MoonshineOptions {
  /** Threads that decode, one utterance each at a time, with a model of their own; half the processors unless given. */
  readonly workers?: number;
  /** Processors that the encoder of each worker uses; 2 unless given, if there are so many. */
  readonly threads?: number;
  /** Holds the two files of Moonshine tiny; those of `@moonshine-ai/moonshine-js` unless given. */
  readonly modelDirectory?: string;
}

/** A piece of mono audio at 16 kHz; what is final is listened to with more care than what is shown meanwhile. */
export interface MoonshineRequest {
  readonly samples: Float32Array<ArrayBuffer>;
  readonly carefully: boolean;
}

const name = 'moonshine';
const sampleRate = 16_000;
const languages = ['en'];
const urgencies: Readonly<Record<Urgency, number>> = { partial: 0, final: 1 };

const otherLanguages =
  'For other languages configure another recognizer, for example sherpa-onnx with SenseVoice or Paraformer (see README, "Languages").';
const messages: Readonly<Record<Unclear['code'], string>> = {
  language_not_supported: `This does not sound like English, the only language of the built-in recognizer (Moonshine tiny). ${otherLanguages}`,
  low_confidence: `The words could not be made out: speak closer to the microphone, or in a quieter place. The built-in recognizer (Moonshine tiny) knows English only. ${otherLanguages}`,
};

/**
 * Moonshine tiny in worker threads: English, nothing to download. Partials come about twice a second while somebody speaks
 * and a worker is free; the final is usually there as soon as the audio ends, because every pause is decoded at once.
 * What is not English gives an `unclear` final; silence, noise and music an empty one. Utterances may have any length.
 * The model loads with the first utterance, or with `warm`; a missing one then gives `ENGINE_MISSING`.
 */
export function openMoonshine(options: MoonshineOptions = {}): SpeechRecognizer & {
  /** Loads the model in all workers. Aborting throws `signal.reason`. */
  warm(signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
} {
  const processors = availableParallelism();
  const workers = options.workers ?? Math.max(1, Math.floor(processors / 2));
  const threads = options.threads ?? Math.min(2, processors);
  const modelDirectory = options.modelDirectory ?? findMoonshine();
  const pool = openWorkerPool<MoonshineRequest, Hypothesis>({
    name,
    url: new URL('./moonshine-worker.ts', import.meta.url),
    size: workers,
    workerData: { modelDirectory, threads } satisfies MoonshineModelOptions,
    finishMs: 5_000,
  });
  const recognizer = moonshineOn({
    decode: (samples, urgency, signal) => {
      const request = { samples, carefully: urgency === 'final' };
      return pool.call(request, { signal, priority: urgencies[urgency], transfer: [samples.buffer] });
    },
    busy: () => pool.load >= workers,
  });
  return {
    ...recognizer,
    warm: (signal) => warm(pool, workers, signal),
    close: () => pool.close(),
  };
}

/** Moonshine, decoded by whatever is given. */
export function moonshineOn(decoder: Pick<DecodeAheadOptions<Hypothesis>, 'decode' | 'busy'>): SpeechRecognizer {
  return {
    name,
    sampleRate,
    languages,
    async *transcribe(audio, { signal, language }) {
      signal.throwIfAborted();
      if (language !== undefined && !/^en([-_]|$)/i.test(language)) {
        const unclear: Unclear = { code: 'language_not_supported', message: messages.language_not_supported };
        yield { type: 'transcript-final', text: '', unclear };
        return;
      }
      const gone = new AbortController();
      const listening = new DecodeAhead({
        ...decoder,
        believes: (hypothesis: Hypothesis) => judge(hypothesis) === 'words',
        signal: AbortSignal.any([signal, gone.signal]),
      });
      try {
        for await (const frame of untilAborted(audio, { signal })) {
          checkRate(frame, sampleRate, name);
          await listening.push(frame);
          const text = listening.takePartial();
          if (text === undefined) continue;
          const confidence = listening.latest === undefined ? {} : { confidence: confidenceOf([listening.latest]) };
          yield { type: 'transcript-partial', text, ...confidence };
        }
        const heard = await listening.finish();
        signal.throwIfAborted();
        yield concludeHearing(heard, messages);
      } finally {
        gone.abort(new Error('nobody listens any more'));
      }
    },
  };
}

/** Silence is enough: the model doubts that of zeros, and so goes through all that it has. */
async function warm(pool: WorkerPool<MoonshineRequest, Hypothesis>, workers: number, signal: AbortSignal) {
  const silence = (): MoonshineRequest => ({ samples: new Float32Array(sampleRate), carefully: false });
  await Promise.all(Array.from({ length: workers }, () => pool.call(silence(), { signal, priority: urgencies.final })));
}

/** Where the model is that comes with `@moonshine-ai/moonshine-js`; `ENGINE_MISSING` where that is not installed. */
export function findMoonshine(): string {
  const manifest = findPackageJSON('@moonshine-ai/moonshine-js', import.meta.url);
  if (manifest !== undefined) return join(dirname(manifest), 'dist/model/tiny/quantized');
  throw new EngineError(name, 'ENGINE_MISSING', 'the package @moonshine-ai/moonshine-js is missing: run `npm ci`');
}
