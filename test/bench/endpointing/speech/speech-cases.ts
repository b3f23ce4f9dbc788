import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { readAudioFile } from '../../../../voices/dsp/audio-file.ts';
import { Rechunker } from '../../../../voices/audio.ts';
import { floatsFromG711, g711FromFloats, g711SampleRate } from '../../../../voices/dsp/g711.ts';
import { resample } from '../../../../voices/dsp/resampler.ts';
import { createVadHysteresis } from '../../../../voices/dsp/vad-hysteresis.ts';
import { judge, withCommand } from '../../../../voices/recognition/hypothesis.ts';
import { findMoonshine } from '../../../../voices/recognizers/moonshine.ts';
import { loadMoonshine, type MoonshineModel } from '../../../../voices/recognizers/moonshine-model.ts';
import { soundFrames } from '../../../../voices/turn-detectors/sound-frames.ts';
import { wordsLogit } from '../../../../voices/turn-detectors/words.ts';
import type { Vad } from '../../../../voices/vad.ts';
import { openSilero } from '../../../../voices/vads/silero.ts';
import { randomFrom } from '../../kit/random.ts';
import { atLevel, roomNoise } from '../../turns/turns-sounds.ts';
import type { SpokenTurn } from './speech-folder.ts';

/** A moment at which the turn detector is asked: real speech has just stopped. */
export interface SpeechCase {
  readonly set: string;
  readonly id: string;
  readonly speaker: string;
  readonly half: SpokenTurn['half'];
  /** True in an unbiased sample of turns: only their ends count, as turns with pauses are heard more often than others. */
  readonly sampled: boolean;
  /** `gap`: a pause too short for the detector to be asked, without words, for the training program. */
  readonly kind: 'end' | 'pause' | 'gap';
  /** Length of the pause or gap, until speech continues; absent at an end. */
  readonly silentMs?: number;
  /** From the first speech to the pause. */
  readonly turnMs: number;
  /** What the built-in recognizer makes of the turn so far. */
  readonly text: string;
  /** Log-odds of these words, for the training program. */
  readonly words: number;
  readonly frames: readonly number[];
  /** Of the tuned half: the same over a telephone line, from a noisy room. */
  readonly calledFrames?: readonly number[];
}

const rate = 16_000;
const windowMs = 32;
/** The detector is asked at least so long after the end of the speech; shorter pauses do not count. */
const askedAfterMs = 200;
/** Shorter silences are parts of words. */
const gapMs = 150;

export interface HearingOptions {
  /** What was heard before, one case a line, kept up as it goes. */
  readonly cache?: string;
  /** Of the turns without a pause, which are most, one in so many is heard; only ends of these turns are `sampled`. */
  readonly every?: number;
}

/** Hears all turns with inner pauses, and a sample of the others. */
export async function* speechCases(
  turns: readonly SpokenTurn[],
  { cache, every = 1 }: HearingOptions = {},
): AsyncIterable<SpeechCase> {
  const known = new Map<string, SpeechCase[]>();
  if (cache !== undefined && existsSync(cache)) {
    for (const line of readFileSync(cache, 'utf8').split('\n')) {
      if (line === '') continue;
      const one = JSON.parse(line) as SpeechCase;
      const before = known.get(keyOf(one)) ?? [];
      // A turn without cases is a line without a kind.
      known.set(keyOf(one), 'kind' in one ? [...before, one] : before);
    }
  }
  const vad = openSilero();
  let model: MoonshineModel | undefined;
  try {
    for (let first = 0; first < turns.length; first += atOnce) {
      const some = turns.slice(first, first + atOnce);
      // The VAD scores several recordings together; the recognizer takes one after the other.
      const spoken = some.map((turn) => (known.has(keyOf(turn)) ? undefined : speechIn(turn, vad)));
      for (const [index, turn] of some.entries()) {
        const heard = await spoken[index];
        if (heard === undefined) yield* known.get(keyOf(turn)) ?? [];
        else {
          model ??= await loadMoonshine({ modelDirectory: findMoonshine(), threads: 1 });
          const cases = await casesOf(turn, heard, { model, sampled: hashOf(turn.id) % every === 0 });
          const lines = cases.length === 0 ? [{ set: turn.set, id: turn.id }] : cases;
          if (cache !== undefined) appendFileSync(cache, lines.map((one) => `${JSON.stringify(one)}\n`).join(''));
          yield* cases;
        }
      }
    }
  } finally {
    await vad.close();
  }
}

const atOnce = 16;

function keyOf({ set, id }: Pick<SpokenTurn, 'set' | 'id'>): string {
  return `${set}/${id}`;
}

interface Speech {
  readonly samples: Float32Array;
  readonly runs: readonly { readonly startMs: number; readonly endMs: number }[];
}

async function speechIn({ file }: SpokenTurn, vad: Vad): Promise<Speech> {
  const { samples } = await readAudioFile(file, { sampleRate: rate, signal: new AbortController().signal });
  return { samples, runs: await speechRuns(samples, vad) };
}

