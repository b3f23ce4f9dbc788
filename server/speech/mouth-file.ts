import { MouthTimeline } from '../client/mouth/mouth-timeline.js';
import { ARKIT, mixed, RHUBARB } from '../client/mouth/viseme-tables.js';
import { wireSampleRate } from '../protocol/limits.ts';
import { wireSamplesOf, wireVisemes } from '../realtime/wire-visemes.ts';
import type { SpokenBlock } from './speak-text.ts';

/** Formats of a file about the mouth: ours with the names of Oculus, that of Rhubarb Lip Sync, and ARKit's blend shapes. */
export const mouthFormats = ['oculus', 'rhubarb', 'arkit'] as const;
export type MouthFormat = (typeof mouthFormats)[number];

/** Frames a second of blend shapes. */
const framesPerSecond = 60;

/**
 * Returns the mouth movement in a text as JSON. `oculus`: shapes, sounds in IPA and words by sample at 24 kHz, as on
 * the wire. `rhubarb`: its `mouthCues` in seconds. `arkit`: weights of each blend shape, 60 frames a second. Undefined if the
 * voice has no mouth shapes.
 */
export function mouthFile(format: MouthFormat, blocks: readonly SpokenBlock[], sound: string): unknown {
  if (blocks.length === 0 || blocks.some(({ mouth }) => mouth.basis === 'level')) return undefined;
  const told = blocks.map(({ mouth }) => wireVisemes(mouth, undefined, true));
  const until = told.at(-1)?.until ?? 0;
  if (format === 'rhubarb') return rhubarb(told, until, sound);
  if (format === 'arkit') return arkit(told, until);
  const words = blocks.flatMap((block) => block.words.map(({ text, startMs }) => [wireSamplesOf(startMs), text]));
  const [bases, visemes] = [new Set(told.map(({ basis }) => basis)), told.flatMap((span) => span.visemes)];
  const phones = told.flatMap((span) => span.phones ?? []);
  return { format, sampleRate: wireSampleRate, until, basis: [...bases].join('+'), visemes, phones, words };
}

type Told = readonly ReturnType<typeof wireVisemes>[];

function rhubarb(told: Told, until: number, sound: string): unknown {
  const seconds = (sample: number): number => Math.round((sample / wireSampleRate) * 1000) / 1000;
  const shapes = told
    .flatMap(({ visemes }) => visemes)
    .map(([at, viseme]) => ({ at, value: RHUBARB[viseme] }))
    .filter(({ value }, index, all) => value !== all[index - 1]?.value);
  const mouthCues = shapes.map(({ at, value }, index) => ({
    start: seconds(at),
    end: seconds(shapes[index + 1]?.at ?? until),
    value,
  }));
  return { metadata: { soundFile: sound, duration: seconds(until) }, mouthCues };
}

function arkit(told: Told, until: number): unknown {
  const timeline = new MouthTimeline();
  for (const span of told) timeline.tell(span);
  const names = [...new Set(Object.values(ARKIT).flatMap((weights) => Object.keys(weights)))];
  const count = Math.ceil((until / wireSampleRate) * framesPerSecond);
  const frames = Array.from({ length: count }, (_, index) => {
    const weights = mixed(ARKIT, timeline.weightsAt((index * wireSampleRate) / framesPerSecond) ?? {});
    return names.map((name) => Math.round((weights[name] ?? 0) * 1000) / 1000);
  });
  return { format: 'arkit', framesPerSecond, names, frames };
}
