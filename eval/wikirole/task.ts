import { z } from 'zod';
import type { TextAnswer } from '../agents/text-agent.ts';
import { mean } from '../statistics.ts';
import type { Score } from '../task.ts';
import { textConfigSchema, textFlags } from '../text/config.ts';
import { publishedTables } from '../text/published.ts';
import type { TextTask, Verdict } from '../text/text-task.ts';
import { gradeIn, nameIn, refusalIn } from './grammar.ts';
import { loadWikiRole, openAnswers, type WikiRoleFacts } from './test-set.ts';

export const wikiRoleSchema = textConfigSchema.extend({
  /** Replies of the judge to each question. */
  votes: z.number().int().min(1).max(9).default(3),
  /** Puts the system prompt in front of the first question, for models that know no such role. */
  systemInQuestion: z.boolean().default(false),
  /** Gives the role's profile to the system, as DITTO's simulation of answers does. */
  withProfile: z.boolean().default(false),
  /** Model that was trained, and the one that made its data: tags for `eval cross`. */
  seedModel: z.string().optional(),
  supervisor: z.string().optional(),
});

export type WikiRoleConfig = z.infer<typeof wikiRoleSchema>;

/** Output of a system for one role. */
export interface WikiRoleOutput {
  readonly system: unknown;
  readonly answers: readonly TextAnswer[];
}

const flags = {
  ...textFlags,
  data: { type: 'string', value: 'FILE', help: 'WikiRoleEval with evidence, JSONL' },
  votes: { type: 'string', value: 'N', help: 'replies of the judge to each question (default 3)' },
  'system-in-question': { type: 'boolean', help: 'put the system prompt in front of the first question' },
  'with-profile': { type: 'boolean', help: 'give the role’s profile to the system, as DITTO’s simulation does' },
  'seed-model': { type: 'string', value: 'NAME', help: 'tag for `eval cross`: the model that was trained' },
  supervisor: { type: 'string', value: 'NAME', help: 'tag for `eval cross`: the model that made its data' },
} as const;

const kinds = ['identity', 'refusal', 'knowledge'] as const;
type Kind = (typeof kinds)[number];
const languages = ['en', 'zh'] as const;

