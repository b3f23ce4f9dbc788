import { z } from 'zod';
import type { TextAnswer } from '../agents/text-agent.ts';
import type { Score } from '../task.ts';
import { referenceChoices, rougeL } from '../text-metrics/rouge-l.ts';
import { tokenKinds } from '../text-metrics/tokens.ts';
import { textConfigSchema, textFlags } from '../text/config.ts';
import type { PublishedTable, TextTask, Verdict } from '../text/text-task.ts';
import { languages, paperTables, splits } from './scores.ts';
import { answersIn, loadRoleBench, type RoleBenchFacts } from './test-set.ts';
import { mean } from '../../voices/dsp/statistics.ts';

export const roleBenchSchema = textConfigSchema.extend({
  language: z.enum(languages).default('en'),
  split: z.enum(splits).default('instruction'),
  /** Tokens of ROUGE-L; by the language if absent. */
  tokens: z.enum(tokenKinds).optional(),
  referencesBy: z.enum(referenceChoices).default('max'),
  /** Answers (JSONL) that the system's are judged against, instead of RoleGPT's in the data. */
  opponent: z.string().optional(),
});

export type RoleBenchConfig = z.infer<typeof roleBenchSchema>;

/** Output of a system for one question. */
export interface RoleBenchOutput {
  readonly system: unknown;
  readonly answer: TextAnswer;
}

const flags = {
  ...textFlags,
  data: { type: 'string', value: 'DIR', help: 'RoleBench: contains rolebench-eng/ and rolebench-zh/' },
  language: { type: 'string', value: 'en|zh', help: 'test set (default en)' },
  split: { type: 'string', value: 'WHICH', help: 'English: instruction (default) or role generalization' },
  limit: { type: 'string', value: 'N', help: 'only the first N questions of each kind' },
  tokens: { type: 'string', value: 'HOW', help: 'words, alnum, han or set (default: alnum, or han for Chinese)' },
  'references-by': { type: 'string', value: 'HOW', help: 'max (default), mean or first of a row’s references' },
  opponent: { type: 'string', value: 'FILE', help: 'answers to win against (default: RoleGPT’s, in the data)' },
} as const;

const orders = ['system-first', 'opponent-first'] as const;

/** RoleBench as RoleLLM uses it: ROUGE-L against answers in character, and a judge's preference. */
export const roleBench: TextTask<RoleBenchConfig, RoleBenchFacts, RoleBenchOutput> = {
  name: 'rolebench',
  title: 'RoleBench',
  logName: 'rolebench',
  version: 1,
  flags,
  options: { schema: roleBenchSchema, flags },
  synopsis: '--task rolebench --data DIR --out DIR --agent WHO [--judge URL --judge-model MODEL] …',
  promptFiles: ['agent', 'duel'].flatMap((name) => languages.map((language) => `rolebench/${name}.${language}.txt`)),
  load: loadRoleBench,
  async solve(facts, { agent, prompts }, { config, context }) {
    const { id: sample, role, language, question, description } = facts;
    const filled = prompts.fill(`rolebench/agent.${language}.txt`, { role, description, question });
    const system = config.characters === undefined ? filled.system : undefined;
    await using talk = await agent.open({ sample, system, role, language, maxTokens: 512 }, context);
    return { system: talk.about, answer: await talk.say(filled.user) };
  },
  async openOutputs(file) {
    const stored = await answersIn(file);
    return ({ role, question, occurrence }) => {
      const text = stored(role, question, occurrence);
      return { system: null, answer: { text, heard: null, audio: null, firstAudioMs: null, fallback: null } };
    };
  },
  asks: ({ opponent }) => (opponent === null ? [] : orders),
  question(ask, { facts, output }, prompts) {
    const { role, description, question, language } = facts;
    const answers = [output.answer.text, facts.opponent ?? ''] as const;
    const [first, second] = ask === 'system-first' ? answers : answers.toReversed();
    const values = { role, description, question, first: first ?? '', second: second ?? '' };
    const { system, user } = prompts.fill(`rolebench/duel.${language}.txt`, values);
    return { system, content: user, temperature: 0, maxTokens: 1_024 };
  },
  isReadable: (_, text, __, { parser }) => winnerIn(text, parser) !== undefined,
  score(facts, output, { config, verdict }) {
    return [...rougeScores(facts, output?.answer.text, config), ...duelScores(facts, output, { config, verdict })];
  },
  metrics: [
    { key: 'CUS', label: 'CUS', help: 'ROUGE-L of answers to general questions against answers in character' },
    { key: 'RAW', label: 'RAW', help: 'ROUGE-L of the same answers against the plain answers' },
    { key: 'SPE', label: 'SPE', help: 'ROUGE-L of answers to role-specific questions' },
    { key: 'script_based', label: 'script', help: 'SPE against references made from the script' },
    { key: 'script_agnostic', label: 'agnostic', help: 'SPE against references made from the description' },
    { key: 'win', label: 'win rate', help: 'wins and half the ties against the opponent, both orders' },
    { key: 'won', label: 'won', help: 'share of wins alone' },
  ],
  averages: [
    {
      key: 'avg',
      label: 'avg',
      help: 'mean of CUS, RAW and SPE',
      needs: ['CUS', 'RAW', 'SPE'],
      of: mean,
    },
  ],
  parts: languages.flatMap((language) =>
    splits.map((split) => ({
      key: `${language}/${split}`,
      label: `${language === 'en' ? 'English' : 'Chinese'}, ${split} generalization`,
      has: (facts: RoleBenchFacts) => facts.language === language && facts.split === split,
    })),
  ),
  rankedBy: ['win', 'avg'],
  published: paperTables.tables.map(({ table, language, split, rows }): PublishedTable => ({
    table,
    source: paperTables.source,
    protocol: paperTables.protocol,
    judge: 'none',
    part: `${language}/${split}`,
    rows: rows.map(({ system, CUS, RAW, SPE, avg }) => ({ system, values: { CUS, RAW, SPE, avg } })),
  })),
  protocol: ({ language, tokens, referencesBy }) =>
    `ROUGE-L, tokens ${tokens ?? tokensOf(language)}, ${referencesBy} of the references`,
  comparable: ({ language, split, opponent }) => ({
    'test set': `${language}, ${split}`,
    opponent: opponent ?? 'RoleGPT',
  }),
  describe: ({ role, question, references, opponent }, output) => [
    ['Role', role],
    ['Question', question],
    ['Answer', output?.answer.text ?? '(none)'],
    ...(output?.answer.said === undefined ? [] : ([['The system tells', output.answer.said]] as const)),
    ['Reference', references[0] ?? ''],
    ...(opponent === null ? [] : ([['Opponent', opponent]] as const)),
  ],
  answers: ({ answer }) => [answer],
  probes: ({ opponent, references, language, role }) =>
    opponent === null
      ? []
      : [
          {
            name: 'role',
            help: 'an answer in character, and one of an assistant',
            metric: 'win',
            better: probeOutput(references[0] ?? ''),
            worse: probeOutput(
              language === 'zh'
                ? `作为一个人工智能语言模型，我不是${role}，无法回答这个问题。`
                : `As an AI language model I am not ${role}, so I cannot answer this question.`,
            ),
          },
        ],
  exportRow: ({ role, question }, { answer }) => ({ role, question, generated: [answer.text] }),
};

