import type { Character } from '../../../characters/character.ts';
import { randomFrom } from '../kit/random.ts';
import type { Material, Voiced } from './turns-material.ts';
import { voiceLevel } from './turns-material.ts';
import type { Scene, Span } from './turns-scene.ts';
import { acrossTheRoom, atLevel, cough, cut, fromDecibels, knocks, mix, samplesIn } from './turns-sounds.ts';

export type Kind =
  | 'interruption'
  | 'backchannel'
  | 'tic'
  | 'noise'
  | 'non-directed'
  | 'echo'
  | 'interruption under echo'
  | 'turn'
  | 'turn with pauses';

export interface ScriptedScene extends Scene {
  readonly kind: Kind;
  /** Sound that it is made of; the two halves share none. */
  readonly source: string;
  /** Subtype, for the counts. */
  readonly variety: string;
}

type Drawn = Pick<Scene, 'over' | 'atMs' | 'client' | 'character' | 'says' | 'noiseDecibels'>;

/** Draws the random parameters of scenes; the same seed gives the same script. */
class Dice {
  readonly #random: () => number;
  readonly #characters: readonly Character[];

  constructor(seed: number, characters: readonly Character[]) {
    this.#random = randomFrom(seed);
    this.#characters = characters;
  }

  between(from: number, to: number): number {
    return from + (to - from) * this.#random();
  }

