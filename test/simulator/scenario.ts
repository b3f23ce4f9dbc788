import type { SessionPatch } from '../../server/protocol/client-events.ts';
import type { EngineScript } from './engine-script.ts';
import type { NetworkConditions } from './pipe.ts';
import type { Step } from './step.ts';
import type { Run } from './world.ts';

/** One person of a scenario: script, network, and the behaviour of the engines of their session. */
export interface Part {
  readonly script: readonly Step[];
  readonly engines?: EngineScript;
  readonly weather?: Partial<NetworkConditions>;
  /** The network is down for this time at first. */
  readonly isDownMs?: number;
  /** Settings requested as soon as the session exists. */
  readonly session?: SessionPatch;
  /** `plain`: the client requests none of our extensions, so it gets JSON and a session that cannot be resumed. */
  readonly client?: 'ours' | 'plain';
  /** False: the microphone sends nothing while the person is silent. */
  readonly sendsSilence?: boolean;
  /** Length of the microphone's audio blocks: our page's 40 unless given. */
  readonly chunkMs?: number;
  /** Delay after which this person starts. */
  readonly afterMs?: number;
}

/** A conversation, with expectations. The invariants are checked as well. */
export interface Scenario extends Part {
  readonly name: string;
  readonly seed?: number;
  /** Generated at random, from the seed. */
  readonly isRandom?: boolean;
  /** Other people with their own sessions on the same server, by name. The first is called `ann`. */
  readonly others?: Readonly<Record<string, Part>>;
  /** Environment variables of the server. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Internal faults that are expected: a pattern for their log messages. */
  readonly faults?: RegExp;
  /** The session is over at the end, so the probe question is left out. */
  readonly endsAlone?: boolean;
  readonly expect?: Expectation;
}

/** Expected outcome of the first person's conversation; absent fields are not checked. */
export interface Expectation {
  /** The stored conversation, line by line: `user: …` and `assistant: …`. */
  readonly history?: readonly string[];
  /** End of each reply: its status, and the reason if there is one, such as `cancelled turn_detected`. */
  readonly replies?: readonly string[];
  /** Codes of the errors that the client received. */
  readonly errors?: readonly string[];
  readonly sessions?: number;
  /** Any other check: returns the failures. */
  readonly also?: (run: Run) => readonly (string | false | undefined)[];
}
