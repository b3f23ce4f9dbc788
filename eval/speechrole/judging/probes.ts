import { readFile } from 'node:fs/promises';
import { concatSamples, type AudioFrame } from '../../../voices/audio.ts';
import { readWav, wavBytes } from '../../../voices/dsp/wav.ts';
import type { DialogueAgent } from '../data/dialogue-agent.ts';
import { EvalError } from '../../eval-error.ts';
import { seededRandom, shuffled } from '../../seeded-random.ts';
import type { MetricKey } from './metrics.ts';
import type { DialogueSample } from '../data/test-data.ts';

/** An alteration of the reference that any listener would notice; `itself` changes nothing. */
export interface Probe {
  readonly name: string;
  /** Metric that the judge is asked about. */
  readonly metric: MetricKey;
  /** `worse`: the untouched reference must win. `equal`: both are the same recording. */
  readonly expected: 'worse' | 'equal';
  readonly help: string;
}

export const probes: readonly Probe[] = [
  { name: 'itself', metric: 'Speech_Naturalness', expected: 'equal', help: 'the same recording twice' },
  { name: 'silence', metric: 'Speech_Fluency', expected: 'worse', help: 'nothing, as long' },
  { name: 'noise', metric: 'Speech_Naturalness', expected: 'worse', help: 'white noise, as long' },
  {
    name: 'another-role',
    metric: 'Conversational_Coherence',
    expected: 'worse',
    help: 'what another role said to something else',
  },
  { name: 'truncated', metric: 'Conversational_Coherence', expected: 'worse', help: 'the first quarter' },
  { name: 'shuffled', metric: 'Speech_Fluency', expected: 'worse', help: 'pieces of 0.4 s or less in random order' },
];

/**
 * Builds one sample per dialogue and probe, with ids `probe/dialogue`. Dialogues are taken round-robin over roles, so
 * that a small `count` covers many roles.
 */
export function probeSamples(samples: readonly DialogueSample[], count: number): DialogueSample[] {
  const byRole = [...Map.groupBy(samples, (sample) => sample.group).values()];
  const chosen = Array.from({ length: Math.max(0, ...byRole.map((each) => each.length)) }, (_, round) =>
    byRole.flatMap((each) => each[round] ?? []),
  ).flat();
  return chosen
    .slice(0, count)
    .flatMap((sample) => probes.map((probe) => ({ ...sample, id: `${probe.name}/${sample.id}` })));
}

/** Returns the probe of a sample from `probeSamples`. */
export function probeOf(sample: string): Probe {
  const name = sample.slice(0, sample.indexOf('/'));
  return probes.find((probe) => probe.name === name) as Probe;
}

/** Agent that answers with the altered reference. `all` is the source of another role's replies. */
export function probeAgent(all: readonly DialogueSample[]): DialogueAgent {
  return {
    name: 'probes',
    async answer(sample, { audio }) {
      const probe = probeOf(sample.id);
      const source = probe.name === 'another-role' ? otherRole(sample, all) : sample;
      const own = sample.target.turns;
      const answers = own.map(async (_, at) => {
        const turns = source.target.turns;
        const turn = turns[at % turns.length];
        if (turn?.speech === null || turn === undefined)
          throw new EvalError('data', `${source.id}: turn ${at} has no reference recording.`);
        const sound = await readWav(await readFile(turn.speech));
        const random = seededRandom(at + 1);
        const samples = alter(probe.name, sound, random);
        const wav = await wavBytes(samples, sound.sampleRate);
        return {
          text: turn.text,
          heard: null,
          audio: await audio.keep(wav),
          seconds: samples.length / sound.sampleRate,
          firstAudioMs: null,
          latency: null,
          mind: null,
        };
      });
      return { system: null, answers: await Promise.all(answers) };
    },
  };
}

/** Finds a dialogue of the next role, in the same language if possible. */
function otherRole(sample: DialogueSample, all: readonly DialogueSample[]): DialogueSample {
  const others = all.filter((each) => each.group !== sample.group && each.input.language === sample.input.language);
  const next =
    others.find((each) => each.group > sample.group) ?? others[0] ?? all.find((each) => each.group !== sample.group);
  if (next === undefined) throw new EvalError('data', 'Testing a judge requires data with at least two roles.');
  return next;
}

function alter(name: string, { samples, sampleRate }: AudioFrame, random: () => number): Float32Array {
  switch (name) {
    case 'silence':
      return new Float32Array(samples.length);
    case 'noise':
      return samples.map(() => (random() - 0.5) * 0.3);
    case 'truncated':
      return samples.slice(0, Math.ceil(samples.length / 4));
    case 'shuffled': {
      // At least eight pieces even of a short reply, so that the shuffled order cannot come out right.
      const size = Math.ceil(Math.min(0.4 * sampleRate, samples.length / 8));
      const pieces = Array.from({ length: Math.ceil(samples.length / size) }, (_, at) =>
        samples.subarray(at * size, (at + 1) * size),
      );
      return concatSamples(shuffled(pieces, random));
    }
    default:
      return samples;
  }
}