  pick<Item>(items: readonly Item[]): Item {
    return items[Math.floor(this.#random() * items.length)] as Item;
  }

  /** A character in the middle of a long line, or waiting. */
  scene(over: boolean): Drawn {
    const character = this.pick(this.#characters);
    const lines = character.lines.map(({ reply }) => reply).filter(({ length }) => length >= 170);
    return {
      over,
      atMs: over ? this.between(900, 4_000) : this.between(800, 1_200),
      client: this.pick(['holds', 'stock'] as const),
      character,
      says: over ? this.pick(lines) : this.pick(lines).slice(0, 60),
      noiseDecibels: this.pick([-70, -60, -52]),
    };
  }
}

/** About 1,000 scenes of all kinds; reproducible from the seed. */
export function writeScript(material: Material, characters: readonly Character[], seed: number): ScriptedScene[] {
  const dice = new Dice(seed, characters);
  return [
    ...interruptions(material, dice),
    ...backchannels(material, dice),
    ...tics(material, dice),
    ...noises(material, dice),
    ...nonDirected(material, dice),
    ...echoes(material, dice),
    ...turns(material, dice),
    ...turnsWithPauses(material, dice),
  ].map((scene, index) => ({ ...scene, name: `${index} ${scene.kind}, ${scene.variety}: ${scene.source}` }));
}

const times = (count: number): number[] => Array.from({ length: count }, (_, index) => index);
const shortWait = 2_600;
const longWait = 4_500;

function sceneOf(kind: Kind, variety: string, { source, sound, voice }: Voiced, drawn: Drawn): ScriptedScene {
  const untilAnswered = /interruption|turn/.test(kind);
  const tailMs = untilAnswered ? longWait : shortWait;
  return { name: '', kind, variety, source, sound, voice, ...drawn, untilAnswered, tailMs };
}

/** `count` scenes with each sound, each at one of these levels. */
function scenesOf(
  kind: Kind,
  variety: string,
  voiced: readonly Voiced[],
  { dice, count, decibels, over }: Many,
): ScriptedScene[] {
  return voiced.flatMap(({ sound, ...rest }) =>
    times(count).map((index) => {
      const gain = fromDecibels(dice.pick(decibels));
      const louder = { ...rest, sound: sound.map((value) => value * gain) };
      return sceneOf(kind, variety, louder, dice.scene(over === 'both' ? index % 2 === 0 : over));
    }),
  );
}

interface Many {
  readonly dice: Dice;
  readonly count: number;
  readonly decibels: readonly number[];
  /** Over the reply, in silence, or alternating. */
  readonly over: boolean | 'both';
}

/** Real speakers, at full level or somewhat lower; and one-word commands, which do not occur in the recordings. */
function interruptions({ phrases, chinese, commands }: Material, dice: Dice): ScriptedScene[] {
  const many = { dice, decibels: [0, -4, -8], over: true };
  return [
    ...scenesOf('interruption', 'English', phrases, { ...many, count: 9 }),
    ...scenesOf('interruption', 'Chinese', chinese, { ...many, count: 6 }),
    ...scenesOf('interruption', 'one word', commands, { ...many, count: 2 }),
  ];
}

function backchannels({ words, hums }: Material, dice: Dice): ScriptedScene[] {
  const many = { dice, decibels: [-4, -8, -12], over: true };
  return [
    ...scenesOf('backchannel', 'word', words, { ...many, count: 3 }),
    ...scenesOf('backchannel', 'hum', hums, { ...many, count: 1 }),
  ];
}

function tics({ tics: hesitations, vowels }: Material, dice: Dice): ScriptedScene[] {
  const many = { dice, decibels: [-4, -8, -12], over: 'both' } as const;
  return [
    ...scenesOf('tic', 'um', hesitations, { ...many, count: 4 }),
    ...scenesOf('tic', 'vowel', vowels, { ...many, count: 2 }),
  ];
}

function noises({ noise, music }: Material, dice: Dice): ScriptedScene[] {
  const bursts: readonly [string, (seed: number) => Float32Array][] = [
    ['cough', cough],
    ['knocks', knocks],
    ['noise', () => cut(noise, dice.between(0, 2_500), dice.between(200, 2_000))],
    ['music', () => cut(music, dice.between(0, 26_000), dice.between(400, 4_000))],
  ];
  return bursts.flatMap(([variety, make]) =>
    times(32).map((index) => {
      const sound = atLevel(make(index * 17 + 1), voiceLevel + dice.pick([2, -4, -10]));
      const source = `${variety} ${index >> 1}`;
      return sceneOf('noise', variety, { source, sound, voice: [] }, dice.scene(index % 2 === 0));
    }),
  );
}

/** Another person in the room, far from the microphone. */
function nonDirected({ phrases, chinese }: Material, dice: Dice): ScriptedScene[] {
  return [...phrases, ...chinese].flatMap(({ source, sound, voice }, place) =>
    times(4).map((index) => {
      const far = atLevel(acrossTheRoom(sound, place * 4 + index), voiceLevel + dice.pick([-14, -18, -22]));
      return sceneOf('non-directed', 'across the room', { source, sound: far, voice }, dice.scene(index % 2 === 0));
    }),
  );
}

/** Echo of the loudspeaker in the microphone: alone, and with a user who interrupts. */
function echoes({ phrases }: Material, dice: Dice): ScriptedScene[] {
  const echo = (): NonNullable<Scene['echo']> => ({ delayMs: dice.between(60, 300), decibels: dice.between(-26, -8) });
  const silence = { sound: new Float32Array(samplesIn(6_000)), voice: [] };
  const long = phrases.filter(({ voice: [first] }) => first !== undefined && first.toMs - first.fromMs > 800);
  return [
    ...times(60).map((index) => ({
      ...sceneOf('echo', 'alone', { source: `echo ${index}`, ...silence }, { ...dice.scene(true), atMs: 0 }),
      echo: echo(),
    })),
    ...scenesOf('interruption under echo', 'English', long, { dice, count: 3, decibels: [0], over: true }).map(
      (scene) => ({ ...scene, echo: echo() }),
    ),
  ];
}

function turns({ turns: whole }: Material, dice: Dice): ScriptedScene[] {
  return scenesOf('turn', 'English', whole, { dice, count: 5, decibels: [0, -6], over: false });
}

/** Consecutive phrases of a recording, with a longer pause than the speaker made. */
function turnsWithPauses({ phrases }: Material, dice: Dice): ScriptedScene[] {
  return phrases.slice(1).flatMap((second, index) => {
    const first = phrases[index] as Voiced;
    // In that recording, every phrase has another speaker.
    if (fileOf(first) !== fileOf(second) || fileOf(first).startsWith('vad-labelled')) return [];
    return times(8).map(() =>
      sceneOf('turn with pauses', 'English', paused(first, second, drawPause(dice)), dice.scene(false)),
    );
  });
}

function fileOf({ source }: Voiced): string {
  return source.split('@')[0] ?? '';
}

/** As in `endpointing`: log-logistic, median 450 ms, 95 % below 1.4 s. */
function drawPause(dice: Dice): number {
  const share = dice.between(0.05, 0.97);
  return 450 * (share / (1 - share)) ** (Math.log(1_400 / 450) / Math.log(19));
}

/** Joins two sounds, with a pause of the given length between their voices. */
function paused(one: Voiced, other: Voiced, pauseMs: number): Voiced {
  const [first, second] = [one.voice[0] as Span, other.voice[0] as Span];
  const leadMs = Math.min(60, second.fromMs);
  const resumesMs = first.toMs + pauseMs;
  const rest = cut(other.sound, second.fromMs - leadMs, Infinity);
  const sound = new Float32Array(samplesIn(resumesMs - leadMs) + rest.length);
  mix(sound, cut(one.sound, 0, first.toMs + 60), 0);
  mix(sound, rest, resumesMs - leadMs);
  const last = { fromMs: resumesMs, toMs: resumesMs + second.toMs - second.fromMs };
  return { source: one.source, sound, voice: [first, last] };
}
