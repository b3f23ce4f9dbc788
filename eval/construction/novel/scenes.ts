import { z } from 'zod';
import { mean } from '../../statistics.ts';
import type { Prompt } from '../runner/prompts.ts';
import { Dropped, type Stage } from '../runner/stage.ts';
import { languageRule } from '../runner/words.ts';
import { occurrences, searchNames, type NovelChunk, type Role, type RoleChunk } from './roles.ts';

const leastOccurrences = 6;
const samples = 5;
const bestOfRole = 30;

const scene = z.object({ scene: z.string().trim().min(1), scenes: z.coerce.number().int().min(1) });
const score = z.object({ score: z.coerce.number().min(1).max(10) });

/** Describes the scene of each chunk that names a role often enough; makes one record for each such role. */
export function sceneStage(prompt: Prompt, roles: readonly Role[]): Stage<NovelChunk, RoleChunk> {
  return {
    name: 'scene',
    estimate: { calls: 0.7, inputTokens: 2_300, outputTokens: 250, records: 1 },
    async run([chunk], context) {
      if (chunk === undefined) return [];
      const here = roles.filter((role) => occurrences(chunk.text, searchNames(role)) >= leastOccurrences);
      if (here.length === 0) throw new Dropped('no role is named six times');
      const values = { text: chunk.text, language: languageRule(chunk.language) };
      const answer = await context.askJson({ prompt, values, schema: scene });
      if (answer.scenes > 1) throw new Dropped('more than one scene');
      return here.map(({ name }) => ({
        ...chunk,
        id: `${chunk.id}/${name}`,
        role: name,
        scene: answer.scene,
        score: 0,
      }));
    },
  };
}

/** Scores how well a role's lines show its traits: the mean of five samples. */
export function scoreStage(prompt: Prompt, roles: readonly Role[]): Stage<RoleChunk, RoleChunk> {
  return {
    name: 'score',
    estimate: { calls: samples, inputTokens: 2_300, outputTokens: 200, records: 1 },
    async run([chunk], context) {
      if (chunk === undefined) return [];
      const scores: number[] = [];
      for (let sample = 0; sample < samples; sample += 1)
        try {
          const values = { text: chunk.text, ...labelsOf(chunk.role, roles) };
          const sampling = { temperature: 1 };
          const answer = await context.askJson({
            part: `s${sample}`,
            prompt,
            values,
            schema: score,
            sampling,
            attempts: 1,
          });
          scores.push(answer.score);
        } catch (fault) {
          if (!(fault instanceof Dropped)) throw fault;
          context.count('score not readable');
        }
      const value = mean(scores);
      if (value === null) throw new Dropped('no score was readable');
      return [{ ...chunk, score: value }];
    },
  };
}

/** Keeps the 30 best chunks of each role, in the order of the book. */
export function bestStage(): Stage<RoleChunk, RoleChunk> {
  return {
    name: 'best',
    groupBy: ({ role }) => role,
    async run(chunks, context) {
      const best = new Set(chunks.toSorted((left, right) => right.score - left.score).slice(0, bestOfRole));
      if (best.size < chunks.length) context.drop('not among the 30 best of the role', chunks.length - best.size);
      return chunks.filter((chunk) => best.has(chunk));
    },
  };
}

/** Labels of a role as values of prompts. */
export function labelsOf(name: string, roles: readonly Role[]): Record<'role' | 'traits' | 'manner' | 'mbti', string> {
  const role = roles.find((one) => one.name === name);
  return {
    role: name,
    traits: role?.traits.join(', ') ?? '',
    manner: role?.manner.join(', ') ?? '',
    mbti: role?.mbti ?? '',
  };
}