function probeOutput(text: string): RoleBenchOutput {
  return { system: null, answer: { text, heard: null, audio: null, firstAudioMs: null, fallback: null } };
}

function tokensOf(language: 'en' | 'zh'): 'alnum' | 'han' {
  return language === 'zh' ? 'han' : 'alnum';
}

function rougeScores(facts: RoleBenchFacts, text: string | undefined, config: RoleBenchConfig): Score[] {
  const options = { tokens: config.tokens ?? tokensOf(facts.language), references: config.referencesBy } as const;
  const scored = (name: string, references: readonly string[], missing?: string): Score => {
    if (text === undefined) return { name, value: null, why: 'the system failed' };
    const value = rougeL(text, references, options);
    return value === null ? { name, value, why: missing ?? 'no reference' } : { name, value };
  };
  const { part, references, types, plain } = facts;
  if (part === 'general')
    return [
      scored('CUS', references),
      scored('RAW', plain ?? [], plain === null ? 'instructions-*/general.jsonl is missing' : 'no plain answer'),
    ];
  const kinds = (['script_based', 'script_agnostic'] as const).flatMap((kind): Score[] => {
    const some = references.filter((_, at) => types[at] === kind);
    return some.length === 0 ? [] : [scored(kind, some)];
  });
  return [scored('SPE', references), ...kinds];
}

function duelScores(
  { opponent }: RoleBenchFacts,
  output: RoleBenchOutput | undefined,
  how: { readonly config: RoleBenchConfig; readonly verdict: (ask: string) => Verdict },
): Score[] {
  const { config, verdict } = how;
  if (config.judge === undefined || opponent === null) return [];
  const verdicts = orders.map((ask) => ({ ask, ...verdict(ask) }));
  const unread = verdicts.find(({ state }) => state !== 'answered');
  const why = output === undefined ? 'the system failed' : unread === undefined ? '' : `judge: ${unread.state}`;
  if (output === undefined || unread !== undefined) return ['win', 'won'].map((name) => ({ name, value: null, why }));
  const points = verdicts.map(({ ask, text }) => {
    const winner = winnerIn(text, config.parser);
    if (winner === 'tie' || winner === undefined) return 0;
    return (winner === 'A') === (ask === 'system-first') ? 1 : -1;
  });
  // Only a verdict that does not depend on the order counts.
  const agreed = points[0] === points[1] ? (points[0] ?? 0) : 0;
  return [
    { name: 'win', value: agreed === 1 ? 1 : agreed === -1 ? 0 : 0.5 },
    { name: 'won', value: agreed === 1 ? 1 : 0 },
  ];
}

/** Reads the verdict in a judge's reply: strictly its last line, or tolerantly the last verdict anywhere. */
export function winnerIn(text: string, parser: 'strict' | 'tolerant'): 'A' | 'B' | 'tie' | undefined {
  const line = text.trimEnd().split('\n').at(-1) ?? '';
  const strict = /^(?:Verdict: |结论：)(A|B|tie|平)$/.exec(line)?.[1];
  const loose = [...text.matchAll(/(?:verdict|结论)[\s*_]*[:：][\s*_"'“]*(A|B|tie|平)(?![\p{L}\p{N}])/giu)];
  const word = parser === 'strict' ? strict : (loose.at(-1)?.[1] ?? strict);
  if (word === undefined) return undefined;
  return /^(?:tie|平)$/i.test(word) ? 'tie' : word.toUpperCase() === 'A' ? 'A' : 'B';
}
