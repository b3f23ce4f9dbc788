import { z } from 'zod';
import { seededRandom, shuffled } from '../../statistics.ts';
import type { Prompt } from '../runner/prompts.ts';
import { Dropped, type DataRecord, type Stage } from '../runner/stage.ts';
import { languageRule } from '../runner/words.ts';
import { profileText, type CharacterRecord, type WikiCharacter } from './characters.ts';

const rounds = 3;
const questionsPerPair = 3;
const seed = 11;

/** A character, and another that cannot answer its questions. */
export interface Pair extends DataRecord {
  readonly own: WikiCharacter;
  readonly foreign: WikiCharacter;
}

/** A question to a character. */
export interface Query extends DataRecord {
  readonly character: WikiCharacter;
  readonly question: string;
  /** True if the character cannot know the answer. */
  readonly isForeign: boolean;
}

export interface Answer extends Query {
  readonly answer: string;
}

/** All questions to a character, in random order. */
export interface RoleSession extends DataRecord {
  readonly character: WikiCharacter;
  readonly turns: readonly Pick<Answer, 'question' | 'answer' | 'isForeign'>[];
}

/** Gives each character another one of its language: a shuffled ring, so that each is foreign to exactly one. */
export function pairStage(): Stage<CharacterRecord, Pair> {
  return {
    name: 'pairs',
    groupBy: ({ character }) => character.lang,
    async run(records) {
      if (records.length < 2) throw new Dropped('no other character of the language');
      const ring = shuffled(records, seededRandom(seed));
      return ring.map((record, at) => {
        const foreign = ring[(at + 1) % ring.length] as CharacterRecord;
        const sources = [...record.provenance.sources, ...foreign.provenance.sources];
        const provenance = { ...record.provenance, sources };
        return { id: record.id, own: record.character, foreign: foreign.character, provenance };
      });
    },
  };
}

const queries = z
  .array(z.object({ question: z.string().trim().min(1), explanation: z.string().catch('') }))
  .min(questionsPerPair);

/** Asks for contrastive questions three times and takes one valid reply at random: own questions of the one, foreign ones of the other. */
export function queryStage(prompt: Prompt): Stage<Pair, Query> {
  return {
    name: 'query',
    estimate: { calls: rounds, inputTokens: 4_000, outputTokens: 250, records: questionsPerPair * 2 },
    async run([pair], context) {
      if (pair === undefined) return [];
      const { own, foreign, id } = pair;
      const values = { own: profileText(own), foreign: profileText(foreign), language: languageRule(own.lang) };
      const valid: z.infer<typeof queries>[] = [];
      for (let round = 0; round < rounds; round += 1)
        try {
          const sampling = { temperature: 1 };
          valid.push(
            await context.askJson({ part: `${round}`, prompt, values, schema: queries, sampling, attempts: 2 }),
          );
        } catch (fault) {
          if (!(fault instanceof Dropped)) throw fault;
          context.count(`round without a valid reply: ${fault.reason}`);
        }
      const chosen = shuffled(valid, seededRandom(seed + id.length))[0];
      if (chosen === undefined) throw new Dropped('no round was valid');
      return chosen.slice(0, questionsPerPair).flatMap(({ question }, at) => [
        { id: `${id}/own/${at}`, character: own, question, isForeign: false },
        { id: `${id}/foreign/${at}`, character: foreign, question, isForeign: true },
      ]);
    },
  };
}

/** Answers each question alone, without history. */
export function responseStage(prompt: Prompt): Stage<Query, Answer> {
  return {
    name: 'response',
    estimate: { calls: 1, inputTokens: 2_200, outputTokens: 250, records: 1 },
    async run([query], context) {
      if (query === undefined) return [];
      const { character, question } = query;
      const values = { profile: profileText(character), question, language: languageRule(character.lang) };
      const sampling = { topP: 0.8, maxTokens: 2_048 };
      const answer = await context.askText({ prompt, values, sampling, read: (reply) => reply.trim() || undefined });
      return [{ ...query, answer }];
    },
  };
}

/** Gathers the questions of each character in random order. */
export function sessionStage(): Stage<Answer, RoleSession> {
  return {
    name: 'sessions',
    groupBy: ({ character }) => keyOf(character),
    async run(answers) {
      const [first] = answers;
      if (first === undefined) return [];
      const ordered = shuffled(answers, seededRandom(seed + answers.length));
      const turns = ordered.map(({ question, answer, isForeign }) => ({ question, answer, isForeign }));
      return [{ id: keyOf(first.character), character: first.character, turns }];
    },
  };
}

/** Identity of a character, in its language. */
export function keyOf({ id, label, lang }: WikiCharacter): string {
  return `${lang}/${id || label}`;
}
