import type { SessionPatch } from '../../server/protocol/client-events.ts';
import type { EngineScript } from './engine-script.ts';
import type { Weather } from './pipe.ts';
import type { Step } from './step.ts';
import type { Run } from './world.ts';

/** One person of a scenario: what they do, over what network, and what the engines of their session do. */
export interface Part {
  readonly script: readonly Step[];
  readonly engines?: EngineScript;
  readonly weather?: Partial<Weather>;
  /** The network is not there for so long at first. */
  readonly isDownMs?: number;
  /** Asked for as soon as the session is there. */
  readonly session?: SessionPatch;
  /** `plain`: the server is asked for none of our extensions, and gives JSON to a session that cannot be resumed. */
  readonly client?: 'ours' | 'plain';
  /** False: the microphone sends nothing while the person is silent. */
  readonly sendsSilence?: boolean;
  /** Length of the pieces that the microphone hands over: our page's 40 unless given. */
  readonly chunkMs?: number;
  /** Begins so long after the others. */
  readonly afterMs?: number;
}

/** A conversation, and what is to come of it. What must be so in every conversation is checked besides. */
export interface Scenario extends Part {
  readonly name: string;
  readonly seed?: number;
  /** Made up by chance, from the seed. */
  readonly isRandom?: boolean;
  /** Other people with sessions of their own on the same server, by name. The first is called `ann`. */
  readonly others?: Readonly<Record<string, Part>>;
  /** Settings of the server. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Faults of ours that are wanted: what the log says of them. */
  readonly faults?: RegExp;
  /** The session is over at the end, so that nobody can be asked whether it still listens. */
  readonly endsAlone?: boolean;
  readonly expect?: Expectation;
}

/** What is to come of the first person's conversation; what is left out may be anything. */
export interface Expectation {
  /** The conversation as the server keeps it, line by line: `user: …` and `assistant: …`. */
  readonly history?: readonly string[];
  /** How each reply ended: its status, and the reason where there is one, such as `cancelled turn_detected`. */
  readonly replies?: readonly string[];
  /** Codes of the errors that the client was told. */
  readonly errors?: readonly string[];
  readonly sessions?: number;
  /** Anything else: returns what is wrong. */
  readonly also?: (run: Run) => readonly (string | false | undefined)[];
}
