import { findPackageJSON } from 'node:module';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { EngineError } from '../engine.ts';
import type { SpeechRecognizer, Unclear } from '../recognizer.ts';
import { openWorkerPool, type EngineLoad, type WorkerPool } from '../runtime/worker-pool.ts';
import { checkRate } from '../audio.ts';
import { DecodeAhead, type DecodeAheadOptions, type Urgency } from '../recognition/decode-ahead.ts';
import { finalTranscript, confidenceOf, judge, withCommand, type Hypothesis } from '../recognition/hypothesis.ts';
import type { MoonshineModelOptions } from './moonshine-model.ts';
import { untilAborted } from '../runtime/streams.ts';

export interface MoonshineOptions {
  /** Decoding threads, each with its own model and one utterance at a time; default: half the processors. */
  readonly workers?: number;
  /** Threads of each worker's encoder; default 2, or 1 on a single processor. */
  readonly threads?: number;
  /** Folder with the two files of Moonshine tiny; default: that of `@moonshine-ai/moonshine-js`. */
  readonly modelDirectory?: string;
}

/** Mono audio at 16 kHz. `carefully` is for finals: a doubtful result is decoded twice, unlike for partials. */
export interface MoonshineRequest {
  readonly samples: Float32Array<ArrayBuffer>;
  readonly carefully: boolean;
}

const name = 'moonshine';
const sampleRate = 16_000;
const languages = ['en'];
const urgencies: Readonly<Record<Urgency, number>> = { partial: 0, final: 1 };

const otherLanguages =
  'For other languages, configure another recognizer, for example sherpa-onnx with SenseVoice or Paraformer (see README, "Languages").';
const messages: Readonly<Record<Unclear['code'], string>> = {
  language_not_supported: `This does not sound like English, the only language of the built-in recognizer (Moonshine tiny). ${otherLanguages}`,
  low_confidence: `The speech was not understood. Speak closer to the microphone, or in a quieter place. The built-in recognizer (Moonshine tiny) supports English only. ${otherLanguages}`,
};

/**
 * Moonshine tiny in worker threads: English only, nothing to download. Partials come about twice a second while the
 * user speaks and a worker is free; the final is usually ready as soon as the audio ends, because every pause is
 * decoded at once. Speech in another language gives an `unclear` final; silence, noise and music an empty one.
 * Utterances may have any length. The model loads with the first utterance, or with `warm`; a missing one then throws
 * `ENGINE_MISSING`.
 */
export function openMoonshine(options: MoonshineOptions = {}): SpeechRecognizer & {
  /** Loads the model in all workers. Aborting throws `signal.reason`. */
  warm(signal: AbortSignal): Promise<void>;
  load(): EngineLoad;
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
    busy: () => pool.load.running + pool.load.waiting >= workers,
  });
  return {
    ...recognizer,
    warm: (signal) => warm(pool, workers, signal),
    load: () => pool.load,
    close: () => pool.close(),
  };
}

/** Makes the Moonshine recognizer on any decoder. */
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
        decode: async (...request) => withCommand(await decoder.decode(...request)),
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
        yield finalTranscript(heard, messages);
      } finally {
        gone.abort(new Error('the caller stopped reading'));
      }
    },
  };
}

/** Decodes silence on every worker. The model is unsure about zeros, so all of its code paths run. */
async function warm(pool: WorkerPool<MoonshineRequest, Hypothesis>, workers: number, signal: AbortSignal) {
  const silence = (): MoonshineRequest => ({ samples: new Float32Array(sampleRate), carefully: false });
  await Promise.all(Array.from({ length: workers }, () => pool.call(silence(), { signal, priority: urgencies.final })));
}

/** Folder of the model in `@moonshine-ai/moonshine-js`; throws `ENGINE_MISSING` if that is not installed. */
export function findMoonshine(): string {
  const manifest = findPackageJSON('@moonshine-ai/moonshine-js', import.meta.url);
  if (manifest !== undefined) return join(dirname(manifest), 'dist/model/tiny/quantized');
  throw new EngineError(name, 'ENGINE_MISSING', 'the package @moonshine-ai/moonshine-js is missing: run `npm ci`');
}
