import { workerData } from 'node:worker_threads';
import { concatSamples } from '../audio.ts';
import { gainFor } from '../dsp/loudness.ts';
import { writingOf } from '../text/scripts.ts';
import { serveWorker } from '../runtime/worker-serve.ts';
import type { TimedPhone } from '../synthesizer.ts';
import type { EspeakRequest, EspeakWorkerData } from './espeak.ts';
import { finishSpeech, type RenderedSpeech } from '../synthesis/finish-speech.ts';

/** Used part of eSpeak NG's module, which ships no types. */
interface Espeak {
  set_voice(name: string, language?: string): number;
  set_rate(wordsPerMinute: number): void;
  set_pitch(percent: number): void;
  get_samplerate(): number;
  list_voices(): { readonly identifier: string; readonly languages: readonly { readonly name: string }[] }[];
  /** Synthesizes; blocks. Text is UTF-8 with SSML. `take` returns true to stop. */
  synthesize(text: string, take: (samples: Int16Array, events: readonly EspeakEvent[]) => boolean): void;
}

interface EspeakEvent {
  readonly type: string;
  /** For a word: its first character, counted in code points from 1. */
  readonly text_position: number;
  /** Milliseconds. */
  readonly audio_position: number;
  /** For a phoneme: its IPA; empty for a pause. */
  readonly id?: string | number;
}

interface Spoken {
  readonly samples: Float32Array;
  readonly events: readonly EspeakEvent[];
}

const { moduleUrl, sampleRate } = workerData as EspeakWorkerData;
const plainRate = 175;
const plainPitch = 50;
/** eSpeak NG reports its phonemes later than they sound: by this much at rate 1, less if it speaks faster. */
const phonesLateMs = 15;
/** Text spoken once per voice to measure its loudness; digits can be read in every language. */
const levelText = '1 2 3 4 5';

const espeak = open();
/** A new instance for the next request with this seed: making one takes 80 ms. */
let next: { readonly seed: number; readonly engine: Promise<Espeak> } | undefined;
/** Voice names by lower-case voice name and language tag. */
const names = new Map<string, string>();
const gains = new Map<string, number>();

serveWorker<EspeakRequest, RenderedSpeech>(async (request) => {
  const usual = await espeak;
  const { seed } = request;
  const voice = nameOf(request);
  const gain =
    gains.get(gainKey(voice, request)) ?? measureGain(seed === undefined ? usual : await fresh(seed), voice, request);
  const engine = seed === undefined ? usual : await fresh(seed);
  turnTo(engine, voice);
  const { samples, events } = say(engine, readable(request.text), request);
  const marks = marksIn(request.text, events);
  const sampleRateMade = engine.get_samplerate();
  const lengthMs = (samples.length / sampleRateMade) * 1000;
  const hints = { marks, phones: phonesIn(events, lengthMs, phonesLateMs / request.rate) };
  const raw = { text: request.text, samples, sampleRate: sampleRateMade, hints };
  const reply = finishSpeech(raw, { sampleRate, gain, rate: request.rate });
  if (seed !== undefined) next = { seed, engine: open(seed) };
  return { reply, transfer: [reply.samples.buffer] };
});

/** Returns an instance that has said nothing yet, and draws by chance as the seed says. */
async function fresh(seed: number): Promise<Espeak> {
  const engine = next?.seed === seed ? next.engine : open(seed);
  next = undefined;
  return engine;
}

/** Opens an instance. `seed` replaces the time in seconds, with which it otherwise seeds its random numbers. */
async function open(seed?: number): Promise<Espeak> {
  const { default: create } = (await import(moduleUrl)) as {
    default: () => Promise<{ readonly eSpeakNGWorker: new () => Espeak }>;
  };
  const { now } = Date;
  const made = await create();
  if (seed !== undefined) Date.now = () => (seed + 1) * 1000;
  const engine = new made.eSpeakNGWorker();
  Date.now = now;
  const voices = engine.list_voices();
  for (const { identifier, languages } of voices) {
    for (const { name } of languages)
      names.set(name.toLowerCase(), names.get(name.toLowerCase()) ?? baseName(identifier));
  }
  for (const { identifier } of voices) names.set(baseName(identifier).toLowerCase(), baseName(identifier));
  return engine;
}

/** Returns `cmn` for `sit/cmn`. */
function baseName(identifier: string): string {
  return identifier.slice(identifier.lastIndexOf('/') + 1);
}

function nameOf({ language, variant }: EspeakRequest): string {
  const tag = language.toLowerCase();
  const base = names.get(tag) ?? names.get(tag.split('-')[0] ?? '') ?? 'en';
  return /^[A-Za-z0-9]+$/.test(variant) ? `${base}+${variant}` : base;
}

function turnTo(engine: Espeak, voice: string): void {
  engine.set_voice('en');
  engine.set_voice(voice);
}

function gainKey(voice: string, { pitch, seed }: EspeakRequest): string {
  return `${voice} ${pitch} ${seed ?? ''}`;
}

function measureGain(engine: Espeak, voice: string, request: EspeakRequest): number {
  turnTo(engine, voice);
  const gain = gainFor(say(engine, levelText, { ...request, rate: 1 }).samples);
  gains.set(gainKey(voice, request), gain);
  return gain;
}

function say(engine: Espeak, text: string, { pitch, rate }: EspeakRequest): Spoken {
  engine.set_rate(Math.round(plainRate * rate));
  // The scale is logarithmic: 50 more doubles the pitch.
  engine.set_pitch(Math.round(plainPitch + 50 * Math.log2(pitch)));
  const blocks: Float32Array[] = [];
  const events: EspeakEvent[] = [];
  engine.synthesize(text, (samples, found) => {
    blocks.push(Float32Array.from(samples, (value) => value / 32_768));
    events.push(...found.filter((event) => event.type === 'word' || event.type === 'phoneme'));
    return false;
  });
  return { samples: concatSamples(blocks), events };
}

/**
 * Text that eSpeak NG takes as plain text: tags, entities, brackets, control characters, long runs of marks, and kanji in
 * Japanese become spaces. Keeps the number of code points, so that eSpeak's positions fit the original.
 */
function readable(text: string): string {
  const japanese = writingOf(text).script === 'kana';
  return text
    .replaceAll(/[\p{Cc}<>[\]{}]|&(?=[\p{L}#])/gu, ' ')
    .replaceAll(/(?<=[^\p{L}\p{M}\p{N}\s]{4})[^\p{L}\p{M}\p{N}\s]/gu, ' ')
    .replaceAll(japanese ? /\p{Script=Han}/gu : /(?!)/gu, ' ');
}

function marksIn(text: string, events: readonly EspeakEvent[]): { index: number; atMs: number }[] {
  const starts: number[] = [];
  let index = 0;
  for (const character of text) {
    starts.push(index);
    index += character.length;
  }
  const words = events.filter(({ type }) => type === 'word');
  return words.map((event) => ({ index: starts[event.text_position - 1] ?? index, atMs: event.audio_position }));
}

/** Each sound ends where the next begins. */
function phonesIn(events: readonly EspeakEvent[], lengthMs: number, lateMs: number): TimedPhone[] {
  const told = events.filter(({ type }) => type === 'phoneme');
  const startOf = (event: EspeakEvent | undefined): number =>
    event === undefined ? lengthMs : Math.max(0, event.audio_position - lateMs);
  return told.map((event, index) => ({
    sound: String(event.id ?? ''),
    startMs: startOf(event),
    endMs: startOf(told[index + 1]),
  }));
}