/** WikiRoleEval of DITTO: identity, knowledge and the refusal of what a role cannot know, turn by turn. */
export const wikiRole: TextTask<WikiRoleConfig, WikiRoleFacts, WikiRoleOutput> = {
  name: 'wikirole',
  title: 'WikiRoleEval',
  logName: 'wikirole',
  version: 1,
  flags,
  options: { schema: wikiRoleSchema, flags },
  synopsis: '--task wikirole --data FILE --out DIR --agent WHO [--judge URL --judge-model MODEL] …',
  promptFiles: [...kinds, 'simulate'].flatMap((kind) =>
    languages.map((language) => `wikirole/${kind}.${language}.txt`),
  ),
  load: loadWikiRole,
  async solve(facts, { agent, prompts }, { config, context }) {
    const { id: sample, role, language, profile } = facts;
    const simulated = prompts.fill(`wikirole/simulate.${language}.txt`, { role, profile, question: '' });
    const given = config.withProfile ? simulated.system : facts.system;
    const isApart = !config.systemInQuestion && config.characters === undefined;
    await using talk = await agent.open(
      { sample, system: isApart ? given : undefined, role, language, maxTokens: 8_192 },
      context,
    );
    const answers: TextAnswer[] = [];
    for (const [turn, question] of facts.prompts.entries()) {
      const opening = config.systemInQuestion && turn === 0 ? `${given}\n\n${question}` : question;
      answers.push(await talk.say(opening));
    }
    return { system: talk.about, answers };
  },
  async openOutputs(file, config) {
    const stored = await openAnswers(file, config);
    return (facts) => ({ system: null, answers: stored(facts).map(writtenAnswer) });
  },
  asks(facts, { votes }) {
    return facts.prompts.flatMap((_, turn) =>
      kinds.flatMap((kind) =>
        canAsk(kind, facts) ? Array.from({ length: votes }, (__, vote) => `${kind}/${turn}/${vote}`) : [],
      ),
    );
  },
  question(ask, { facts, output }, prompts) {
    const [kind = '', turn = '0'] = ask.split('/');
    const { role, summary, language, candidates } = facts;
    const at = Number(turn);
    const values = {
      role,
      summary,
      question: facts.prompts[at] ?? '',
      answer: output.answers[at]?.text ?? '',
      candidates: candidates.map((name) => `- ${name}`).join('\n'),
      evidence: facts.evidence[at] ?? '',
    };
    const { system, user } = prompts.fill(`wikirole/${kind}.${language}.txt`, values);
    return { system, content: user, temperature: 0.2, maxTokens: 2_048 };
  },
  isReadable(ask, text, { candidates }, { parser }) {
    if (ask.startsWith('identity')) return nameIn(text, candidates, parser) !== undefined;
    if (ask.startsWith('refusal')) return refusalIn(text, parser) !== undefined;
    const grade = gradeIn(text, parser);
    return grade !== undefined && (parser === 'strict' || (grade >= 1 && grade <= 10));
  },
  score: scoresOf,
  metrics: [
    { key: 'consistency', label: 'Cons.', help: 'share of replies that name the role, mean over turns' },
    { key: 'knowledge', label: 'Know.', help: 'grade from 1 to 10, mean over turns', digits: 2 },
    { key: 'rejection', label: 'Rej.', help: 'share of turns that are rightly refused or rightly answered' },
    {
      key: 'precision',
      label: 'Rej. precision',
      help: 'share of refusals that are right: the role cannot know the answer',
    },
    { key: 'recall', label: 'Rej. recall', help: 'share of questions that the role cannot know and refuses' },
    { key: 'base', label: 'base rate', help: 'share of questions that the role cannot know' },
    { key: 'consistency_roles', from: 'consistency', label: 'Cons., roles', help: 'mean over roles', by: 'groups' },
    {
      key: 'knowledge_roles',
      from: 'knowledge',
      label: 'Know., roles',
      help: 'mean over roles',
      by: 'groups',
      digits: 2,
    },
    { key: 'rejection_roles', from: 'rejection', label: 'Rej., roles', help: 'mean over roles', by: 'groups' },
  ],
  averages: [],
  parts: [
    { key: 'all', label: 'All', has: () => true },
    { key: 'en', label: 'English', has: ({ language }) => language === 'en' },
    { key: 'zh', label: 'Chinese', has: ({ language }) => language === 'zh' },
  ],
  published: publishedTables(import.meta.dirname),
  protocol: ({ votes }) => `${votes} votes, each turn alone`,
  comparable: ({ votes, withProfile }) => ({ votes: String(votes), profile: withProfile ? 'given' : 'not given' }),
  describe: ({ role, prompts }, output) => [
    ['Role', role],
    ...prompts.flatMap((prompt, at): (readonly [string, string])[] => [
      ['Question', prompt],
      ['Answer', output?.answers[at]?.text ?? '(none)'],
    ]),
  ],
  answers: ({ answers }) => answers,
  probes(facts) {
    const { role, language, prompts, evidence } = facts;
    if (!evidence.some((each) => each.trim() !== '')) return [];
    const said = (text: (at: number) => string): WikiRoleOutput => ({
      system: null,
      answers: prompts.map((_, at) => writtenAnswer(text(at))),
    });
    const told = (at: number): string =>
      language === 'zh' ? `我是${role}。${evidence[at]}` : `I am ${role}. ${evidence[at]}`;
    const machine =
      language === 'zh' ? '我只是一个程序，这个我不知道。' : 'I am only a program, and I do not know that.';
    return (['consistency', 'knowledge'] as const).map((metric) => ({
      name: metric,
      help: 'the facts in the first person, and a program that knows nothing',
      metric,
      better: said(told),
      worse: said(() => machine),
    }));
  },
  exportRow: ({ system, prompts, role, language, candidates, labels, evidence, summary }, { answers }) => ({
    system,
    prompts,
    messages: [
      { role: 'system', content: system },
      ...prompts.flatMap((prompt, at) => [
        { role: 'user', content: prompt },
        { role: 'assistant', content: answers[at]?.text ?? '' },
      ]),
    ],
    meta: { label: role, lang: language, summary, role_consist_cands: candidates, rejection_labels: labels, evidence },
  }),
  notes(data) {
    const checked = data.filter(({ checkedBy }) => checkedBy !== null).length;
    return checked === 0 ? [] : [`${checked} of ${data.length} roles of the data were checked by people`];
  },
};

