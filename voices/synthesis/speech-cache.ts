import type { CallOptions } from '../engine.ts';
import { phrases } from '../text/phrases.ts';
import type { Phrase, SpeakOptions, SpeechChunk, SpeechSynthesizer } from '../synthesizer.ts';

/** Cache of synthesized speech for lines that recur word for word: greetings, requests to repeat. */
export interface SpeechCache {
  /**
   * Like the synthesizer's own `speak`, for a text that is known up front; cached speech comes without delay. A line that
   * is being synthesized for another session is not synthesized again.
   */
  speak(synthesizer: SpeechSynthesizer, line: AsyncIterable<Phrase>, options: SpeakOptions): AsyncIterable<SpeechChunk>;
  /**
   * Synthesizes lines into the cache, one after the other, after all live speech. Ignores failures: a line is synthesized
   * again when it is spoken. Aborting stops the work, unless another session waits for the same line.
   */
  prepare(synthesizer: SpeechSynthesizer, lines: readonly string[], options: SpeakOptions): Promise<void>;
}

/** Capacity for all lines and voices together: four times the greetings of the characters that ship with Dramatis. */
const maxBytes = 64 * 1024 * 1024;

/** Longer lines are not cached: one takes 60 s to say, and 6 MB. */
const maxCharacters = 1_000;

/** Lines of one `prepare`; a card may have a thousand greetings. */
const maxLines = 16;

/** One line in the cache, complete or being synthesized. */
interface Line {
  readonly chunks: SpeechChunk[];
  bytes: number;
  state: 'running' | 'complete' | { readonly failure: unknown };
  /** Those who wait for the line, and whether each of them is speaking it live. */
  readonly readers: Set<{ readonly live: boolean }>;
  /** Called when there is one more chunk, or none will follow. */
  readonly changes: Set<() => void>;
  readonly work: AbortController;
}

/** The lines in the cache, keyed by synthesizer, voice, speed and text; the most recently spoken is last. */
class Lines {
  readonly #maxBytes: number;
  readonly #lines = new Map<string, Line>();
  readonly #numbers = new WeakMap<SpeechSynthesizer, number>();
  #synthesizers = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Returns a line, whose synthesis begins if nobody has asked for it yet. */
  get(synthesizer: SpeechSynthesizer, parts: readonly Phrase[], options: SpeakOptions): Line {
    const key = JSON.stringify([this.#numberOf(synthesizer), options.voice, options.speed ?? 1, parts]);
    const known = this.#lines.get(key);
    const line = known ?? newLine();
    this.#lines.delete(key);
    this.#lines.set(key, line);
    if (known !== undefined) return known;
    const forget = (): void => {
      if (this.#lines.get(key) === line) this.#lines.delete(key);
    };
    line.work.signal.addEventListener('abort', forget);
    void synthesize(line, synthesizer.speak(streamOf(parts), spokenAs(line, options))).then(() => {
      if (line.state !== 'complete') forget();
      this.#evict();
    });
    return line;
  }

  #numberOf(synthesizer: SpeechSynthesizer): number {
    const number = this.#numbers.get(synthesizer) ?? (this.#synthesizers += 1);
    this.#numbers.set(synthesizer, number);
    return number;
  }

  #evict(): void {
    let bytes = [...this.#lines.values()].reduce((sum, line) => sum + line.bytes, 0);
    for (const [key, line] of this.#lines) {
      if (bytes <= this.#maxBytes) return;
      if (line.state === 'running') continue;
      this.#lines.delete(key);
      bytes -= line.bytes;
    }
  }
}

/** Opens a cache that evicts the least recently spoken lines beyond `maxBytes`. */
export function openSpeechCache(limits: { readonly maxBytes: number } = { maxBytes }): SpeechCache {
  const lines = new Lines(limits.maxBytes);
  return {
    async *speak(synthesizer, line, options) {
      const parts = await Array.fromAsync(line);
      options.signal.throwIfAborted();
      if (lengthOf(parts) > maxCharacters) yield* synthesizer.speak(streamOf(parts), options);
      else yield* read(lines.get(synthesizer, parts, options), options, true);
    },
    async prepare(synthesizer, greetings, options) {
      for (const greeting of greetings.slice(0, maxLines)) {
        if (options.signal.aborted) return;
        if (greeting.length > maxCharacters) continue;
        try {
          const line = lines.get(synthesizer, await phrasesOf(greeting), options);
          for await (const _ of read(line, options, false));
        } catch {
          // The caller that plays the line gets the error.
        }
      }
    },
  };
}

/** Reads a line to its end; the last reader to leave stops a line that is not complete. */
async function* read(line: Line, { signal }: CallOptions, live: boolean): AsyncGenerator<SpeechChunk> {
  const reader = { live };
  line.readers.add(reader);
  try {
    for (let next = 0; ; next += 1) {
      while (next === line.chunks.length && line.state === 'running') await changeOf(line, signal);
      const chunk = line.chunks[next];
      if (chunk !== undefined) yield chunk;
      else if (typeof line.state === 'object') throw line.state.failure;
      else return;
    }
  } finally {
    line.readers.delete(reader);
    if (line.readers.size === 0 && line.state === 'running') line.work.abort();
  }
}

function newLine(): Line {
  return {
    chunks: [],
    bytes: 0,
    state: 'running',
    readers: new Set(),
    changes: new Set(),
    work: new AbortController(),
  };
}

/** The work belongs to all who wait for the line, and is background work as long as none of them speaks it live. */
function spokenAs(line: Line, { voice, speed }: SpeakOptions): Parameters<SpeechSynthesizer['speak']>[1] {
  return {
    signal: line.work.signal,
    voice,
    ...(speed === undefined ? {} : { speed }),
    isBackground: () => ![...line.readers].some(({ live }) => live),
  };
}

/** Never throws: those who wait for the line get the failure. */
async function synthesize(line: Line, speech: AsyncIterable<SpeechChunk>): Promise<void> {
  const change = (): void => line.changes.forEach((tell) => tell());
  try {
    for await (const chunk of speech) {
      line.chunks.push(chunk);
      line.bytes += chunk.frame.samples.byteLength;
      change();
    }
    line.state = 'complete';
  } catch (failure) {
    line.state = { failure };
  }
  change();
}

/** Settles with the line's next change; throws the signal's reason when it is aborted. */
async function changeOf({ changes }: Line, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  changes.add(resolve);
  const wake = (): void => resolve();
  signal.addEventListener('abort', wake);
  await promise;
  signal.removeEventListener('abort', wake);
  changes.delete(resolve);
  signal.throwIfAborted();
}

function lengthOf(parts: readonly Phrase[]): number {
  return parts.reduce((sum, { text }) => sum + text.length, 0);
}

async function phrasesOf(line: string): Promise<Phrase[]> {
  return (await Array.fromAsync(phrases(streamOf([line])))).map((text) => ({ text }));
}

async function* streamOf<Part>(parts: readonly Part[]): AsyncIterable<Part> {
  yield* parts;
}
