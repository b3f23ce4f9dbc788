import { readFile } from 'node:fs/promises';
import { concatSamples, type AudioFrame } from '../../../voices/audio.ts';
import { resample } from '../../../voices/dsp/resampler.ts';
import { readWav, wavBytes } from '../../../voices/dsp/wav.ts';
import { EvalError } from '../../eval-error.ts';
import { seededRandom, shuffled } from '../../statistics.ts';
import { recordedAnswer, type DialogueAgent } from '../data/task.ts';
import type { DialogueSample } from '../data/test-data.ts';
import type { MetricKey } from './metrics.ts';
import type { ProbeSpeech, SpokenLine } from './probe-speech.ts';

/** An alteration of the reference that any listener would notice; `itself` changes nothing. */
export interface Probe {
  readonly name: string;
  /** Metric that the judge is asked about. */
  readonly metric: MetricKey;
  /** `worse`: the untouched reference must win. `equal`: both are the same recording. */
  readonly expected: 'worse' | 'equal';
  readonly help: string;
  /** Reads the altered words of a reply; both sides are then spoken by one synthetic voice, so that only words differ. */
  readonly speaks?: (text: string, language: 'en' | 'zh') => Pick<SpokenLine, 'text' | 'isGiddy'>;
}

export const probes: readonly Probe[] = [
  { name: 'itself', metric: 'Speech_Naturalness', expected: 'equal', help: 'the same recording twice' },
  { name: 'silence', metric: 'Speech_Fluency', expected: 'worse', help: 'silence of the same length' },
  { name: 'noise', metric: 'Speech_Naturalness', expected: 'worse', help: 'white noise of the same length' },
  {
    name: 'another-role',
    metric: 'Conversational_Coherence',
    expected: 'worse',
    help: 'another role’s answer to a different question',
  },
  { name: 'truncated', metric: 'Conversational_Coherence', expected: 'worse', help: 'the first quarter' },
  { name: 'shuffled', metric: 'Speech_Fluency', expected: 'worse', help: 'pieces of 0.4 s or less in random order' },
  {
    name: 'other-speaker',
    metric: 'Prosodic_Consistency',
    expected: 'worse',
    help: 'the last round, or its half, by another speaker',
  },
  {
    name: 'assistant',
    metric: 'Instruction_Adherence',
    expected: 'worse',
    help: 'an assistant’s reply, spoken',
    speaks: (_text, language) => ({
      text:
        language === 'zh'
          ? '我是人工智能语言模型，不扮演任何角色，也没有自己的看法。请问今天有什么可以帮您？'
          : 'As an AI language model, I do not play roles, and I have no opinions. How may I assist you today?',
    }),
  },
  {
    name: 'opposite-temper',
    metric: 'Personality_Consistency',
    expected: 'worse',
    help: 'a frightened, servile reply, spoken',
    speaks: (_text, language) => ({
      text:
        language === 'zh'
          ? '哎呀，求求您别生气，我好害怕，我什么主意都没有，您说什么就是什么，我全听您的。'
          : 'Oh dear, oh dear, please do not be cross with me! I am so frightened, and I have no mind of my own. Whatever you say is right.',
    }),
  },
  {
    name: 'wrong-fact',
    metric: 'Knowledge_Consistency',
    expected: 'worse',
    help: 'with false facts about the role, spoken',
    speaks: (text, language) => ({
      text:
        language === 'zh'
          ? `${text} 对了，我叫鲍勃，三千零二十一年生在月球上，你说的人和地方我都没听说过。`
          : `${text} By the way, my name is Bob, I was born on the Moon in the year 3021, and I have never heard of the people and places you speak of.`,
    }),
  },
  {
    name: 'wrong-feeling',
    metric: 'Emotion_Appropriateness',
    expected: 'worse',
    help: 'the same words in a giddy voice',
    speaks: (text) => ({ text, isGiddy: true }),
  },
];

/**
 * Builds one sample per dialogue and probe, with ids `probe/dialogue`. Dialogues are taken round-robin over roles, so
 * that a small `count` covers many roles. References of probes that are spoken are at the places of `speech`.
 */
