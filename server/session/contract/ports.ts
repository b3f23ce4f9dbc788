import type { Clock } from './clock.ts';

/** A session's way out: time, ids, faults. */
export interface Ports {
  readonly clock: Clock;
  readonly newId: (kind: 'item' | 'resp' | 'act') => string;
  /** Called with internal faults; they carry no content of the conversation. */
  readonly onFault: (fault: unknown) => void;
}

export interface Bounds {
  /** Most speculative replies in one turn; 0 for none. */
  readonly speculativeRepliesPerTurn: number;
  /** How far ahead of real time replies are sent. */
  readonly aheadMs: number;
  /** Audio kept for `retrieve`, in total. */
  readonly keptAudioMs: number;
}
