import type { SessionPatch } from '../../server/protocol/client-events.ts';
import { seededRandom } from '../../eval/statistics.ts';
import type { EngineScript, RecognizerBehavior, SynthesizerBehavior, ReplyBehavior } from './engine-script.ts';
import type { NetworkConditions } from './pipe.ts';
import type { Part, Scenario } from './scenario.ts';
import {
  ask,
  babble,
  commit,
  cough,
  cut,
  freeze,
  greet,
  hear,
  interrupt,
  meanwhile,
  mute,
  send,
  unmute,
  update,
  wait,
  weather,
  write,
  type Step,
} from './step.ts';

type Chance = () => number;

/** A random conversation in which anything may go wrong; reproducible from its seed. */
export function randomScenario(seed: number): Scenario {
  const chance = seededRandom(seed);
  const isCrowded = chance() < 0.1;
  return {
    name: `seed ${seed}`,
    seed,
    isRandom: true,
    ...randomPart(chance),
    ...(isCrowded ? { others: { bob: { ...randomPart(chance), afterMs: integer(chance, 0, 900) } } } : {}),
  };
}

function randomPart(chance: Chance): Part {
  const client = chance() < 0.05 ? 'plain' : 'ours';
  const length = integer(chance, 1, 3);
  return {
    client,
    weather: randomWeather(chance),
    engines: randomEngines(chance),
    sendsSilence: chance() < 0.4,
    chunkMs: chance() < 0.2 ? 40 : 100,
    script: Array.from({ length }, () => randomMove(chance, client === 'ours')).flat(),
  };
}

function integer(chance: Chance, least: number, most: number): number {
  return Math.floor(least + chance() * (most - least + 1));
}

function oneOf<Choice>(chance: Chance, choices: readonly (readonly [weight: number, choice: Choice])[]): Choice {
  let left = chance() * choices.reduce((sum, [weight]) => sum + weight, 0);
  for (const [weight, choice] of choices) if ((left -= weight) < 0) return choice;
  return (choices.at(-1) as (typeof choices)[number])[1];
}

function randomWeather(chance: Chance): Partial<NetworkConditions> {
  return oneOf(chance, [
    [5, {}],
    [2, { latencyMs: integer(chance, 1, 400) }],
    [2, { latencyMs: integer(chance, 5, 120), jitterMs: integer(chance, 1, 300), lossShare: 0.02 }],
    [1, { latencyMs: 60, jitterMs: 500, lossShare: 0.1 }],
    [1, { bytesPerSecond: integer(chance, 60_000, 200_000) }],
  ]);
}

function randomEngines(chance: Chance): EngineScript {
  const turns = <Turn>(make: () => Turn): Turn[] => Array.from({ length: 5 }, make);
  const hearing = (): RecognizerBehavior => ({
    finalMs: oneOf(chance, [
      [6, 80],
      [2, integer(chance, 0, 600)],
      [1, 2_500],
    ]),
    ...oneOf<RecognizerBehavior>(chance, [
      [16, {}],
      [1, { fails: 'at once' }],
      [1, { fails: 'while listening' }],
      [1, { fails: 'at the end' }],
      [1, { unclear: true }],
    ]),
  });
  const thinking = (): ReplyBehavior => ({
    firstTokenMs: oneOf(chance, [
      [6, 120],
      [2, integer(chance, 0, 900)],
      [1, 3_000],
    ]),
    ...oneOf<ReplyBehavior>(chance, [
      [14, {}],
      [1, { failsAfter: integer(chance, 0, 8) }],
      [1, { stallsAfter: integer(chance, 0, 8), stallMs: integer(chance, 300, 3_000) }],
      [1, { givesWayAfter: integer(chance, 0, 6) }],
    ]),
  });
  const speaking = (): SynthesizerBehavior => ({
    work: oneOf(chance, [
      [6, 0.1],
      [1, 0.9],
      [1, 1.4],
    ]),
    ...oneOf<SynthesizerBehavior>(chance, [
      [14, {}],
      [1, { failsAfter: integer(chance, 0, 8) }],
      [1, { stallsAfter: integer(chance, 0, 8), stallMs: integer(chance, 300, 3_000) }],
    ]),
  });
  // Short, so that many runs fit into a short time.
  const usual = { words: 4, wordMs: 160 };
  return { hears: turns(hearing), thinks: turns(thinking), speaks: turns(speaking), usual };
}

/** A few steps that belong together. */
function randomMove(chance: Chance, canResume: boolean): Step[] {
  const pause = wait(integer(chance, 0, 1_200));
  const listen = hear(integer(chance, 1, 7), integer(chance, 300, 3_000));
  const speak = babble(integer(chance, 1, 4), integer(chance, 150, 300));
  const nuisance: Step[] = canResume
    ? [
        cut(
          oneOf(chance, [
            [3, 0],
            [2, integer(chance, 50, 2_500)],
          ]),
        ),
        freeze(integer(chance, 100, 4_000)),
      ]
    : [freeze(integer(chance, 100, 2_000))];
  return oneOf<readonly Step[]>(chance, [
    [8, [speak, listen]],
    [4, [speak, pause]],
    [2, [cough(integer(chance, 40, 500)), pause]],
    [2, [write(`note ${integer(chance, 1, 9)}`), listen]],
    [2, [interrupt, pause]],
    [1, [greet, listen]],
    [1, [ask, pause]],
    [1, [commit, pause]],
    [1, [send({ type: 'input_audio_buffer.clear' }), pause]],
    [1, [send({ type: 'response.cancel' }), pause]],
    [1, [mute, pause, unmute]],
    [1, [weather(randomWeather(chance)), speak, listen]],
    [1, pushToTalk(chance)],
    [4, [meanwhile(wait(integer(chance, 0, 1_500)), ...nuisance.slice(0, 1)), speak, listen]],
    [2, [meanwhile(wait(integer(chance, 0, 1_500)), ...nuisance.slice(-1)), speak, listen]],
    [2, [...nuisance.slice(0, 1), pause]],
    [1, [update({ audio: { input: { turn_detection: randomDetection(chance) } } }), speak, listen]],
  ]) as Step[];
}

function randomDetection(chance: Chance): NonNullable<NonNullable<SessionPatch['audio']>['input']>['turn_detection'] {
  return {
    type: 'server_vad',
    silence_duration_ms: integer(chance, 200, 900),
    prefix_padding_ms: integer(chance, 0, 500),
    interrupt_response: chance() < 0.8,
    create_response: chance() < 0.9,
  };
}

function pushToTalk(chance: Chance): Step[] {
  return [
    update({ audio: { input: { turn_detection: null } } }),
    babble(integer(chance, 1, 4)),
    ...(chance() < 0.8 ? [commit] : []),
    ...(chance() < 0.2 ? [commit] : []),
    ...(chance() < 0.8 ? [ask] : []),
    hear(integer(chance, 1, 6), 3_000),
    update({ audio: { input: { turn_detection: { type: 'server_vad' } } } }),
  ];
}
