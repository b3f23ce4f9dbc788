import { z } from 'zod';
import { sceneText, segmentsOf, type RoleSource } from '../roles/role-source.ts';
import type { Prompt } from '../runner/prompts.ts';
import { Dropped, type Stage, type StageContext } from '../runner/stage.ts';
import { languageRule } from '../runner/words.ts';

/** A role as RoleLLM describes it. */
export interface RoleProfile extends RoleSource {
  /** True if the model answered four of five questions about the role from memory. */
  readonly isKnown: boolean;
  /** In the third person, and addressed to the role. */
  readonly description: string;
  readonly description2: string;
  /** False if the name of the role is still in `description2`. */
  readonly isSecondPerson: boolean;
  readonly catchphrases: readonly string[];
  /** True if the model made up the catchphrases, since the script has none. */
  readonly isInvented: boolean;
}

const scriptTokens = 6_000;
const leastRight = 4;

const questions = z.object({ questions: z.array(z.object({ question: z.string(), answer: z.string() })).min(5) });
const answers = z.object({ answers: z.array(z.string()).min(5) });
const right = z.object({ right: z.array(z.boolean()).min(5) });
const phrases = z.object({ catchphrases: z.array(z.string().trim().min(1)).min(1) });

/** Describes each role: from the script, and from the model's memory only if that proves right. */
export function profileStage(promptOf: (name: string) => Prompt): Stage<RoleSource, RoleProfile> {
  return {
    name: 'profile',
    estimate: { calls: 5.5, inputTokens: 3_500, outputTokens: 300, records: 1 },
    async run([role], context) {
      if (role === undefined) return [];
      const script = (segmentsOf(role.scenes, scriptTokens)[0] ?? []).map(sceneText).join('\n\n');
      const about = { name: role.name, work: role.work || role.name, language: languageRule(role.language) };
      const isKnown = await isKnownRole({ ...about, script }, promptOf, context);
      context.count(isKnown ? 'role known to the model' : 'role described only from its text');
      const ask = (part: string, values: Readonly<Record<string, string>>): Promise<string> =>
        context.askText({ part, prompt: promptOf(part), values, read: (reply) => reply.trim() || undefined });
      const knowledge = isKnown
        ? 'Use the material, and what you know of the work for certain.'
        : 'Use the material alone, and nothing that you remember.';
      const description = await ask('description', { ...about, script, knowledge, profile: role.profile || 'nothing' });
      const description2 = await ask('second-person', { description, language: about.language });
      const isSecondPerson = !description2.includes(role.name);
      if (!isSecondPerson) context.count('description still names the role');
      const own = catchphrasesOf(role);
      const catchphrases =
        own.length > 0
          ? own
          : (
              await context.askJson({
                part: 'catchphrases',
                prompt: promptOf('catchphrases'),
                values: { ...about, description },
                schema: phrases,
              })
            ).catchphrases.slice(0, 3);
      const isInvented = own.length === 0;
      return [{ ...role, isKnown, description, description2, isSecondPerson, catchphrases, isInvented }];
    },
  };
}

async function isKnownRole(
  values: Readonly<Record<'name' | 'work' | 'language' | 'script', string>>,
  promptOf: (name: string) => Prompt,
  context: StageContext,
): Promise<boolean> {
  try {
    const ask = <Value>(
      part: string,
      schema: z.ZodType<Value>,
      more: Readonly<Record<string, string>>,
    ): Promise<Value> => context.askJson({ part, prompt: promptOf(part), schema, values: { ...values, ...more } });
    const asked = (await ask('questions', questions, {})).questions.slice(0, 5);
    const list = asked.map(({ question }, at) => `${at + 1}. ${question}`).join('\n');
    const given = await ask('recall', answers, { questions: list });
    const pairs = asked.map(({ answer }, at) => `${at + 1}. right: ${answer}\n   answer: ${given.answers[at] ?? ''}`);
    const verdict = await ask('compare', right, { pairs: pairs.join('\n') });
    return verdict.right.slice(0, 5).filter(Boolean).length >= leastRight;
  } catch (fault) {
    if (!(fault instanceof Dropped)) throw fault;
    context.count(`knowledge not tested: ${fault.reason}`);
    return false;
  }
}

/** Short sentences that a role says at least twice, the most frequent first. */
export function catchphrasesOf({ name, scenes }: Pick<RoleSource, 'name' | 'scenes'>): readonly string[] {
  const counts = new Map<string, number>();
  for (const { lines } of scenes)
    for (const { speaker, text } of lines)
      if (speaker === name)
        for (const [sentence] of text
          .replaceAll(/\([^)]*\)|（[^）]*）/g, ' ')
          .matchAll(/[^.!?。！？]+[.!?。！？]+/gu)) {
          const phrase = sentence.trim();
          if (phrase.length >= 4 && phrase.length <= 40) counts.set(phrase, (counts.get(phrase) ?? 0) + 1);
        }
  return [...counts]
    .filter(([, count]) => count >= 2)
    .toSorted(([, left], [, more]) => more - left)
    .slice(0, 5)
    .map(([phrase]) => phrase);
}
