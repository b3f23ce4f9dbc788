import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { EngineError } from '../engine.ts';
import { writingOf, type Script } from '../text/scripts.ts';
import type { SpeechSynthesizer, Voice } from '../synthesizer.ts';
import { openWorkerPool, type EngineLoad, type WorkerPool } from '../runtime/worker-pool.ts';
import type { RenderedSpeech } from '../synthesis/finish-speech.ts';
import { speakPieces } from '../synthesis/speak-pieces.ts';

/** Start-up data of the workers. */
export interface EspeakWorkerData {
  /** File URL of eSpeak NG's module. */
  readonly moduleUrl: string;
  /** Output rate, in hertz. */
  readonly sampleRate: number;
}

/** One text in one voice. */
export interface EspeakRequest {
  /** A voice or language that eSpeak NG lists, such as `cmn`. */
  readonly language: string;
  /** Name of a variant, such as `f3`; '' for the language's own voice. */
  readonly variant: string;
  /** Factors from 0.5 to 2. */
  readonly pitch: number;
  readonly rate: number;
  readonly text: string;
  /** Set: speaks as a new instance does, so that the same request has the same samples. */
  readonly seed?: number;
}

export interface EspeakOptions {
  /** Threads; default 1. Each takes about 100 MB. */
  readonly workers?: number;
  /** Output rate in hertz, an integer of at least 8000; default 24000. eSpeak NG itself makes 22050. */
  readonly sampleRate?: number;
}

const name = 'espeak';
const packageName = '@echogarden/espeak-ng-emscripten';
const maxCharacters = 240;
/** Long enough for the JIT compiler to find the code worth compiling. */
const warmTexts = [
  ['en', 'The quick brown fox jumps over the lazy dog, and then another one does it too.'],
  ['cmn', '你好，很高兴见到你，今天天气真好，我们一起去喝茶吧。'],
] as const;

/** Languages that are not written in Latin letters, by script. `languages` has no Japanese: eSpeak reads no kanji. */
const writtenIn: Partial<Record<Script, readonly string[]>> = {
  han: ['zh', 'cmn', 'yue', 'hak'],
  kana: ['ja'],
  hangul: ['ko'],
  cyrillic: ['ru', 'uk', 'be', 'bg', 'mk', 'sr', 'kk', 'ky', 'tt', 'ba', 'cv'],
  arabic: ['ar', 'fa', 'ur', 'ug', 'sd'],
  hebrew: ['he'],
  greek: ['el', 'grc'],
  devanagari: ['hi', 'mr', 'ne', 'kok'],
  bengali: ['bn', 'as'],
  tamil: ['ta'],
  thai: ['th'],
  georgian: ['ka'],
  armenian: ['hy', 'hyw'],
};
const writtenInLatin =
  'en fr de es it pt nl pl cs sk sl hr hu ro sv da nb no fi et lv lt is ga cy ca eu gl tr az vi id ms sw sq eo la af mt'.split(
    ' ',
  );

/**
 * Opens eSpeak NG (GPL-3.0, an optional package) in worker threads that start when first needed. Formant synthesis:
 * clear and quick, but a machine's voice. Preset ids are its languages and voices, with a variant for another timbre:
 * `cmn`, `en-gb`, `fr`, `cmn+m3`, `en-us+f2`; an unknown one is replaced by `en`, an unknown variant by none. `pitch`
 * and `rate` work from 0.5 to 2.
 *
 * Text in a script that the voice cannot read is spoken in `language` if that is written in the script, otherwise in
 * the script's most common language, with the same variant. Words have the times that eSpeak reports. If the package is
 * not installed, `speak` throws `ENGINE_MISSING`.
 */