export function probeSamples(
  samples: readonly DialogueSample[],
  count: number,
  speech: Pick<ProbeSpeech, 'pathOf'>,
): DialogueSample[] {
  const byRole = [...Map.groupBy(samples, (sample) => sample.group).values()];
  const chosen = Array.from({ length: Math.max(0, ...byRole.map((each) => each.length)) }, (_, round) =>
    byRole.flatMap((each) => each[round] ?? []),
  ).flat();
  return chosen.slice(0, count).flatMap((sample) =>
    probes.map((probe): DialogueSample => {
      const id = `${probe.name}/${sample.id}`;
      if (probe.speaks === undefined) return { ...sample, id };
      const turns = sample.target.turns.map(({ text }) => ({ text, speech: speech.pathOf(lineOf(sample, text)) }));
      return { ...sample, id, target: { turns } };
    }),
  );
}

function lineOf({ input }: DialogueSample, text: string): SpokenLine {
  return { text, language: input.language };
}

/** Returns the probe of a sample from `probeSamples`. */
export function probeOf(sample: string): Probe {
  const name = sample.slice(0, sample.indexOf('/'));
  return probes.find((probe) => probe.name === name) as Probe;
}

/** Agent that answers with the altered reference. `all` is the source of another role's replies. */
export function probeAgent(all: readonly DialogueSample[], speech: ProbeSpeech): DialogueAgent {
  return {
    name: 'probes',
    async answer(sample, { audio, signal }) {
      const probe = probeOf(sample.id);
      const answers = sample.target.turns.map(async ({ text }, at) => {
        if (probe.speaks === undefined) {
          const { text: said, wav } = await alteredRecording(probe.name, sample, at, all);
          return recordedAnswer(said, wav, audio);
        }
        await speech.speak(lineOf(sample, text), signal);
        const line = { ...lineOf(sample, text), ...probe.speaks(text, sample.input.language) };
        return recordedAnswer(line.text, await readFile(await speech.speak(line, signal)), audio);
      });
      return { system: null, answers: await Promise.all(answers) };
    },
  };
}

async function alteredRecording(
  name: string,
  sample: DialogueSample,
  at: number,
  all: readonly DialogueSample[],
): Promise<{ readonly text: string; readonly wav: Buffer }> {
  const own = await recordingOf(sample, at);
  const random = seededRandom(at + 1);
  if (name !== 'another-role' && name !== 'other-speaker')
    return { text: own.text, wav: await wavBytes(alter(name, own, random), own.sampleRate) };
  const isLast = at === sample.target.turns.length - 1;
  if (name === 'other-speaker' && !isLast) return { text: own.text, wav: await wavBytes(own.samples, own.sampleRate) };
  const other = await recordingOf(otherRole(sample, all), at);
  const foreign = resample(other.samples, other.sampleRate, own.sampleRate);
  if (name === 'another-role' || at > 0) return { text: other.text, wav: await wavBytes(foreign, own.sampleRate) };
  const halves = [own.samples.subarray(0, own.samples.length >> 1), foreign.subarray(foreign.length >> 1)];
  return { text: own.text, wav: await wavBytes(concatSamples(halves), own.sampleRate) };
}

async function recordingOf(
  { id, target: { turns } }: DialogueSample,
  at: number,
): Promise<AudioFrame & { readonly text: string }> {
  const turn = turns[at % turns.length];
  if (turn?.speech === null || turn === undefined)
    throw new EvalError(
      'data',
      `${id}: turn ${at} has no reference recording. \`eval data check\` lists all that are missing.`,
    );
  return { text: turn.text, ...(await readWav(await readFile(turn.speech))) };
}

/** Finds a dialogue of the next role, in the same language if possible. */
function otherRole(sample: DialogueSample, all: readonly DialogueSample[]): DialogueSample {
  const others = all.filter((each) => each.group !== sample.group && each.input.language === sample.input.language);
  const next =
    others.find((each) => each.group > sample.group) ?? others[0] ?? all.find((each) => each.group !== sample.group);
  if (next === undefined)
    throw new EvalError(
      'data',
      'A judge check needs data with at least two roles. Give --data a folder with more roles.',
    );
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
