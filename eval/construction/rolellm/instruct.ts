import { hash } from 'node:crypto';
import { z } from 'zod';
import { searchTerms } from '../../../agents/retrieval/words.ts';
import { exchangesOf } from '../../../characters/importers/script-lines.ts';
import { tokensOf } from '../../text-metrics/tokens.ts';
import { sceneText, segmentsOf } from '../roles/role-source.ts';
import type { Prompt } from '../runner/prompts.ts';
import { Dropped, type DataRecord, type Stage, type StageContext } from '../runner/stage.ts';
import { languageRule } from '../runner/words.ts';
import { distinctOf, openOkapi } from './okapi.ts';
import type { RoleProfile } from './profile.ts';

export const kinds = ['script_based', 'script_agnostic', 'general'] as const;

/** Questions to be asked of a role: from its description, from a segment of its script, or one that all roles get. */
export interface InstructRequest extends DataRecord {
  readonly role: Omit<RoleProfile, 'scenes' | 'provenance'>;
  readonly kind: (typeof kinds)[number];
  readonly segment: string;
  readonly series: number;
  readonly question: string;
  readonly examples: string;
}

/** A question to a role with its answers. */
export interface Instruction extends DataRecord {
  readonly role: InstructRequest['role'];
  readonly kind: InstructRequest['kind'];
  readonly question: string;
  readonly answers: readonly string[];
  readonly split: 'train' | 'test';
  /** True for one instruction of each role, with which the role itself is written. */
  readonly isFirst: boolean;
}

const segmentTokens = 2_000;
const perReply = 10;
const exampleCount = 5;
const answerCount = 6;
const duplicateShare = 0.8;
const testShare = 0.2;

/** Spreads as many requests as the candidates need over description and script; adds the general questions. */
export function requestStage(candidates: number, general: readonly string[]): Stage<RoleProfile, InstructRequest> {
  return {
    name: 'requests',
    async run([profile], context) {
      if (profile === undefined) return [];
      const { scenes, provenance, ...role } = profile;
      const segments = segmentsOf(scenes, segmentTokens);
      const count = Math.ceil(candidates / perReply);
      const exchanges = scenes.flatMap(({ lines }) => exchangesOf(lines, role.name));
      context.count('segments of scripts', segments.length);
      const shared = { role, question: '', examples: '' };
      const own = Array.from({ length: count }, (_, at): Omit<InstructRequest, 'provenance'> & Partial<DataRecord> => {
        const place = at % (segments.length + 1);
        const segment = segments[place - 1];
        const series = Math.floor(at / (segments.length + 1)) + 1;
        if (segment === undefined)
          return { ...shared, id: `${role.key}/d/${series}`, kind: 'script_agnostic', segment: '', series };
        const sources = segment.flatMap((scene) => scene.sources);
        const text = segment.map(sceneText).join('\n\n');
        const id = `${role.key}/s${place}/${series}`;
        return { ...shared, id, kind: 'script_based', segment: text, series, provenance: { ...provenance, sources } };
      });
      const asked = general.map((question, at) => ({
        role,
        question,
        segment: '',
        series: 1,
        kind: 'general' as const,
        id: `${role.key}/g${at}`,
        examples: examplesFor(question, exchanges),
      }));
      return [...own, ...asked];
    },
  };
}

function examplesFor(question: string, exchanges: readonly { readonly ask: string; readonly reply: string }[]): string {
  const score = openOkapi(exchanges.map(({ ask }) => searchTerms(ask)));
  const terms = searchTerms(question);
  return exchanges
    .map((exchange, at) => ({ exchange, value: score(terms, at) }))
    .toSorted((left, right) => right.value - left.value)
    .slice(0, exampleCount)
    .map(({ exchange: { ask, reply } }) => `Asked: ${ask}\nYou said: ${reply}`)
    .join('\n');
}

const triple = z.object({
  question: z.string().trim().min(1),
  confidence: z.enum(['high', 'low']),
  answer: z.string().trim().min(1),
  complete: z.boolean().default(true),
});

