import { z } from 'zod';
import { jsonInReply } from '../json/json-in-reply.ts';
import type { Prompt } from '../runner/prompts.ts';
import type { DataRecord, Stage, StageContext } from '../runner/stage.ts';
import { languageRule } from '../runner/words.ts';
import { dialogueText } from './dialogues.ts';
import type { PairDialogue, Role } from './roles.ts';
import { labelsOf } from './scenes.ts';

export const emotionNames = ['happiness', 'sadness', 'disgust', 'fear', 'surprise', 'anger'] as const;
export const aspects = ['character', 'style', 'emotion', 'relationship', 'personality'] as const;
export type Aspect = (typeof aspects)[number];

const level = z.coerce.number().int().min(0).max(10);
const emotion = z.object(
  Object.fromEntries(emotionNames.map((name) => [name, level])) as Record<(typeof emotionNames)[number], typeof level>,
);

/** Picture of a role in one dialogue: labels, and the model's reasons whole. */
export interface Alignment {
  readonly character: readonly string[];
  readonly style: readonly string[];
  readonly emotion: z.infer<typeof emotion>;
  readonly relationship: number;
  readonly personality: string;
  readonly reasons: Readonly<Record<Aspect, string>>;
}

export interface AlignedDialogue extends PairDialogue {
  readonly alignment: Alignment;
}

/** A role with its aligned dialogues. */
export interface AlignedRole extends DataRecord {
  readonly role: Role;
  readonly dialogues: readonly AlignedDialogue[];
}

const labels = z.union([z.array(z.string()), z.string().transform((text) => text.split(/[,，、]/))]);
const schemas = {
  character: z.object({ character: labels }),
  style: z.object({ style: labels }),
  emotion,
  relationship: z.object({ relationship: level }),
  personality: z.object({
    personality: z
      .string()
      .trim()
      .toUpperCase()
      .regex(/^[EI][NS][FT][JP]$/),
  }),
} as const;

/** Labels of a role that a model named, in the role's spelling; unknown ones are dropped. */
export function knownLabels(named: readonly string[], own: readonly string[]): readonly string[] {
  const said = new Set(named.map((label) => label.trim().toLowerCase()));
  return own.filter((label) => said.has(label.toLowerCase()));
}

/** Aligns a dialogue with its role in five aspects (CSERP). */
export function alignStage(
  promptOf: (aspect: Aspect) => Prompt,
  roles: readonly Role[],
): Stage<PairDialogue, AlignedDialogue> {
  return {
    name: 'align',
    estimate: { calls: 5, inputTokens: 900, outputTokens: 250, records: 1 },
    async run([dialogue], context) {
      const role = roles.find(({ name }) => name === dialogue?.role);
      if (dialogue === undefined || role === undefined) return [];
      const values = {
        scene: dialogue.scene,
        dialogue: dialogueText(dialogue),
        partner: dialogue.partner,
        language: languageRule(dialogue.language),
        ...labelsOf(dialogue.role, roles),
      };
      const replies = {} as Record<Aspect, string>;
      for (const aspect of aspects) replies[aspect] = await reasonsFor(aspect, promptOf(aspect), values, context);
      const read = <Key extends Aspect>(aspect: Key): z.infer<(typeof schemas)[Key]> =>
        schemas[aspect].parse(lastJson(replies[aspect])) as z.infer<(typeof schemas)[Key]>;
      const alignment: Alignment = {
        character: knownLabels(read('character').character, role.traits),
        style: knownLabels(read('style').style, role.manner),
        emotion: read('emotion'),
        relationship: read('relationship').relationship,
        personality: read('personality').personality,
        reasons: replies,
      };
      for (const aspect of ['character', 'style'] as const)
        if (alignment[aspect].length === 0) context.count(`no ${aspect} label is shown: the profile's own are used`);
      return [{ ...dialogue, alignment }];
    },
  };
}

/** The whole reply, reasons and JSON, without code fences; asked again until its JSON fits. */
async function reasonsFor(
  aspect: Aspect,
  prompt: Prompt,
  values: Readonly<Record<string, string>>,
  context: StageContext,
): Promise<string> {
  const read = (reply: string): string | undefined =>
    schemas[aspect].safeParse(lastJson(reply)).success
      ? reply.replaceAll(/^[ \t]*```[\w-]*[ \t]*\n?/gm, '').trim()
      : undefined;
  return context.askText({ part: aspect, prompt, values, read });
}

function lastJson(reply: string): unknown {
  const found = jsonInReply(reply);
  return found.kind === 'whole' ? found.value : undefined;
}

/** Gathers the dialogues of each role. */
export function rolesStage(roles: readonly Role[]): Stage<AlignedDialogue, AlignedRole> {
  return {
    name: 'roles',
    groupBy: ({ role }) => role,
    async run(dialogues) {
      const role = roles.find(({ name }) => name === dialogues[0]?.role);
      return role === undefined ? [] : [{ id: role.name, role, dialogues }];
    },
  };
}
