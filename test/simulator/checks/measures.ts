import { heardError } from './invariants-of-sound.ts';
import type { PersonRun, Run } from '../world.ts';

/** Metrics of a conversation as heard by the person, as defined by τ-Voice: latency, yielding, interrupting. */
export interface ConversationMetrics {
  /** L_R: from the end of a turn to the first audio of its reply. */
  readonly responseMs: readonly number[];
  /** L_Y: from the start of speech over a reply to the end of that reply; only for replies that it stopped. */
  readonly yieldMs: readonly number[];
  /** I_A: share of replies that started while the person spoke. */
  readonly interruptingShare: number;
  /** Number of words by which the history differs from what was heard, for each reply that was cut off. */
  readonly heardErrorWords: readonly number[];
}

/** Measures the first person's conversation. */
export function measuresOf({ people: [first] }: Run): ConversationMetrics {
  if (first === undefined) return { responseMs: [], yieldMs: [], interruptingShare: 0, heardErrorWords: [] };
  const turns = turnsOf(first);
  const replies = soundsOf(first);
  const isSpeaking = (atMs: number): boolean => turns.some(({ startMs, endMs }) => startMs < atMs && atMs < endMs);
  return {
    responseMs: replies.flatMap(({ startMs }) => {
      const turn = turns.findLast(({ endMs }) => endMs <= startMs);
      const isFirst = replies.find((reply) => reply.startMs > (turn?.endMs ?? 0))?.startMs === startMs;
      return turn === undefined || !isFirst ? [] : [startMs - turn.endMs];
    }),
    yieldMs: turns.flatMap(({ startMs }) => {
      const reply = replies.find((one) => one.startMs < startMs && startMs < one.endMs);
      return reply?.isCut === true ? [reply.endMs - startMs] : [];
    }),
    interruptingShare: replies.filter(({ startMs }) => isSpeaking(startMs)).length / Math.max(1, replies.length),
    heardErrorWords: replies.flatMap(({ isCut, itemId }) => (isCut ? [heardError(first, itemId)?.words ?? 0] : [])),
  };
}

interface Span {
  readonly startMs: number;
  readonly endMs: number;
}

/** Stretches of speech without pauses. */
function turnsOf({ person }: PersonRun): Span[] {
  const spans: { startMs: number; endMs: number }[] = [];
  for (const { startMs, endMs, word } of person.mouth.said) {
    const last = spans.at(-1);
    if (word === undefined) continue;
    if (last?.endMs === startMs) last.endMs = endMs;
    else spans.push({ startMs, endMs });
  }
  return spans;
}

/** Time span in which each reply was heard. */
function soundsOf({ person }: PersonRun): (Span & { readonly itemId: string; readonly isCut: boolean })[] {
  const { speaker, record } = person;
  return [...speaker.received].flatMap(([itemId, { heard }]) => {
    const words = new Set(heard.map(({ word }) => word));
    const sounded = speaker.heard.filter(({ word }) => words.has(word));
    const [first] = sounded;
    const last = sounded.at(-1);
    if (first === undefined || last === undefined) return [];
    const endMs = speaker.lastHeardMs.get(last.word) ?? last.atMs;
    return [{ itemId, startMs: first.atMs, endMs, isCut: record.cuts.has(itemId) }];
  });
}
