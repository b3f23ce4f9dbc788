import { z } from 'zod';
import { packOf, type ImportReport, type Problem } from './draft.ts';
import { filesEnding, jsonOf, misfit } from './files.ts';

const chat = z.looseObject({
  chat_role: z.string(),
  scene: z.string().optional(),
  relationship_analyse: z.string().optional(),
  emotions: z.record(z.string(), z.number()).optional(),
});
const role = z.looseObject({
  name: z.string().min(1),
  style: z.string().default(''),
  personality: z.string().default(''),
  character: z.string().default(''),
  world: z.string().default(''),
  sys_prompt: z.string().default(''),
  chats: z.record(z.string(), chat).default({}),
});

const mbtiType = /^[EI][NS][FT][JP]$/u;
const emotionCount = 6;

/** Imports roles of Beyond Dialogue (`AutoRPEval/data/roles*.json`): traits, style, MBTI, world, partners. */
export async function importBeyondDialogue(place: string): Promise<ImportReport> {
  const problems: Problem[] = [];
  const packs: ImportReport['packs'][number][] = [];
  for (const file of await filesEnding(place, '.json')) {
    const value = await jsonOf(file, problems);
    if (value === undefined) continue;
    const parsed = role.safeParse(value);
    if (!parsed.success) {
      problems.push({ where: file, what: `not a Beyond Dialogue role: ${misfit(parsed.error)}` });
      continue;
    }
    const { name, style, personality, character, world, chats } = parsed.data;
    const traits = listOf(character);
    const mbti = personality.trim().toUpperCase();
    if (!mbtiType.test(mbti)) problems.push({ where: file, what: `personality "${personality}" is not an MBTI type` });
    contradictions(parsed.data, traits, file, problems);
    const people = Object.values(chats);
    for (const each of people) {
      const count = Object.keys(each.emotions ?? {}).length;
      if (count !== emotionCount)
        problems.push({ where: `${file}: ${each.chat_role}`, what: `${count} emotions, expected six` });
    }
    const pack = packOf(
      {
        name,
        work: world,
        rights: 'Beyond Dialogue (data CC BY-NC 4.0); do not publish',
        profile: withoutSlots(parsed.data.sys_prompt),
        temperament: traits,
        style: listOf(style).join(', '),
        ...(mbtiType.test(mbti) ? { mbti } : {}),
        relationships: people.flatMap(({ chat_role: other, relationship_analyse: relation = '' }) =>
          relation.trim() === '' ? [] : [{ name: other, relation }],
        ),
        ...(people[0]?.scene === undefined ? {} : { scenario: people[0].scene }),
      },
      file,
      problems,
    );
    if (pack !== undefined) packs.push(pack);
  }
  return { packs, problems };
}

/** Splits lists such as "brave, kind" and "直率、聪明". */
function listOf(text: string): string[] {
  return text
    .split(/[,，、;；]/u)
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

/** The prompt as a description, without sentences that have slots for scene, emotion or partner. */
function withoutSlots(prompt: string): string {
  return prompt
    .split(/(?<=[.!?。！？\n])/u)
    .filter((sentence) => !/\{\w+\}/u.test(sentence))
    .join('')
    .trim();
}

/** Reports labels whose negation is in the prompt ("decisive" against "indecisive"). */
function contradictions(
  { sys_prompt: prompt }: z.infer<typeof role>,
  traits: readonly string[],
  file: string,
  problems: Problem[],
): void {
  const said = prompt.toLowerCase();
  for (const trait of traits) {
    if (!/^[a-z]+$/iu.test(trait)) continue;
    const opposite = ['in', 'un', 'im', 'dis']
      .map((prefix) => `${prefix}${trait.toLowerCase()}`)
      .find((word) => said.includes(word));
    if (opposite !== undefined)
      problems.push({ where: file, what: `the labels say "${trait}", the prompt "${opposite}"` });
  }
}
