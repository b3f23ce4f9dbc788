import type { SessionStore } from '../journal/journal.ts';
import type { SharedCounts } from './shared-counts.ts';

/** Place of a session: on a running node, on none (`free`: its node has stopped or released it), or ended. */
export type SessionPlace = { readonly url: string } | 'free' | 'ended';

/** Figures of a cluster for `/metrics`, since this node started. */
export interface ClusterFigures {
  /** Sessions whose latest events are only in this process. */
  readonly unkept: number;
  /** Sessions that ended here because another node had taken them over. */
  readonly fenced: number;
  /** Sessions that this node took over after another one had left them. */
  readonly moved: number;
}

/**
 * What nodes share: the journals of their sessions, and the addresses of the nodes. Every method that asks the store
 * throws `StoreUnavailable` if it does not answer in 250 ms.
 */
export interface Cluster extends SessionStore {
  /** Id of this node: hexadecimal digits. */
  readonly nodeId: string;
  /** Returns the URL of a living node. */
  urlOf(nodeId: string): Promise<string | undefined>;
  readonly figures: ClusterFigures;
  /** Returns whether this node still owns a session that it has open. True, too, if the store does not answer. */
  owns(tokenHash: string): Promise<boolean>;
  /** Finds a session that this node does not have open. */
  whereIs(tokenHash: string): Promise<SessionPlace>;
  /**
   * Makes this node the owner; from now on, what another one writes is refused. `has` and `read` find the session until
   * it is opened, or `drop` is called. Returns false if it has ended.
   */
  claim(tokenHash: string): Promise<boolean>;
  /** Leaves a session that was claimed and not opened. */
  drop(tokenHash: string): void;
  /** Sessions of all nodes. */
  readonly counts: SharedCounts;
  /** Keeps the facts of a client secret, by its hash, for a time. */
  putSecret(hash: string, facts: string, stayMs: number): Promise<void>;
  /** Returns the facts of a client secret that has not expired, and how long it stays. */
  secret(hash: string): Promise<{ readonly facts: string; readonly leftMs: number } | undefined>;
  /** Writes what waits, leaves the sessions to the others and disconnects. */
  close(): Promise<void>;
}

/** The store does not answer, so it is unknown which node has a session. */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable';
  readonly code = 'store_unavailable';
}