export function openEspeak(options: EspeakOptions = {}): SpeechSynthesizer & {
  /** Resolves when the first thread can speak; throws `ENGINE_MISSING` like `speak`. */
  warm(): Promise<void>;
  load(): EngineLoad;
  close(): Promise<void>;
} {
  const { workers = 1, sampleRate = 24_000 } = options;
  let pool: WorkerPool<EspeakRequest, RenderedSpeech> | undefined;
  const opened = (): WorkerPool<EspeakRequest, RenderedSpeech> =>
    (pool ??= openWorkerPool({
      name,
      url: new URL('./espeak-worker.ts', import.meta.url),
      size: workers,
      workerData: { moduleUrl: findEspeak(), sampleRate } satisfies EspeakWorkerData,
    }));
  return {
    name,
    sampleRate,
    languages: [...new Set([...writtenInLatin, ...Object.values(writtenIn).flat()])].filter((tag) => tag !== 'ja'),
    isRepeatable: (_, { seed }) => seed !== undefined,
    async *speak(phrases, { signal, voice, language, speed, seed, isBackground }) {
      const render = async (text: string): Promise<RenderedSpeech> =>
        opened().call(
          { ...requestFor(voice, text, language, speed ?? 1), text, ...(seed === undefined ? {} : { seed }) },
          { signal, priority: isBackground?.() === true ? -1 : 0 },
        );
      yield* speakPieces(phrases, { sampleRate, maxCharacters, isSpeakable: sayable, render }, { signal });
    },
    warm: async () => {
      const { signal } = new AbortController();
      const plain = { variant: '', pitch: 1, rate: 1 };
      for (const [language, text] of warmTexts) await opened().call({ ...plain, language, text }, { signal });
    },
    load: () => pool?.load ?? { running: 0, waiting: 0 },
    close: async () => pool?.close(),
  };
}

function sayable(text: string): boolean {
  return /[\p{L}\p{N}]/u.test(text);
}

/** Returns true if the optional package is installed. */
export function isEspeakInstalled(): boolean {
  try {
    findEspeak();
    return true;
  } catch {
    return false;
  }
}

/** Returns the error for text that only eSpeak NG could speak, if it is not installed. */
export function espeakMissing(cause?: unknown): EngineError {
  const detail = `this text needs eSpeak NG, which is not installed: npm install ${packageName} (GPL-3.0)`;
  return new EngineError(name, 'ENGINE_MISSING', detail, cause);
}

function findEspeak(): string {
  try {
    return pathToFileURL(createRequire(import.meta.url).resolve('@echogarden/espeak-ng-emscripten')).href;
  } catch (cause) {
    throw espeakMissing(cause);
  }
}

function requestFor(
  voice: Voice,
  text: string,
  language: string | undefined,
  speed: number,
): Omit<EspeakRequest, 'text'> {
  const preset = voice.kind === 'preset' ? voice : undefined;
  const [own = '', variant = ''] = (preset?.id ?? language ?? 'en').split('+');
  return {
    language: languageFor(text, own, language),
    variant,
    pitch: withinRange(preset?.pitch ?? 1),
    rate: withinRange((preset?.rate ?? 1) * speed),
  };
}

/** The wanted language if the text's script writes it, otherwise the voice's own, otherwise the script's usual one. */
function languageFor(text: string, own: string, wanted: string | undefined): string {
  const { script, language } = writingOf(text);
  if (script === undefined || script === 'other') return own === '' ? 'en' : own;
  const reads = (tag: string | undefined): tag is string => tag !== undefined && tag !== '' && canRead(tag, script);
  // A voice's dialect ("en-gb") is kept if only its language ("en") is wanted.
  if (wanted !== undefined && primaryOf(wanted) === primaryOf(own) && reads(own)) return own;
  return [wanted, own].find(reads) ?? language;
}

function canRead(tag: string, script: Script): boolean {
  const primary = primaryOf(tag);
  if (script !== 'latin') return writtenIn[script]?.includes(primary) ?? false;
  return !Object.values(writtenIn).some((languages) => languages.includes(primary));
}

function primaryOf(tag: string): string {
  return tag.toLowerCase().split('-')[0] ?? '';
}

function withinRange(factor: number): number {
  return Math.max(0.5, Math.min(2, factor));
}
