import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import type { AudioFrame } from '../../../voices/audio.ts';
import type { Hypothesis } from '../../../voices/recognition/hypothesis.ts';
import { loadMoonshine, type MoonshineModel } from '../../../voices/recognizers/moonshine-model.ts';
import { findMoonshine, moonshineOn } from '../../../voices/recognizers/moonshine.ts';
import type { SpeechRecognizer } from '../../../voices/recognizer.ts';
import type { SpeechChunk, SpeechSynthesizer } from '../../../voices/synthesizer.ts';
import type { Vad } from '../../../voices/vad.ts';
import type { SimulatedTime } from './simulated-time.ts';
import { phrasesOf } from '../../fakes/spoken.ts';

interface Timed<Result> {
  readonly result: Result;
  /** Computation time in real milliseconds. */
  readonly tookMs: number;
}

/**
 * Duration of a decoding in simulated time, in milliseconds: the median of 4,000 decodings on two busy processors. A
 * constant model makes results independent of other load on the machine. Each further pass takes as long again.
 */
function decodingMs({ seconds, second, padded }: Hypothesis): number {
  return (10 + 20 * seconds) * (1 + (second === undefined ? 0 : 1) + (padded === undefined ? 0 : 1.5));
}

/** Moonshine, one decoding at a time and nothing in parallel. */
export class Decoder {
  readonly #model: Promise<MoonshineModel>;
  readonly #known = new Map<string, Timed<Hypothesis>>();
  readonly #file: string | undefined;
  #last: Promise<unknown> = Promise.resolve();

  /** `file`: results are read from it and written back by `save`, so that another run over the same audio is fast. */
  constructor(file: string | undefined) {
    this.#file = file;
    this.#model = loadMoonshine({ modelDirectory: findMoonshine(), threads: Math.min(2, availableParallelism()) });
    if (file === undefined || !existsSync(file)) return;
    for (const line of readFileSync(file, 'utf8').split('\n').filter(Boolean)) {
      const [key, timed] = JSON.parse(line) as [string, Timed<Hypothesis>];
      this.#known.set(key, timed);
    }
  }

  /** Decoding times in milliseconds. */
  get tookMs(): number[] {
    return [...this.#known.values()].map(({ tookMs }) => tookMs);
  }

  /** The first decodings of a process are slow; a real server is warmed up. */
  async warm(): Promise<void> {
    const model = await this.#model;
    const sound = Float32Array.from(
      { length: 16_000 },
      (_, index) => 0.1 * Math.sin(index / 9) * Math.sin(index / 900),
    );
    for (let round = 0; round < 4; round += 1) await model.decode(sound, { carefully: round % 2 === 0 });
  }

  async hear(samples: Float32Array, carefully: boolean): Promise<Timed<Hypothesis>> {
    const key = `${createHash('sha1').update(samples).digest('base64')}${carefully ? '!' : ''}`;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const before = this.#last;
    const hearing = (async () => {
      await before;
      const model = await this.#model;
      const startMs = performance.now();
      const result = await model.decode(samples, { carefully });
      return { result, tookMs: performance.now() - startMs };
    })();
    this.#last = hearing.catch(() => undefined);
    this.#known.set(key, await hearing);
    return hearing;
  }

  save(): void {
    if (this.#file === undefined) return;
    writeFileSync(this.#file, [...this.#known].map((entry) => `${JSON.stringify(entry)}\n`).join(''));
  }
}

interface Job {
  readonly isFinal: boolean;
  readonly start: () => void;
}

/**
 * The built-in recognizer with one worker, as on a server with two processors: decodings queue, finals first, and
 * finish after their usual time.
 */
export function simulatedRecognizer(time: SimulatedTime, decoder: Decoder): SpeechRecognizer {
  const waiting: Job[] = [];
  const never = new AbortController().signal;
  let running = 0;
  const startNext = (): void => {
    if (running > 0 || waiting.length === 0) return;
    const place = Math.max(
      0,
      waiting.findIndex((job) => job.isFinal),
    );
    waiting.splice(place, 1)[0]?.start();
  };
  return moonshineOn({
    busy: () => running + waiting.length > 0,
    decode: (samples, urgency, signal) =>
      new Promise<Hypothesis>((resolve, reject) => {
        if (signal.aborted) return reject(signal.reason as Error);
        const job: Job = {
          isFinal: urgency === 'final',
          start: () => {
            running += 1;
            void (async () => {
              try {
                const { result } = await time.during(decoder.hear(samples, urgency === 'final'));
                await time.sleep(decodingMs(result), never);
                resolve(result);
              } catch (reason) {
                reject(reason);
              } finally {
                running -= 1;
                startNext();
              }
            })();
          },
        };
        signal.addEventListener('abort', () => {
          if (waiting.includes(job)) waiting.splice(waiting.indexOf(job), 1);
          reject(signal.reason as Error);
        });
        waiting.push(job);
        startNext();
      }),
  });
}

/** The VAD; its 0.1 ms per window is ignored. */
export function simulatedVad(time: SimulatedTime, vad: Vad): Vad {
  return {
    ...vad,
    open() {
      const stream = vad.open();
      return { score: (window) => time.during(stream.score(window)), close: () => stream.close() };
    },
  };
}

/** Cache of synthesized speech, so that the same phrase always takes the same time. */
export type SpokenBefore = Map<string, Promise<Timed<readonly SpeechChunk[]>>>;

/** A synthesizer whose phrases are ready after their computation time, or after `firstAudioMs` if given. */
export function simulatedSynthesizer(
  time: SimulatedTime,
  synthesizer: SpeechSynthesizer,
  before: SpokenBefore,
  firstAudioMs?: number,
): SpeechSynthesizer {
  return {
    ...synthesizer,
    async *speak(phrases, options) {
      let atMs = 0;
      for await (const { text } of phrases) {
        const key = JSON.stringify([synthesizer.name, text, options.voice, options.speed]);
        let making = before.get(key);
        if (making === undefined) before.set(key, (making = speakOnce(synthesizer, text, options)));
        const { result, tookMs } = await time.during(making);
        await time.sleep(firstAudioMs ?? tookMs, options.signal);
        for (const chunk of result) {
          const frame: AudioFrame = { ...chunk.frame, atMs };
          yield { ...chunk, frame };
          atMs += (frame.samples.length / frame.sampleRate) * 1000;
        }
      }
    },
  };
}

async function speakOnce(
  synthesizer: SpeechSynthesizer,
  text: string,
  { voice, speed }: Parameters<SpeechSynthesizer['speak']>[1],
): Promise<Timed<readonly SpeechChunk[]>> {
  const { signal } = new AbortController();
  const startMs = performance.now();
  const result: SpeechChunk[] = [];
  const options = { signal, voice, ...(speed === undefined ? {} : { speed }) };
  for await (const chunk of synthesizer.speak(phrasesOf(text), options)) result.push(chunk);
  return { result, tookMs: performance.now() - startMs };
}
