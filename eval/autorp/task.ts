import { publishedTables } from '../text/published.ts';
import type { TextTask } from '../text/text-task.ts';
import { autoRpFlags, autoRpOptions, type AutoRpConfig } from './config.ts';
import { judgedMetrics, questionOf, verdictIn, type JudgedMetric } from './judging.ts';
import { align, meet, openStored, storedRow, transcriptOf, type AutoRpOutput } from './meeting.ts';
import { agreementWithPeople, peopleTable } from './people.ts';
import { autoRpProbes } from './probes.ts';
import { alignmentScores, meetingScores } from './scores.ts';
import { loadAutoRp, type AutoRpFacts } from './test-set.ts';

const published = publishedTables(import.meta.dirname);
const percent = { scale: 100, digits: 2 } as const;
const byRoles = { by: 'groups', ...percent } as const;
const ofLabels = 'share of the role’s own labels that the judge chooses';

/** AutoRPEval of Beyond Dialogue: a role meets simulated partners, and a judge reads its profile out of the conversation. */
export const autoRp: TextTask<AutoRpConfig, AutoRpFacts, AutoRpOutput> = {
  name: 'autorp',
  title: 'AutoRPEval',
  logName: 'autorp',
  version: 1,
  flags: autoRpFlags,
  options: autoRpOptions,
  synopsis: '--task autorp --data PLACE --out DIR --agent WHO --partner URL#MODEL [--judge URL --judge-model MODEL] …',
  promptFiles: ['partner', ...judgedMetrics].flatMap((name) =>
    ['en', 'zh'].map((language) => `autorp/${name}.${language}.txt`),
  ),
  load: loadAutoRp,
  solve: (facts, systems, how) => (facts.kind === 'alignment' ? align(facts, systems, how) : meet(facts, systems, how)),
  openOutputs: openStored,
  asks: ({ kind }) => (kind === 'meeting' ? judgedMetrics : []),
  question: (ask, { facts, output }, prompts) =>
    facts.kind === 'alignment' ? undefined : questionOf(ask as JudgedMetric, facts, output, prompts),
  isReadable: (ask, text, facts, { parser }) =>
    facts.kind === 'meeting' && verdictIn(ask as JudgedMetric, text, facts, parser) !== undefined,
  score: (facts, output, how) =>
    facts.kind === 'alignment' ? alignmentScores(facts, output, how.config) : meetingScores(facts, output, how),
  metrics: [
    { key: 'character', label: 'Character', help: `recall: ${ofLabels}`, ...percent },
    { key: 'style', label: 'Style', help: `recall: ${ofLabels}`, ...percent },
    { key: 'emotion', label: 'Emotion', help: 'NMAPE of six scores, lower is better', isLower: true, ...percent },
    { key: 'relationship', label: 'Relationship', help: 'NMAPE, lower is better', isLower: true, ...percent },
    { key: 'personality', label: 'Personality', help: 'share of the four letters, mean over roles', ...byRoles },
    { key: 'human-likeness', label: 'Human-likeness', help: 'taken for people, mean over roles', ...byRoles },
    { key: 'role-choice', label: 'Role choice', help: 'recognized of four, mean over roles', ...byRoles },
    { key: 'coherence', label: 'Coherence', help: 'coherent, mean over roles', ...byRoles },
    ...(['character', 'style'] as const).flatMap((name) => [
      {
        key: `${name}-precision`,
        label: `${name}, precision`,
        help: 'of the chosen labels, the role’s own',
        ...percent,
      },
      { key: `${name}-f1`, label: `${name}, F1`, help: 'harmonic mean of precision and recall', ...percent },
    ]),
  ],
  averages: [
    {
      key: 'average',
      label: 'Avg.',
      help: 'mean of character, style, 1 − emotion, 1 − relationship, personality',
      needs: ['character', 'style', 'emotion', 'relationship', 'personality'],
      of: ([character = 0, style = 0, emotion = 0, relationship = 0, personality = 0]) =>
        (character + style + (1 - emotion) + (1 - relationship) + personality) / 5,
      ...percent,
    },
  ],
  parts: [
    { key: 'all', label: 'All', has: ({ kind }) => kind === 'meeting' },
    { key: 'en', label: 'English', has: ({ kind, language }) => kind === 'meeting' && language === 'en' },
    { key: 'zh', label: 'Chinese', has: ({ kind, language }) => kind === 'meeting' && language === 'zh' },
    { key: 'alignment', label: 'Alignment', has: ({ kind }) => kind === 'alignment' },
    {
      key: 'alignment/en',
      label: 'Alignment, English',
      has: ({ kind, language }) => kind === 'alignment' && language === 'en',
    },
    {
      key: 'alignment/zh',
      label: 'Alignment, Chinese',
      has: ({ kind, language }) => kind === 'alignment' && language === 'zh',
    },
  ],
  published,
  protocol: ({ candidates, utterances }) => `AutoRPEval, candidates ${candidates}, ${utterances} utterances`,
  comparable: ({ candidates, utterances, models }) => ({
    candidates,
    utterances: String(utterances),
    partner: models['partner']?.model ?? 'none',
  }),
  describe: describeSample,
  answers: ({ answers }) => answers,
  probes: autoRpProbes,
  withPeople: (judged, labels) => peopleTable(agreementWithPeople(judged, labels)),
  exportRow: storedRow,
};

function describeSample(facts: AutoRpFacts, output: AutoRpOutput | undefined): (readonly [string, string])[] {
  if (facts.kind === 'alignment')
    return [
      ['Question', facts.question],
      ['Answer', output?.answers[0]?.text ?? '(none)'],
      ['Label', JSON.stringify(facts.label)],
    ];
  const { role, partner, scene } = facts;
  return [
    ['Role', `${role}, who meets ${partner.name}`],
    ['Scene', scene],
    ['Conversation', transcriptOf(output?.utterances ?? [], { role, partner: partner.name })],
  ];
}
