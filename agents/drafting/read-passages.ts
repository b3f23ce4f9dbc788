import { setTimeout as wait } from 'node:timers/promises';
import { EngineError, type CallOptions } from '../../voices/engine.ts';
import { forEachConcurrent } from '../llm/map-concurrent.ts';
import type { ChatModel } from '../chat.ts';
import type { Passage } from './passages.ts';
import { statementsIn, type PassageResult, type Statement } from './statements.ts';

/** A statement with its passage: number from 1, and start in UTF-16 units. */
export interface PlacedStatement extends Statement {
  readonly passage: number;
  readonly offset: number;
}

/** Results of all passages, in order. */
export interface Read {
  readonly statements: readonly PlacedStatement[];
  readonly dropped: number;
  /** Numbers of passages, from 1, for which the model returned no JSON. */
  readonly unread: readonly number[];
}

export interface ReadingOptions extends CallOptions {
  readonly name: string;
  readonly model: ChatModel;
  /** Keeps results, so that an interrupted run can go on later. */
  readonly store: {
    read(index: number): Promise<PassageResult | undefined>;
    write(index: number, result: PassageResult): Promise<void>;
  };
  /** Called once before the first passage, with the number already read, and after each. */
  readonly onPassage: (done: number, of: number, already: number) => void;
  /** Called if the server is busy, with the pause until the retry. */
  readonly onWait: (seconds: number) => void;
  readonly pause?: (ms: number, options: CallOptions) => Promise<unknown>;
}

/** Concurrent passages: servers batch them, and rate limits allow it. */
const passagesAtOnce = 4;
/** Pauses before retries. A book takes an hour, so a server that is down for two minutes must not end the run. */
const pausesMs = [2_000, 8_000, 30_000, 60_000];
const longestPauseMs = 120_000;
/** Number of failed passages at the start after which the model is given up. */
const fewFailures = 3;

/**
 * Reads passages concurrently. A passage for which the model returns no JSON is skipped; a busy or unreachable server
 * is waited for. Throws `EngineError` if the model returns nothing usable for the first passages, or the server stays
 * away; results so far are in the store by then.
 */
export async function readPassages(passages: readonly Passage[], options: ReadingOptions): Promise<Read> {
  const { store, onPassage, signal } = options;
  const found = await Promise.all(passages.map((_, index) => store.read(index)));
  const already = found.filter((each) => each !== undefined).length;
  let done = already;
  const unread: number[] = [];
  onPassage(done, passages.length, already);
  const left = [...passages.keys()].filter((index) => found[index] === undefined);
  await forEachConcurrent(left, passagesAtOnce, async (index) => {
    signal.throwIfAborted();
    try {
      const result = await patiently(passages[index] as Passage, options);
      await store.write(index, result);
      found[index] = result;
    } catch (fault) {
      if (!(fault instanceof EngineError) || fault.code !== 'ENGINE_BAD_REPLY') throw fault;
      unread.push(index + 1);
      const isHopeless = done === unread.length - 1 && unread.length >= Math.min(fewFailures, passages.length);
      if (isHopeless) throw fault;
    }
    done += 1;
    onPassage(done, passages.length, already);
  });
  const statements = passages.flatMap(({ offset }, index) =>
    (found[index]?.statements ?? []).map((statement) => ({ ...statement, passage: index + 1, offset })),
  );
  const dropped = found.reduce((sum, each) => sum + (each?.dropped ?? 0), 0);
  return { statements, dropped, unread: unread.toSorted((left, right) => left - right) };
}

async function patiently(passage: Passage, options: ReadingOptions): Promise<PassageResult> {
  const {
    name,
    model,
    signal,
    onWait,
    pause = (ms, { signal: until }) => wait(ms, undefined, { signal: until }),
  } = options;
  for (const pauseMs of [...pausesMs, undefined]) {
    try {
      return await statementsIn(passage, name, model, { signal });
    } catch (fault) {
      if (!(fault instanceof EngineError) || !fault.retryable || pauseMs === undefined) throw fault;
      const ms = Math.min(longestPauseMs, Math.max(pauseMs, fault.retryAfterMs ?? 0));
      onWait(Math.ceil(ms / 1_000));
      await pause(ms, { signal });
    }
  }
  throw new Error('the last try returns or throws');
}