function writtenAnswer(text: string): TextAnswer {
  return { text, heard: null, audio: null, firstAudioMs: null, fallback: null };
}

function canAsk(kind: Kind, { candidates, labels }: WikiRoleFacts): boolean {
  return kind === 'identity' ? candidates.length > 0 : kind === 'refusal' ? labels.length > 0 : true;
}

interface How {
  readonly config: WikiRoleConfig;
  readonly verdict: (ask: string) => Verdict;
}

function scoresOf(facts: WikiRoleFacts, output: WikiRoleOutput | undefined, { config, verdict }: How): Score[] {
  if (config.judge === undefined) return [];
  const { parser } = config;
  return facts.prompts.flatMap((_, turn): Score[] => {
    const replies = (kind: Kind): Verdict[] =>
      Array.from({ length: config.votes }, (__, vote) => verdict(`${kind}/${turn}/${vote}`));
    const missing = (kind: Kind): string => {
      if (output === undefined) return 'the system failed';
      if (!canAsk(kind, facts)) return 'the data has no label';
      return [...new Set(replies(kind).map(({ state }) => `judge: ${state}`))].join(', ');
    };
    const named = replies('identity').flatMap(({ state, text }) => {
      const name = state === 'answered' ? nameIn(text, facts.candidates, parser) : undefined;
      return name === undefined ? [] : [name === facts.role ? 1 : 0];
    });
    const wasAsked = replies('identity').some(({ state }) => state === 'answered' || state === 'unreadable');
    // The released code gives 0 to a turn whose replies it cannot read.
    const identity = mean(named) ?? (parser === 'strict' && wasAsked ? 0 : null);
    const grades = replies('knowledge').flatMap(({ state, text }) => {
      const grade = state === 'answered' ? gradeIn(text, parser) : undefined;
      return grade === undefined ? [] : [grade];
    });
    // There, too, a mean of 0 is left out.
    const knowledge = mean(grades) || null;
    const refused = majority(
      replies('refusal').flatMap(({ state, text }) => (state === 'answered' ? [refusalIn(text, parser)] : [])),
    );
    const label = facts.labels[turn];
    const isRight = refused === undefined || label === undefined ? null : Number(refused === label);
    return [
      { name: 'consistency', value: identity, why: missing('identity') },
      { name: 'knowledge', value: knowledge, why: missing('knowledge') },
      { name: 'rejection', value: isRight, why: missing('refusal') },
      ...(refused === 1 && isRight !== null ? [{ name: 'precision', value: isRight }] : []),
      ...(label === 1 ? [{ name: 'recall', value: isRight, why: missing('refusal') }] : []),
      ...(label === undefined ? [] : [{ name: 'base', value: label }]),
    ].map(({ name, value, why }): Score => (value === null ? { name, value, why: why ?? '' } : { name, value }));
  });
}

/** The most frequent vote; of equally frequent ones the first seen. */
function majority(votes: readonly (0 | 1 | undefined)[]): 0 | 1 | undefined {
  const valid = votes.filter((vote) => vote !== undefined);
  const ones = valid.filter((vote) => vote === 1).length;
  if (valid.length === 0) return undefined;
  return ones * 2 === valid.length ? valid[0] : ones * 2 > valid.length ? 1 : 0;
}
