import { existsSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { EvalError } from '../../eval-error.ts';
import { linesIn } from '../runner/lines.ts';
import { dialoguesIn } from './dialogue-file.ts';
import { messageOf, partsOf, type Dialogue } from './dialogue.ts';

/** A line of `decisions.jsonl`; the last one about a dialogue counts. */
export const decisionSchema = z.strictObject({
  id: z.string().min(1),
  /** `undecided` takes an earlier decision back. */
  decision: z.enum(['accept', 'reject', 'edit', 'undecided']),
  /** Of an edit: the message of each turn, with [thoughts] and (actions). */
  messages: z.array(z.string().max(20_000)).max(1_000).optional(),
  /** ISO 8601. */
  at: z.iso.datetime(),
});

export type Decision = z.infer<typeof decisionSchema>;

/** Decisions of people about the dialogues of a build, by id. */
export type Decisions = ReadonlyMap<string, Decision>;

export function decisionsFile(folder: string): string {
  return path.join(folder.endsWith('.jsonl') ? path.dirname(folder) : folder, 'decisions.jsonl');
}

/** Reads `decisions.jsonl` beside the dialogues; empty if there is none. Throws an `EvalError` that names a bad line. */
export async function readDecisions(folder: string): Promise<Decisions> {
  const file = decisionsFile(folder);
  const found = new Map<string, Decision>();
  if (!existsSync(file)) return found;
  let number = 0;
  for await (const { text } of linesIn(file)) {
    number += 1;
    if (text.trim() === '') continue;
    try {
      const decision = decisionSchema.parse(JSON.parse(text));
      if (decision.decision === 'undecided') found.delete(decision.id);
      else found.set(decision.id, decision);
    } catch (cause) {
      throw new EvalError('data', `${file}:${number} is not a decision. Undo the last edit of this file.`, cause);
    }
  }
  return found;
}

/** A dialogue with its edit; undefined if it was rejected. A turn that was edited loses its recordings. */
export function decided(dialogue: Dialogue, decision: Decision | undefined): Dialogue | undefined {
  if (decision === undefined || decision.decision === 'accept') return dialogue;
  if (decision.decision === 'reject') return undefined;
  const turns = dialogue.turns.map((turn, at) => {
    const message = decision.messages?.[at];
    if (message === undefined || message === messageOf(turn)) return turn;
    const { speaker, kind, target } = turn;
    return { speaker, kind, ...(target === undefined ? {} : { target }), ...partsOf(message) };
  });
  return { ...dialogue, turns };
}

/** Dialogues of a build as people have decided: rejected ones are left out, edited ones are as edited. */
export async function* reviewedDialoguesIn(
  folder: string,
  { isAccepted = false }: { readonly isAccepted?: boolean } = {},
): AsyncGenerator<Dialogue> {
  const decisions = await readDecisions(folder);
  for await (const dialogue of dialoguesIn(folder)) {
    const decision = decisions.get(dialogue.id);
    if (isAccepted && decision === undefined) continue;
    const made = decided(dialogue, decision);
    if (made !== undefined) yield made;
  }
}
