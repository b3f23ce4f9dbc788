import { hash } from 'node:crypto';
import { z } from 'zod';
import { cosineSimilarity } from '../../../agents/embeddings/embedder.ts';
import { sceneText, segmentsOf, type RoleSource } from '../roles/role-source.ts';
import type { Prompt } from '../runner/prompts.ts';
import { Dropped, type DataRecord, type Stage } from '../runner/stage.ts';
import { languageRule, type TextLanguage } from '../runner/words.ts';

export const modes = ['single', 'multi'] as const;
export type Mode = (typeof modes)[number];

/** The eight sub-tasks of SpeechRole. */
export const categories = [
  'Opinion and Emotion Inquiry',
  'Reasoning and Motivation',
  'Reflection and Change',
  'Action Description and Retrospection',
  'Skills and Abilities',
  'Historical and Background Description',
  'Judgment of Others and Events',
  'Advice and Life Experience',
] as const;

/** Least similarity of a dialogue to its context, and greatest of two first questions, by language. */
export interface Thresholds {
  readonly context: Readonly<Record<TextLanguage, number>>;
  readonly duplicate: Readonly<Record<TextLanguage, number>>;
}

/** Thresholds of the paper; they hold for all-MiniLM-L6-v2 (English) and text2vec-bge-large-chinese. */
export const paperThresholds: Thresholds = { context: { en: 0.4, zh: 0.45 }, duplicate: { en: 0.9, zh: 0.85 } };

const dialoguesPerReply = 10;

/** One of the requests for dialogues of a role. */
export interface DialogueRequest extends DataRecord {
  readonly role: Omit<RoleSource, 'scenes' | 'provenance'>;
  readonly mode: Mode;
  readonly script: string;
}

/** A dialogue of question and answer. */
export interface RoleDialogue extends DataRecord {
  readonly role: DialogueRequest['role'];
  readonly mode: Mode;
  readonly turns: readonly { readonly user: string; readonly role: string }[];
  readonly context: string;
  readonly category: string | null;
  readonly split: 'train' | 'dev' | 'test';
}

/** The requests of a role: so many a mode, spread over the segments of its script. */
export function* requestsOf(
  source: RoleSource,
  { requests, segmentTokens }: { readonly requests: number; readonly segmentTokens: number },
): Generator<DialogueRequest> {
  const { scenes, provenance, ...role } = source;
  const segments = segmentsOf(scenes, segmentTokens);
  for (const mode of modes)
    for (let request = 0; request < requests; request += 1) {
      const segment = segments[request % Math.max(1, segments.length)] ?? [];
      const sources = segment.flatMap((scene) => scene.sources);
      yield {
        id: `${role.key}/${mode}/${request}`,
        role,
        mode,
        script: segment.map(sceneText).join('\n\n'),
        provenance: { ...provenance, sources },
      };
    }
}

const turn = z.object({ user: z.string().trim().min(1), role: z.string().trim().min(1) });
const item = z.object({ dialogue: z.array(turn).min(1).max(4), context: z.string().catch('') });
const list = z.union([
  z.array(z.unknown()).min(1),
  z.object({ dialogues: z.array(z.unknown()).min(1) }).transform(({ dialogues }) => dialogues),
]);

/** Asks for dialogues, several replies per request; if a reply cannot be read, only its own dialogues are lost. */
export function generateStage(promptOf: (mode: Mode) => Prompt, choices: number): Stage<DialogueRequest, RoleDialogue> {
  return {
    name: 'generate',
    estimate: { calls: choices, inputTokens: 9_000, outputTokens: 1_500, records: choices * dialoguesPerReply },
    async run([request], context) {
      if (request === undefined) return [];
      const { role, mode, script } = request;
      const values = {
        count: `${dialoguesPerReply}`,
        name: role.name,
        work: role.work,
        profile: role.profile,
        script,
        language: languageRule(role.language),
      };
      const found: z.infer<typeof item>[][] = [];
      for (let choice = 0; choice < choices; choice += 1)
        try {
          const sampling = { temperature: 1 };
          const items = await context.askJson({
            part: `${choice}`,
            prompt: promptOf(mode),
            values,
            schema: list,
            sampling,
          });
          found[choice] = items.flatMap((each) => {
            const { data } = item.safeParse(each);
            const isRight = data !== undefined && (data.dialogue.length === 1) === (mode === 'single');
            if (!isRight) context.drop('dialogue of another form');
            return isRight ? [data] : [];
          });
        } catch (fault) {
          if (!(fault instanceof Dropped)) throw fault;
          context.drop(`reply: ${fault.reason}`);
        }
      return found.flatMap((items, choice) =>
        items.map(({ dialogue, context: excerpts }, place) => ({
          id: `${request.id}/${choice}/${place}`,
          role,
          mode,
          turns: dialogue,
          context: excerpts.trim(),
          category: null,
          split: 'train' as const,
        })),
      );
    },
  };
}

