import { z } from 'zod';
import type { Prompt } from '../runner/prompts.ts';
import { Dropped, type Stage, type StageContext } from '../runner/stage.ts';
import { languageRule } from '../runner/words.ts';
import type { Conversation, Plot } from './plots.ts';

const refined = z.object({
  scenario: z.string().trim().min(1),
  key_characters: z.array(z.object({ name: z.string(), motivation: z.string().trim() })),
});

/** Rewrites scenario and motivations, so that they reveal nothing of later events; keeps the old ones if that fails. */
export function refineStage(prompt: Prompt): Stage<Plot, Plot> {
  return {
    name: 'refine',
    estimate: { calls: 1, inputTokens: 1_800, outputTokens: 500, records: 1 },
    async run([plot], context) {
      if (plot === undefined) return [];
      const conversation: Conversation[] = [];
      for (const [index, talk] of plot.conversation.entries())
        conversation.push(await refinedTalk(plot, talk, { index, prompt }, context));
      return [{ ...plot, conversation }];
    },
  };
}

async function refinedTalk(
  plot: Plot,
  talk: Conversation,
  { index, prompt }: { readonly index: number; readonly prompt: Prompt },
  context: StageContext,
): Promise<Conversation> {
  const names = talk.key_characters.map(({ name }) => name).sort();
  const schema = refined.refine(
    ({ key_characters: given }) => JSON.stringify(given.map(({ name }) => name).sort()) === JSON.stringify(names),
    { message: `the characters must be exactly: ${names.join(', ')}` },
  );
  const values = {
    title: plot.title,
    summary: plot.summary,
    characters: plot.key_characters.map(({ name, description }) => `${name}: ${description}`).join('\n'),
    scenario: talk.scenario,
    motivations: talk.key_characters.map(({ name, motivation }) => `${name}: ${motivation}`).join('\n'),
    dialogues: talk.dialogues.map(({ character, message }) => `${character}: ${message}`).join('\n'),
    language: languageRule(plot.language),
  };
  try {
    const { scenario, key_characters } = await context.askJson({ part: `c${index}`, prompt, values, schema });
    return { ...talk, scenario, key_characters };
  } catch (fault) {
    if (!(fault instanceof Dropped)) throw fault;
    context.count(`conversation not refined: ${fault.reason}`);
    return talk;
  }
}
