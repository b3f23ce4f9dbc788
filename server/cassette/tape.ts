import { createHash } from 'node:crypto';
import { appendFileSync, readFileSync } from 'node:fs';
import { EngineError, type EngineErrorCode } from '../../voices/engine.ts';
import { ConfigError } from '../config/config.ts';
import { sorted } from '../protocol/sorted-json.ts';

/** Version of the format, in the first line of a file. */
const version = 1;
const firstLine = { cassette: 'dramatis', version };

/** Answer of an engine: its parts in order, and the error that ended them, if one did. */
export interface Answer {
  readonly engine: string;
  readonly parts: readonly unknown[];
  readonly fault?: { readonly code: EngineErrorCode; readonly detail: string } | undefined;
}

type Stage = 'asr' | 'llm' | 'tts';

interface Entry extends Answer {
  readonly stage: Stage;
  readonly key: string;
}

/** Answers of engines in a file: a new one records them, one that exists plays them back. */
export interface Tape {
  readonly plays: boolean;
  add(stage: Stage, key: string, answer: Answer): void;
  /** Returns the next answer to a request; the last one again if there are no more. Throws if there is none at all. */
  next(stage: Stage, key: string, engine: string): Answer;
  /** Returns all answers of a stage. */
  all(stage: Stage): readonly Answer[];
}

/** Opens a tape. Throws `ConfigError` if the file is no cassette, or was written by a newer version. */
export function openTape(file: string): Tape {
  const entries = read(file);
  const waiting = Map.groupBy(entries ?? [], ({ stage, key }) => `${stage} ${key}`);
  if (entries === undefined) write(file, firstLine);
  return {
    plays: entries !== undefined,
    add: (stage, key, answer) => write(file, { stage, key, ...answer } satisfies Entry),
    next(stage, key, engine) {
      const answers = waiting.get(`${stage} ${key}`) ?? [];
      const [answer] = answers.length > 1 ? answers.splice(0, 1) : answers;
      if (answer === undefined) throw notRecorded(engine, file);
      return answer;
    },
    all: (stage) => (entries ?? []).filter((entry) => entry.stage === stage),
  };
}

/** The error of a request that is not on a tape. */
export function notRecorded(engine: string, file = 'the cassette'): EngineError {
  const detail = `${file} has no answer to this request. Delete the file, and record again with the engines.`;
  return new EngineError(engine, 'ENGINE_NOT_RECORDED', detail);
}

/** Returns the hash of a request; the order of fields does not matter. */
export function keyOf(...request: readonly unknown[]): string {
  return createHash('sha256').update(sorted(request)).digest('base64url');
}

function write(file: string, line: object): void {
  try {
    appendFileSync(file, `${JSON.stringify(line)}\n`, { mode: 0o600 });
  } catch (cause) {
    throw new ConfigError(`DRAMATIS_CASSETTE: ${file} cannot be written (${String(cause)}). Choose another place.`);
  }
}

/** Returns the entries of a file; undefined if it does not exist, or has none. */
function read(file: string): Entry[] | undefined {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new ConfigError(`DRAMATIS_CASSETTE: ${file} cannot be read (${String(cause)}). Check the path.`);
  }
  const [head = '', ...rows] = text.split('\n');
  const facts = parsed(head) as Partial<typeof firstLine> | undefined;
  if (facts?.cassette !== firstLine.cassette)
    throw new ConfigError(`DRAMATIS_CASSETTE: ${file} is not a cassette. Name another file, or delete it to record.`);
  if (Number(facts.version) > version)
    throw new ConfigError(`DRAMATIS_CASSETTE: ${file} was written by a newer version of Dramatis. Update Dramatis.`);
  // A process that was killed may have left half a line at the end.
  const entries = rows.map(parsed).filter((entry) => entry !== undefined) as Entry[];
  return entries.length === 0 ? undefined : entries;
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