/** Leaves out dialogues that have little to do with the excerpts they are said to rest on. */
export function contextStage({ context: least }: Thresholds): Stage<RoleDialogue, RoleDialogue> {
  return {
    name: 'context',
    async run([dialogue], context) {
      if (dialogue === undefined) return [];
      if (dialogue.context === '') throw new Dropped('no context');
      const [own, given] = await context.embed([dialogueText(dialogue), dialogue.context]);
      const similarity = own === undefined || given === undefined ? 0 : cosineSimilarity(own, given);
      context.count(`similarity to the context from ${Math.floor(similarity * 10) / 10}`);
      if (similarity < least[dialogue.role.language]) throw new Dropped('far from its context');
      return [dialogue];
    },
  };
}

/** Text by which two dialogues are compared: their first questions, as the released code does, or all their lines, as the paper says. */
export type DedupeBy = 'question' | 'dialogue';

/** Leaves out dialogues that are like an earlier one that was kept. */
export function duplicateStage(
  { duplicate: most }: Thresholds,
  by: DedupeBy = 'question',
): Stage<RoleDialogue, RoleDialogue> {
  return {
    name: 'duplicates',
    groupBy: ({ role, mode }) => `${role.key}/${mode}`,
    async run(dialogues, context) {
      const texts = dialogues.map((each) => (by === 'dialogue' ? dialogueText(each) : (each.turns[0]?.user ?? '')));
      const vectors = await context.embed(texts);
      const limit = dialogues[0] === undefined ? 1 : most[dialogues[0].role.language];
      const kept = keptOf(
        dialogues.length,
        (left, right) => cosineSimilarity(vectors[left] as Float32Array, vectors[right] as Float32Array) > limit,
      );
      if (kept.length < dialogues.length) context.drop('asks what another asks', dialogues.length - kept.length);
      return kept.map((index) => dialogues[index] as RoleDialogue);
    },
  };
}

/** Indices that are kept in order: one that is kept drops all later ones like it, and one that is dropped drops none. */
export function keptOf(count: number, isAlike: (left: number, right: number) => boolean): readonly number[] {
  const kept: number[] = [];
  for (let index = 0; index < count; index += 1) if (!kept.some((before) => isAlike(before, index))) kept.push(index);
  return kept;
}

/** Names the sub-task of each dialogue; null if the model names none of them. */
export function categoryStage(prompt: Prompt): Stage<RoleDialogue, RoleDialogue> {
  const schema = z.object({ category: z.enum(categories) });
  return {
    name: 'category',
    estimate: { calls: 1, inputTokens: 350, outputTokens: 20, records: 1 },
    async run([dialogue], context) {
      if (dialogue === undefined) return [];
      try {
        const { category } = await context.askJson({ prompt, values: { dialogue: dialogueText(dialogue) }, schema });
        return [{ ...dialogue, category }];
      } catch (fault) {
        if (!(fault instanceof Dropped)) throw fault;
        context.count(`no category: ${fault.reason}`);
        return [dialogue];
      }
    },
  };
}

/** Which dialogues are held out: the first ones, as the released code does, or some that are drawn. */
export type SplitBy = 'first' | 'seeded';

const heldOut = 2;

/** Two dialogues of each mode are for the test; the rest is for training, or for development of some roles. */
export function splitStage(devRoles: ReadonlySet<string>, by: SplitBy = 'first'): Stage<RoleDialogue, RoleDialogue> {
  return {
    name: 'split',
    groupBy: ({ role, mode }) => `${role.key}/${mode}`,
    async run(dialogues) {
      // By a hash of the id: the draw does not depend on how many dialogues there are.
      const drawOf = ({ id }: RoleDialogue): number => hash('sha1', id, 'buffer').readUInt32BE(0);
      const order = by === 'first' ? dialogues : dialogues.toSorted((one, other) => drawOf(one) - drawOf(other));
      const test = new Set(order.slice(0, heldOut));
      return dialogues.map((dialogue) => ({
        ...dialogue,
        split: test.has(dialogue)
          ? ('test' as const)
          : devRoles.has(dialogue.role.key)
            ? ('dev' as const)
            : ('train' as const),
      }));
    },
  };
}

function dialogueText({ turns }: Pick<RoleDialogue, 'turns'>): string {
  return turns.flatMap(({ user, role }) => [user, role]).join('\n');
}
