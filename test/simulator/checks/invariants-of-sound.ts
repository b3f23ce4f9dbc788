import { decodeFrame } from '../../../server/protocol/binary-frame.ts';
import type { Item } from '../../../server/client/types/api.d.ts';
import type { PersonRun } from '../world.ts';

/** A word that had started when it was cut off may count as heard or not. */
const wordTolerance = 1;

/** Checks that no audio of a reply arrives after its end, and that none is played after it was cut off. */
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
        // A restored session on another server counts its replies from the start again.
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

/** Checks that the history of a reply is exactly what the person heard of it, or nothing if it cut in. */
export function heardIsHistory(run: PersonRun): string[] {
  return run.asked.flatMap((id) => {
    const error = heardError(run, id);
    const isDropped = error?.kept === '' && hardlyBegan(run, id);
    return error === undefined || error.words <= wordTolerance || isDropped
      ? []
      : [`the history of ${id} has “${error.kept}”, and heard was “${error.heard}”`];
  });
}

/** The first 600 ms of a reply, and what sounds of it until the words over it are understood and the line tells so. */
const mostDroppedMs = 1_600;

/** True if so little was heard of a reply that it may count as if it had never begun. */
function hardlyBegan({ person: { speaker } }: PersonRun, itemId: string): boolean {
  const words = new Set(speaker.received.get(itemId)?.heard.map(({ word }) => word));
  const heard = speaker.heard.filter(({ word }) => words.has(word));
  return heard.reduce((sum, { word }) => sum + word.durationMs, 0) < mostDroppedMs;
}

/**
 * Number of words by which the history of an item differs from what was heard; undefined for an item that was never
 * spoken.
 */
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

/** Difference in words between two texts, one a prefix of the other; the length of the longer one if it is not. */
function wordsApart(one: string, other: string): number {
  const [longer, shorter] = one.length > other.length ? [one, other] : [other, one];
  const rest = longer.startsWith(shorter) ? longer.slice(shorter.length) : longer;
  return rest.split(/\s+/u).filter(Boolean).length;
}

/** Readings of what was heard: as it is, and without a repeated stretch, because a held reply repeats its clause. */
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

/** Transcript of a spoken item; undefined for other items. */
export function transcriptOf(item: Item | undefined): string | undefined {
  const part = item?.content?.find(({ type }) => type === 'output_audio' || type === 'audio');
  return part === undefined ? undefined : (part.transcript ?? '').trim().replaceAll(/\s+/gu, ' ');
}
