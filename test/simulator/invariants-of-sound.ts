import { decodeFrame } from '../../server/protocol/binary-frame.ts';
import type { Item } from '../../server/client/types/api.d.ts';
import type { PersonRun } from './world.ts';

/** A word that had begun when it was cut off may count as heard or not. */
const wordTolerance = 1;

/** No sound of a reply comes after its end, and nothing of it sounds after it was cut off. */
export function deadSound({ person, pieces }: PersonRun): string[] {
  const wrong: string[] = [];
  const endedAt = new Map<number, number>();
  const numberOf = new Map<string, number>();
  for (const { piece } of pieces) {
    if (piece.type === 'binary') {
      const frame = decodeFrame(piece.data);
      if (frame?.kind !== 'reply') wrong.push('a binary frame that is no sound of a reply');
      else if (frame.sequence > (endedAt.get(frame.replyNumber) ?? Infinity))
        wrong.push(`sound of reply ${frame.replyNumber} came after its end`);
    } else if (piece.type === 'text' && /"response\.(created|done)"/u.test(piece.data)) {
      const { type, x_seq: sequence, response } = JSON.parse(piece.data) as Bracket;
      const number = response.x_dramatis?.number;
      if (type === 'response.created' && number !== undefined) {
        numberOf.set(response.id, number);
        // A server that goes on with a session counts its replies anew.
        endedAt.delete(number);
      }
      if (type === 'response.done') endedAt.set(numberOf.get(response.id) ?? -1, sequence);
    }
  }
  for (const [itemId, cutMs] of person.record.cuts) {
    const words = new Set(person.speaker.received.get(itemId)?.heard.map(({ word }) => word));
    const late = person.speaker.heard.filter(({ word, atMs }) => words.has(word) && atMs > cutMs);
    if (late.length > 0) wrong.push(`${late.length} words of ${itemId} began to sound after it was cut`);
  }
  return wrong;
}

interface Bracket {
  readonly type: string;
  readonly x_seq: number;
  readonly response: { readonly id: string; readonly x_dramatis?: { readonly number?: number } };
}

/** What the server keeps of a reply is what the person heard of it, to the word. */
export function heardIsHistory(run: PersonRun): string[] {
  return run.asked.flatMap((id) => {
    const error = heardError(run, id);
    return error === undefined || error.words <= wordTolerance
      ? []
      : [`the history of ${id} has “${error.kept}”, and heard was “${error.heard}”`];
  });
}

/** By how many words the history of an item differs from what was heard of it; undefined for what was never spoken. */
export function heardError(
  { person }: PersonRun,
  itemId: string,
): { readonly words: number; readonly kept: string; readonly heard: string } | undefined {
  const kept = transcriptOf(person.record.retrieved.get(itemId));
  if (kept === undefined) return undefined;
  const heard = person.speaker.heardOf(itemId);
  const errors = tellings(heard).map((telling) => wordsApart(kept, telling.join(' ')));
  return { words: Math.min(...errors), kept, heard: heard.join(' ') };
}

/** How many words longer one text is than the other; all of them where they begin differently. */
function wordsApart(one: string, other: string): number {
  const [longer, shorter] = one.length > other.length ? [one, other] : [other, one];
  const rest = longer.startsWith(shorter) ? longer.slice(shorter.length) : longer;
  return rest.split(/\s+/u).filter(Boolean).length;
}

/** What was heard, as it is, and without a stretch that was said a second time: a reply that was held repeats its clause. */
function tellings(heard: readonly string[]): string[][] {
  const all = [[...heard]];
  for (let again = 1; again < heard.length; again += 1) {
    for (let from = 0; from < again; from += 1) {
      const repeated = heard.slice(again, again + again - from);
      if (repeated.every((word, index) => word === heard[from + index]))
        all.push([...heard.slice(0, again), ...heard.slice(again + again - from)]);
    }
  }
  return all;
}

/** What a spoken item says; undefined where it is none. */
export function transcriptOf(item: Item | undefined): string | undefined {
  const part = item?.content?.find(({ type }) => type === 'output_audio' || type === 'audio');
  return part === undefined ? undefined : (part.transcript ?? '').trim().replaceAll(/\s+/gu, ' ');
}
