import { EvalError } from '../eval-error.ts';
import { publishedTables } from '../text/published.ts';
import type { Prompts } from '../text/prompts.ts';
import { repeatKey, type TextTask } from '../text/text-task.ts';
import { actScene, type ActedScene } from './acting.ts';
import { loadCircumstances, type Circumstance } from './circumstances.ts';
import { coserFlags, coserOptions, mostRepeats, type CoserConfig } from './config.ts';
import { transcriptOf } from './messages.ts';
import { dimensions, penaltiesIn, type Dimension } from './penalties.ts';
import { openRecall, type Recall } from './recall.ts';
import { probesOf, readScenes, storedScene } from './scenes.ts';
import { penaltyScores, sceneScores } from './scores.ts';
import { mean } from '../../voices/dsp/statistics.ts';

const published = publishedTables(import.meta.dirname);

const ownPrompts = ['character', 'character-without-thoughts', 'environment', 'next-speaker', 'judge'];
const promptFiles = [...ownPrompts, ...dimensions.map(({ key }) => key)].map((name) => `coser/${name}.txt`);

const recalls = new WeakMap<CoserConfig, Recall | undefined>();

function recallOf(config: CoserConfig): Recall | undefined {
  if (!recalls.has(config)) recalls.set(config, openRecall(config));
  return recalls.get(config);
}

/** CoSER: characters of a book act a scene together, and a judge looks for flaws. */
export const coserTask: TextTask<CoserConfig, Circumstance, ActedScene> = {
  name: 'coser',
  title: 'CoSER',
  logName: 'coser',
  version: 1,
  flags: coserFlags,
  options: coserOptions,
  synopsis: '--task coser --data FILE --out DIR --agent WHO --environment URL#MODEL --next-speaker URL#MODEL …',
  promptFiles,
  load: loadCircumstances,
  solve: (facts, systems, { config, context }) =>
    actScene(facts, { systems, config, context, recall: recallOf(config) }),
  async openOutputs(file) {
    const scenes = await readScenes(file);
    return ({ book, plot, conversation, id }) => {
      const scene = scenes.get(`${book}-${plot}-${conversation}`);
      if (scene === undefined) throw new EvalError('data', `${file} has no scene ${id}. Add it, or leave it out.`);
      return scene;
    };
  },
  asks: () => dimensions.map(({ key }) => key),
  question: (ask, { facts, output, config }, prompts) => ({
    system: judgePrompt(dimensionOf(ask), facts, { config, prompts }),
    content: transcriptOf(output.messages, { bare: config.bareTranscript }),
    temperature: 0,
  }),
  isReadable: (ask, text, _facts, { parser }) => penaltiesIn(text, dimensionOf(ask), parser) !== null,
  score: (facts, output, { config, verdict }) => [
    ...penaltyScores(output, config, verdict),
    ...sceneScores(facts, output, config),
  ],
  metrics: [
    ...dimensions.map(({ key, name }) => ({
      key,
      label: name,
      help: 'corrected for length, 0 to 100',
      digits: 2,
    })),
    { key: 'case', label: 'Scene', help: 'mean of the four, over scenes that have all four', digits: 2 },
    { key: 'paper', label: 'Paper’s formula', help: 'the same by 100 − Σ + 1.5R, not limited', digits: 2 },
    { key: 'bleu', label: 'BLEU', help: 'whole scene compared with the original', scale: 100, digits: 2 },
    { key: 'rouge-l', label: 'ROUGE-L', help: 'whole scene compared with the original', scale: 100, digits: 2 },
    { key: 'messages', label: 'Messages', help: 'of characters, in a scene', digits: 1 },
    {
      key: 'by-chance',
      label: 'By chance',
      help: 'next speakers that the model did not name',
      digits: 3,
      isLower: true,
    },
    {
      key: 'clamped',
      label: 'Off the scale',
      help: 'severities of a scene set to the scale',
      digits: 2,
      isLower: true,
    },
  ],
  averages: [
    {
      key: 'average',
      label: 'Average',
      help: 'mean of the four dimensions',
      needs: dimensions.map(({ key }) => key),
      of: mean,
      digits: 2,
    },
  ],
  parts: [
    { key: 'all', label: 'All scenes', has: () => true },
    { key: 'id', label: 'Books of the training set', has: ({ tag }) => tag === 'id' },
    { key: 'ood', label: 'Other books', has: ({ tag }) => tag === 'ood' },
    ...Array.from({ length: mostRepeats }, (_, at) => at + 1).map((nth) => ({
      key: `${repeatKey}${nth}`,
      label: `Repeat ${nth}`,
      has: ({ repeat, isRepeated }: Circumstance) => isRepeated && repeat === nth,
    })),
  ],
  published,
  protocol: ({ lengthCorrection, continueFrom }) =>
    `coser · length correction ${lengthCorrection}${continueFrom === 0 ? '' : ` · continued from ${continueFrom}`}`,
  comparable: (config) => ({
    'first speaker': config.firstSpeaker,
    'continued from': String(config.continueFrom),
    rounds: String(config.rounds),
    'length correction': config.lengthCorrection,
    transcript: config.bareTranscript ? 'without names' : 'with names',
    environment: config.models['environment']?.model ?? 'none',
    'next speaker': config.models['next-speaker']?.model ?? 'none',
    'cut repetition': String(config.cutRepetition),
    retrieval: `${config.retrieval}${config.leaky ? ', leaky' : ''}`,
    thoughts: String(!config.withoutThoughts),
  }),
  describe: ({ scenario, reference }, output) => [
    ['Scene', scenario],
    ['Acted', output === undefined ? '' : transcriptOf(output.messages)],
    ['In the book', transcriptOf(reference)],
  ],
  answers: ({ messages }) => messages.flatMap(({ spoken }) => (spoken === undefined ? [] : [spoken])),
  probes: probesOf,
  exportRow: storedScene,
  notes: (_facts, { retrieval, leaky }) =>
    retrieval === 'none'
      ? []
      : [
          `Characters recalled ${retrieval} by BM25${leaky ? ', HELD-OUT PLOTS INCLUDED: the original scene is among them' : ''}.`,
        ],
};

function dimensionOf(ask: string): Dimension {
  const found = dimensions.find(({ key }) => key === ask);
  if (found === undefined) throw new Error(`no dimension ${ask}`);
  return found;
}

function judgePrompt(
  { key, name }: Dimension,
  { book, scenario, summary, actors, majors, reference }: Circumstance,
  { config, prompts }: { readonly config: CoserConfig; readonly prompts: Prompts },
): string {
  const { continueFrom } = config;
  return prompts.fill('coser/judge.txt', {
    dimension: name,
    book,
    scenario,
    summary,
    profiles: actors
      .filter(({ profile }) => profile !== '')
      .map((each) => `## ${each.name}\n\n${each.profile}`)
      .join('\n\n'),
    original: transcriptOf(reference),
    continuation:
      continueFrom === 0
        ? ''
        : `The first ${continueFrom} messages are those of the book: judge only what comes after them.`,
    criteria: prompts.fill(`coser/${key}.txt`, { majors: majors.join(', ') }).system,
  }).system;
}
