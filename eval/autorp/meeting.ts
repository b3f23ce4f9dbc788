import { z } from 'zod';
import type { TextAnswer } from '../agents/text-agent.ts';
import { EvalError } from '../eval-error.ts';
import type { EvalContext } from '../task.ts';
import { jsonRowsOf } from '../text/data.ts';
import type { TextSystems } from '../text/text-task.ts';
import type { AutoRpConfig } from './config.ts';
import type { AlignmentItem, AutoRpFacts, Meeting } from './test-set.ts';

/** One line of a conversation. */
export interface Utterance {
  readonly speaker: 'partner' | 'role';
  readonly text: string;
}

/** Output of a system: a conversation, or the answer to an alignment item. */
export interface AutoRpOutput {
  readonly system: unknown;
  readonly utterances: readonly Utterance[];
  readonly answers: readonly TextAnswer[];
}

interface With {
  readonly config: AutoRpConfig;
  readonly context: EvalContext;
}

/** Some servers refuse an empty message, so the partner is asked to begin. */
const openings = { en: '(The conversation begins. You speak first.)', zh: '（对话开始，由你先说。）' } as const;

/**
 * Lets the role and a simulated partner talk in turns, the partner first. Of each reply the first line counts, as in the
 * released code.
 */
export async function meet(facts: Meeting, systems: TextSystems, { config, context }: With): Promise<AutoRpOutput> {
  const { id: sample, role, language, persona, world, scene, partner, relationship } = facts;
  const model = systems.models.get('partner');
  if (model === undefined) throw new EvalError('usage', '--partner is required: URL#MODEL.');
  const values = { role, world, scene, partner: partner.name, description: partner.description };
  const { system } = systems.prompts.fill(`autorp/partner.${language}.txt`, {
    ...values,
    relationship: String(relationship),
  });
  await using talk = await systems.agent.open(
    { sample, system: config.characters === undefined ? persona : undefined, role, language, maxTokens: 256 },
    context,
  );
  const history: { readonly role: 'user' | 'assistant'; readonly content: string }[] = [];
  const utterances: Utterance[] = [];
  const answers: TextAnswer[] = [];
  let content: string = openings[language];
  while (utterances.length < config.utterances) {
    const reply = await model.ask({ system, history: [...history], content, maxTokens: 256 }, context);
    const line = firstLine(reply.text);
    if (line === '') throw new EvalError('agent', `${sample}: the partner has said nothing.`);
    history.push({ role: 'user', content }, { role: 'assistant', content: line });
    utterances.push({ speaker: 'partner', text: line });
    if (utterances.length === config.utterances) break;
    const answer = await talk.say(line);
    content = firstLine(answer.text);
    if (content === '') throw new EvalError('agent', `${sample}: ${role} has said nothing.`);
    answers.push(answer);
    utterances.push({ speaker: 'role', text: content });
  }
  return { system: talk.about, utterances, answers };
}

/** Lets the system analyse a given dialogue. */
export async function align(facts: AlignmentItem, systems: TextSystems, { context }: With): Promise<AutoRpOutput> {
  const { id: sample, role, language, system, question } = facts;
  await using talk = await systems.agent.open({ sample, system, role, language, maxTokens: 1_024 }, context);
  return { system: talk.about, utterances: [], answers: [await talk.say(question)] };
}

function firstLine(text: string): string {
  return text.trim().split('\n')[0]?.trim() ?? '';
}

/** The conversation, a line an utterance, with names. */
export function transcriptOf(
  utterances: readonly Utterance[],
  names: { readonly role: string; readonly partner: string },
): string {
  return utterances.map(({ speaker, text }) => `${names[speaker]}: ${text}`).join('\n');
}

const lineSchema = z.object({ role: z.string(), dialogue: z.string() });
const chatSchema = z.looseObject({ dialogues: z.array(lineSchema).min(1) });
/** A role's file of the released code, with the dialogues in its chats. */
const roleSchema = z.looseObject({ name: z.string(), chats: z.record(z.string(), chatSchema) });
const rowSchema = z.looseObject({ name: z.string(), chat_role: z.string(), ...chatSchema.shape });
const answerSchema = z.looseObject({ id: z.string(), answer: z.string() });

/** Reads stored conversations: rows of our export, or role files of the released code. Throws `EvalError`. */
export async function openStored(file: string): Promise<(facts: AutoRpFacts) => AutoRpOutput> {
  const talks = new Map<string, z.infer<typeof lineSchema>[]>();
  const answers = new Map<string, string>();
  for await (const { row, value } of jsonRowsOf(file, () => undefined)) {
    const [role, talk, answer] = [roleSchema, rowSchema, answerSchema].map((schema) => schema.safeParse(value));
    if (role?.success === true) {
      const { name, chats } = role.data as z.infer<typeof roleSchema>;
      for (const [partner, { dialogues }] of Object.entries(chats)) talks.set(keyOf(name, partner), dialogues);
    } else if (talk?.success === true) {
      const { name, chat_role: partner, dialogues } = talk.data as z.infer<typeof rowSchema>;
      talks.set(keyOf(name, partner), dialogues);
    } else if (answer?.success === true) {
      const { id, answer: text } = answer.data as z.infer<typeof answerSchema>;
      answers.set(id, text);
    } else throw new EvalError('data', `${file}:${row} is neither a conversation nor an answer. Leave the row out.`);
  }
  return (facts) => {
    const silent = { heard: null, audio: null, firstAudioMs: null, fallback: null };
    const text = answers.get(facts.id);
    if (facts.kind === 'alignment' && text !== undefined)
      return { system: null, utterances: [], answers: [{ text, ...silent }] };
    const found = facts.kind === 'meeting' ? talks.get(keyOf(facts.role, facts.partner.name)) : undefined;
    if (found === undefined)
      throw new EvalError('data', `${file} has nothing of ${facts.id}. Add it, or leave it out.`);
    const utterances = found.map(({ role, dialogue }) => ({
      speaker: role === facts.role ? ('role' as const) : ('partner' as const),
      text: dialogue,
    }));
    return { system: null, utterances, answers: [] };
  };
}

/** A row of `eval export --format outputs`. */
export function storedRow(facts: AutoRpFacts, { utterances, answers }: AutoRpOutput): object {
  if (facts.kind === 'alignment') return { id: facts.id, answer: answers[0]?.text ?? '' };
  const names = { role: facts.role, partner: facts.partner.name };
  const dialogues = utterances.map(({ speaker, text }) => ({ role: names[speaker], dialogue: text }));
  return { name: names.role, chat_role: names.partner, dialogues };
}

function keyOf(role: string, partner: string): string {
  return `${role}\u{0}${partner}`;
}