/** Asks for questions with answers and their confidence (Context-Instruct), or for answers to a general question (RoleGPT). */
export function instructStage(promptOf: (name: string) => Prompt): Stage<InstructRequest, Instruction> {
  return {
    name: 'instruct',
    estimate: { calls: 1, inputTokens: 2_200, outputTokens: 1_200, records: 6 },
    async run([request], context) {
      if (request === undefined) return [];
      const { role, kind, segment, series } = request;
      const made = { role, kind, split: 'train' as const, isFirst: false };
      if (kind === 'general') {
        const answers = await generalAnswers(request, promptOf('answer'), context);
        return [{ ...made, id: request.id, question: request.question, answers }];
      }
      const values = {
        ...valuesOf(role),
        series: `${series}`,
        segment: segment === '' ? '' : `\n<script>\n${segment}\n</script>\n`,
      };
      const sampling = { temperature: 0.7, topP: 0.95, maxTokens: 2_000 };
      const schema = z.array(z.unknown()).min(1);
      const items = await context.askJson({ prompt: promptOf('instruct'), values, schema, sampling });
      return items.flatMap((item, place) => {
        const { data } = triple.safeParse(item);
        const problem = data === undefined ? 'question of another form' : problemOf(data);
        if (data === undefined || problem !== undefined) {
          context.drop(problem ?? '');
          return [];
        }
        return [{ ...made, id: `${request.id}/${place}`, question: data.question, answers: [data.answer] }];
      });
    },
  };
}

async function generalAnswers(
  request: InstructRequest,
  prompt: Prompt,
  context: StageContext,
): Promise<readonly string[]> {
  const answers: string[] = [];
  const values = { ...valuesOf(request.role), question: request.question, examples: request.examples };
  for (let at = 0; at < answerCount; at += 1) {
    const sampling = { temperature: 0.7, topP: 0.95, maxTokens: 200 };
    const read = (reply: string): string | undefined => (isOutOfRole(reply) ? undefined : reply.trim() || undefined);
    answers.push(await context.askText({ part: `${at}`, prompt, values, sampling, read }));
  }
  return answers;
}

function valuesOf({ name, description2, catchphrases, language }: InstructRequest['role']): Record<string, string> {
  return { name, description: description2, catchphrases: catchphrases.join(' / '), language: languageRule(language) };
}

/** A reason to leave out a candidate; undefined if it may stay. */
export function problemOf({ confidence, complete, question, answer }: z.infer<typeof triple>): string | undefined {
  if (confidence === 'low') return 'low confidence';
  if (!complete) return 'not to be understood without the script';
  const words = tokensOf(answer, 'han').length;
  if (words < 5 || words > 200) return 'answer of fewer than 5 or more than 200 words';
  if (isOutOfRole(answer) || isOutOfRole(question)) return 'out of the role';
  return undefined;
}

function isOutOfRole(text: string): boolean {
  return /\b(?:AI|artificial intelligence|language model|prompt|the script|as a character)\b|人工智能|语言模型|剧本|提示词/i.test(
    text,
  );
}

/** Leaves out near duplicates of a role's questions, and holds a fifth of the questions out for the test. */
export function filterStage(): Stage<Instruction, Instruction> {
  return {
    name: 'filter',
    groupBy: ({ role }) => role.key,
    async run(instructions, context) {
      const kept = distinctOf(
        instructions.map(({ question }) => searchTerms(question)),
        duplicateShare,
      );
      if (kept.length < instructions.length) context.drop('near duplicate', instructions.length - kept.length);
      if (kept.length === 0) throw new Dropped('no question is left');
      return kept.map((index, at) => {
        const instruction = instructions[index] as Instruction;
        return {
          ...instruction,
          isFirst: at === 0,
          split: shareOf(instruction.question) < testShare ? 'test' : 'train',
        };
      });
    },
  };
}

/** A number from 0 to 1 that depends only on a text. */
export function shareOf(text: string): number {
  return hash('sha1', text, 'buffer').readUInt32BE(0) / 2 ** 32;
}