/** The last speech before which words were heard ends the turn: later sounds are clicks and chairs. */
async function casesOf(
  turn: SpokenTurn,
  { samples, runs }: Speech,
  { model, sampled }: { readonly model: MoonshineModel; readonly sampled: boolean },
): Promise<SpeechCase[]> {
  const pauses = runs.slice(1).map(({ startMs }, index) => startMs - (runs[index]?.endMs ?? 0));
  if (!sampled && !pauses.some((ms) => ms >= askedAfterMs)) return [];
  const heard: { endMs: number; silentMs: number; text: string }[] = [];
  for (const [index, { endMs }] of runs.entries()) {
    const silentMs = (runs[index + 1]?.startMs ?? Infinity) - endMs;
    if (silentMs < gapMs) continue;
    const text = silentMs < askedAfterMs ? '' : await textOf(upTo(samples, endMs, silentMs), model);
    heard.push({ endMs, silentMs, text });
  }
  const whole = heard.at(-1)?.text ?? '';
  const last = heard.findIndex(({ text }) => sameWords(text, whole));
  const startMs = runs[0]?.startMs ?? 0;
  return heard.slice(0, last + 1).flatMap(({ endMs, silentMs, text }, index): SpeechCase[] => {
    const kind = index === last ? 'end' : silentMs < askedAfterMs ? 'gap' : 'pause';
    if ((text === '' && kind !== 'gap') || (kind === 'end' && !turn.ends)) return [];
    const sound = upTo(samples, endMs, silentMs);
    return [
      {
        set: turn.set,
        id: turn.id,
        speaker: turn.speaker,
        half: turn.half,
        sampled,
        kind,
        ...(index === last ? {} : { silentMs }),
        turnMs: endMs - startMs,
        text,
        words: Math.round(wordsLogit(text) * 1000) / 1000,
        frames: framesOf(sound, rate),
        ...(turn.half === 'tuned'
          ? { calledFrames: framesOf(called(sound, hashOf(turn.id) + endMs), g711SampleRate) }
          : {}),
      },
    ];
  });
}

function framesOf(samples: Float32Array, sampleRate: number): number[] {
  return [...soundFrames({ samples, sampleRate })].map((value) => Math.round(value * 1000) / 1000);
}

/** As a telephone carries it, in G.711, with the noise of a room 10 to 30 dB below the voice. */
function called(sound: Float32Array, seed: number): Float32Array {
  const noise = atLevel(roomNoise((sound.length / rate) * 1000, seed), voiceLevel - 10 - 20 * randomFrom(seed)());
  const noisy = atLevel(sound, voiceLevel).map((value, index) => value + (noise[index] ?? 0));
  return floatsFromG711(g711FromFloats(resample(noisy, rate, g711SampleRate), 'mulaw'), 'mulaw');
}

const voiceLevel = -23;

const at = (ms: number): number => Math.round((ms * rate) / 1000);

/** The audio of the turn when the detector is asked, then digital silence if the recording ends before, or speech continues. */
function upTo(samples: Float32Array, endMs: number, silentMs: number): Float32Array {
  const turn = new Float32Array(at(endMs + askedAfterMs));
  turn.set(samples.subarray(0, at(endMs + Math.min(silentMs, askedAfterMs))));
  return turn;
}

async function speechRuns(samples: Float32Array, vad: Vad): Promise<{ startMs: number; endMs: number }[]> {
  const stream = vad.open();
  const longer = new Float32Array(samples.length + at(600));
  longer.set(samples);
  const scores = await Promise.all(new Rechunker(vad.windowSamples).push(longer).map((window) => stream.score(window)));
  stream.close();
  const edges = createVadHysteresis({ minSpeechMs: 96, minSilenceMs: 96, windowMs });
  const runs: { startMs: number; endMs: number }[] = [];
  let startMs = 0;
  for (const score of [...scores, 0, 0, 0, 0, 0]) {
    const edge = edges.push(score);
    if (edge?.type === 'speech-start') startMs = edge.atMs;
    if (edge?.type === 'speech-end') runs.push({ startMs, endMs: edge.atMs });
  }
  return runs;
}

const mostSeconds = 28;

async function textOf(turn: Float32Array, model: MoonshineModel): Promise<string> {
  const kept = turn.subarray(-mostSeconds * rate);
  const audio = new Float32Array(kept.length + at(200));
  audio.set(kept);
  const hypothesis = withCommand(await model.decode(audio, { carefully: false }));
  return judge(hypothesis) === 'words' ? hypothesis.text : '';
}

function sameWords(one: string, other: string): boolean {
  const wordsOf = (text: string): string => (text.toLowerCase().match(/[\p{L}\p{N}']+/gu) ?? []).join(' ');
  return wordsOf(one) === wordsOf(other);
}

function hashOf(text: string): number {
  let sum = 7;
  for (const letter of text) sum = (Math.imul(sum, 31) + letter.charCodeAt(0)) >>> 0;
  return sum ^ (sum >>> 7);
}
