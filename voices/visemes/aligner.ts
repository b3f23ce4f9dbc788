import { concatSamples, durationMs, type AudioFrame } from '../audio.ts';
import { openWorkerPool, type WorkerPool } from '../runtime/worker-pool.ts';
import type { SpeechChunk, SpeechSynthesizer, TimedPhone, Voice } from '../synthesizer.ts';
import type { Alignment } from './alignment.ts';
import { AlignedPhrase, type PhraseShapes, type ReferenceSpeech } from './phrase-shapes.ts';

/** Requests to the thread: to add the reference or more audio of a phrase, and to align what it has. */
export interface AlignRequest {
  readonly phrase: number;
  /** Of the sound, in hertz. */
  readonly sampleRate: number;
  readonly reference?: Pick<AudioFrame, 'samples' | 'sampleRate'>;
  readonly samples: readonly Float32Array[];
  readonly isOver?: true;
}

/** Undefined while the reference or the sound is missing. */
export type AlignReply = Alignment | undefined;

/** A voice that tells its sounds: its rendering of the same text is the reference. */
export interface Reference {
  readonly synthesizer: SpeechSynthesizer;
  readonly voice: Voice;
  close(): Promise<void>;
}

/** Words whose sounds are remembered. */
const mostWords = 1_000;

/** Finds the shapes of the mouth in the speech of engines that tell no sounds, with the help of a reference voice. */
export interface Aligner {
  /** Begins to make the reference of a phrase, before its sound comes. `language`: BCP 47; default: by its script. */
  begin(text: string, language?: string): PhraseShapes;
  close(): Promise<void>;
}

/** Opens an aligner. Its threads, and the reference voice, start when they are first needed. */
export function openAligner(openReference: () => Reference): Aligner {
  let opened: Reference | undefined;
  let pool: WorkerPool<AlignRequest, AlignReply> | undefined;
  let count = 0;
  const closing = new AbortController();
  const { signal } = closing;
  /** Sounds of single words, the latest last. */
  const words = new Map<string, Promise<readonly TimedPhone[]>>();
  const render = async (text: string, language: string | undefined): Promise<readonly SpeechChunk[]> => {
    opened ??= openReference();
    const options = { signal, voice: opened.voice, ...(language === undefined ? {} : { language }) };
    return Array.fromAsync(opened.synthesizer.speak(only({ text }), options));
  };
  const soundsOf = (word: string, language: string | undefined): Promise<readonly TimedPhone[]> => {
    const key = `${language ?? ''} ${word}`;
    const known = words.get(key) ?? render(word, language).then(phonesOf, () => []);
    words.delete(key);
    words.set(key, known);
    const [oldest] = words.keys();
    if (words.size > mostWords && oldest !== undefined) words.delete(oldest);
    return known;
  };
  return {
    begin(text, language) {
      pool ??= openWorkerPool({ name: 'aligner', url: new URL('./align-worker.ts', import.meta.url), size: 1 });
      const threads = pool;
      const phrase = (count += 1);
      return new AlignedPhrase({
        reference: render(text, language).then(referenceOf),
        soundsOf: (word) => soundsOf(word, language),
        align: (request) => threads.call({ phrase, ...request }, { signal }),
      });
    },
    async close() {
      closing.abort(new Error('the aligner is closed'));
      await Promise.all([opened?.close(), pool?.close()]);
    },
  };
}

function referenceOf(chunks: readonly SpeechChunk[]): ReferenceSpeech | undefined {
  const [first] = chunks;
  if (first === undefined) return undefined;
  const samples = concatSamples(chunks.map(({ frame }) => frame.samples));
  return { samples, sampleRate: first.frame.sampleRate, phones: phonesOf(chunks) };
}

async function* only<Item>(item: Item): AsyncGenerator<Item> {
  yield item;
}

/** All sounds of several chunks. */
function phonesOf(chunks: readonly SpeechChunk[]): TimedPhone[] {
  let startMs = 0;
  return chunks.flatMap(({ frame, mouth }) => {
    const atMs = startMs;
    startMs += durationMs(frame);
    return (mouth?.phones ?? []).map((phone) => ({
      sound: phone.sound,
      startMs: phone.startMs + atMs,
      endMs: phone.endMs + atMs,
    }));
  });
}
