import { z } from 'zod';
import { locate, sentencesOf } from '../books/locate.ts';
import type { Prompt } from '../runner/prompts.ts';
import { Dropped, type Stage } from '../runner/stage.ts';
import { languageRule } from '../runner/words.ts';
import type { PairDialogue, Role, RoleChunk, Row } from './roles.ts';
import { labelsOf } from './scenes.ts';

const leastRows = 4;
const longestOfRole = 10;

/** Takes the speeches of a chunk as rows, and cuts them into dialogues of the role with one partner. */
export function extractStage(prompt: Prompt, roles: readonly Role[]): Stage<RoleChunk, PairDialogue> {
  return {
    name: 'extract',
    estimate: { calls: 1, inputTokens: 2_300, outputTokens: 900, records: 0.7 },
    async run([chunk], context) {
      if (chunk === undefined) return [];
      const { text, score: _score, ...rest } = chunk;
      const aliases = roles.find(({ name }) => name === chunk.role)?.aliases ?? [];
      const values = { text, role: chunk.role, aliases: aliases.join(', ') || chunk.role };
      const read = (reply: string): string | undefined => (rowsIn(reply).length > 0 ? reply : undefined);
      const rows = rowsIn(await context.askText({ prompt, values, read })).map(({ role, dialogue }) => ({
        role: aliases.includes(role) ? chunk.role : role,
        dialogue,
      }));
      const sentences = sentencesOf(text);
      for (const { dialogue } of rows) {
        const words = sentencesOf(dialogue.replaceAll(/（[^（）]*）/g, ' '))[0]?.text ?? '';
        context.count(isInText(words, text, sentences) ? 'line found in the text' : 'line not found in the text');
      }
      const pairs = twoPersonDialogues(rows, chunk.role);
      if (pairs.length === 0) throw new Dropped('no dialogue of two persons');
      return pairs.map((own, index) => ({
        ...rest,
        id: `${chunk.id}/d${index}`,
        partner: own[0]?.role ?? '',
        rows: own,
      }));
    },
  };
}

function isInText(words: string, text: string, sentences: ReturnType<typeof sentencesOf>): boolean {
  return words !== '' && (text.includes(words) || locate(sentences, words) !== undefined);
}

/** Rows `speaker|speech`; lines of another form are left aside. */
export function rowsIn(reply: string): Row[] {
  return reply.split('\n').flatMap((line) => {
    const [, role = '', dialogue = ''] = /^\s*([^|｜]{1,40})[|｜](.+)$/.exec(line) ?? [];
    const isSpeech = dialogue.replaceAll(/（[^（）]*）/g, '').trim() !== '';
    return role.trim() !== '' && isSpeech ? [{ role: role.trim(), dialogue: dialogue.trim() }] : [];
  });
}

/**
 * Dialogues in which exactly two speak, one of them the role: neighbouring rows of a speaker are joined, a row of a third
 * ends a dialogue, the partner begins it, the role ends it, and it has four rows at least.
 */
export function twoPersonDialogues(rows: readonly Row[], role: string): readonly (readonly Row[])[] {
  const merged: Row[] = [];
  for (const row of rows) {
    const last = merged.at(-1);
    if (last?.role === row.role)
      merged[merged.length - 1] = { role: row.role, dialogue: `${last.dialogue} ${row.dialogue}` };
    else merged.push(row);
  }
  const found: (readonly Row[])[] = [];
  for (let from = 0; from < merged.length - 1;) {
    const pair = new Set([merged[from]?.role, merged[from + 1]?.role]);
    let to = from + 2;
    while (to < merged.length && pair.has(merged[to]?.role)) to += 1;
    if (pair.has(role)) {
      const first = merged[from]?.role === role ? from + 1 : from;
      const end = merged[to - 1]?.role === role ? to : to - 1;
      if (end - first >= leastRows) found.push(merged.slice(first, end));
    }
    // The last row of a run may begin the next one.
    from = to - 1;
  }
  return found;
}

/** Keeps the ten longest dialogues of each role. */
export function longestStage(): Stage<PairDialogue, PairDialogue> {
  return {
    name: 'longest',
    groupBy: ({ role }) => role,
    async run(dialogues, context) {
      const kept = new Set(
        dialogues.toSorted((left, right) => right.rows.length - left.rows.length).slice(0, longestOfRole),
      );
      if (kept.size < dialogues.length)
        context.drop('not among the ten longest of the role', dialogues.length - kept.size);
      return dialogues.filter((dialogue) => kept.has(dialogue));
    },
  };
}

const bit = z.coerce.number().int().min(0).max(1);
const coherence = z.object({ scene: z.string().trim().min(1), coherence: bit });
const conflict = z.object({ conflict: bit });

/** Fits the scene to the dialogue; leaves out a dialogue that cannot be followed. */
export function coherenceStage(prompt: Prompt): Stage<PairDialogue, PairDialogue> {
  return {
    name: 'coherence',
    estimate: { calls: 1, inputTokens: 900, outputTokens: 250, records: 0.9 },
    async run([dialogue], context) {
      if (dialogue === undefined) return [];
      const values = {
        scene: dialogue.scene,
        dialogue: dialogueText(dialogue),
        language: languageRule(dialogue.language),
      };
      const answer = await context.askJson({ prompt, values, schema: coherence });
      if (answer.coherence === 0) throw new Dropped('not coherent');
      return [{ ...dialogue, scene: answer.scene }];
    },
  };
}

/** Leaves out a dialogue in which the role conflicts with its profile; so is one that the model did not judge. */
export function conflictStage(prompt: Prompt, roles: readonly Role[]): Stage<PairDialogue, PairDialogue> {
  return {
    name: 'conflict',
    estimate: { calls: 1, inputTokens: 800, outputTokens: 200, records: 0.9 },
    async run([dialogue], context) {
      if (dialogue === undefined) return [];
      const values = { dialogue: dialogueText(dialogue), ...labelsOf(dialogue.role, roles) };
      const answer = await context.askJson({ prompt, values, schema: conflict });
      if (answer.conflict === 1) throw new Dropped('conflicts with the profile');
      return [dialogue];
    },
  };
}

export function dialogueText({ rows }: Pick<PairDialogue, 'rows'>): string {
  return rows.map(({ role, dialogue }) => `${role}: ${dialogue}`).join('\n');
}
