import type { Vad } from '../../../voices/vad.ts';
import { durationMs } from '../../../voices/audio.ts';
import type { SessionCommand } from '../contract/events.ts';
import type { Speaker } from '../contract/item.ts';
import type { Clock } from '../contract/clock.ts';
import { speakerOf, type Player, type SessionSettings } from '../contract/settings.ts';
import type { HeardPlayer, Listening } from './listening.ts';
import { Microphone } from './microphone.ts';
import type { ProbeLine } from './silence.ts';
import type { VadWindow } from './utterance.ts';

/** Longest speech that waits for the floor; of more, the beginning is lost. */
const mostWaitingMs = 30_000;

/** Audio kept of a player who is silent: what was said before the VAD was sure of it. */
const preRollMs = 1_000;

/** Facts of the conversation that deciding the floor needs. */
interface Conversing {
  /** Audio time of the session: the end of the last window that was processed. */
  readonly listening: Pick<Listening, 'heardMs'>;
  /** `isFree`: no player is being heard. */
  readonly turns: { readonly isFree: boolean };
}

/**
 * Makes one stream of the audio of several players: of the one who has the floor. It goes to the player who speaks first,
 * until the turn is over; what others say meanwhile waits, and is heard then.
 */
export class PlayerFloor {
  readonly #conversing: Conversing;
  readonly #waiting = new Map<number, VadWindow[]>();
  #holder = 0;

  constructor(conversing: Conversing) {
    this.#conversing = conversing;
  }

  /** The player that was heard last. */
  get holder(): number {
    return this.#holder;
  }

  /**
   * Takes a window of a player. Yields those to be processed now, each after the one before has been. Under push to talk
   * nobody waits: each player's audio is for an utterance of its own.
   */
  *take(window: VadWindow, isPushToTalk = false): Generator<VadWindow> {
    const player = window.player ?? 0;
    if (isPushToTalk) return yield this.#onFloor(window);
    if (player === this.#holder) yield this.#onFloor(window);
    else this.#wait(player, window);
    for (let next = this.#nextWaiting(); next !== undefined; next = this.#nextWaiting()) {
      if (!this.#conversing.turns.isFree) return;
      this.#holder = next;
      const windows = this.#waiting.get(next) ?? [];
      this.#waiting.delete(next);
      for (const one of windows) yield this.#onFloor(one);
    }
  }

  /** Forgets what players say who are not among these. Returns false if one of those had the floor. */
  keep(players: ReadonlySet<number>): boolean {
    for (const player of this.#waiting.keys()) if (!players.has(player)) this.#waiting.delete(player);
    if (this.#holder === 0 || players.has(this.#holder)) return true;
    this.#holder = 0;
    return false;
  }

  #wait(player: number, window: VadWindow): void {
    const windows = this.#waiting.get(player) ?? [];
    this.#waiting.set(player, windows);
    windows.push(window);
    const mostMs = isSpeech(windows) ? mostWaitingMs : preRollMs;
    while (windows.reduce((ms, { frame }) => ms + durationMs(frame), 0) > mostMs) dropFirst(windows);
  }

  /** Returns the waiting player who began to speak first. */
  #nextWaiting(): number | undefined {
    const speaking = [...this.#waiting].filter(([, windows]) => isSpeech(windows));
    const begun = ([, windows]: (typeof speaking)[number]): number => windows.find(isStart)?.arrivedMs ?? Infinity;
    return speaking.toSorted((one, other) => begun(one) - begun(other))[0]?.[0];
  }

  /** Gives the floor to a player, and forgets what waits for it. */
  give(player: number): void {
    this.#waiting.clear();
    this.#holder = player;
  }

  /** Moves a window to the audio time of the session. Messages are done only once nothing of them waits. */
  #onFloor(window: VadWindow): VadWindow {
    const { frame, edge, upTo } = window;
    const laterMs = this.#conversing.listening.heardMs - frame.atMs;
    return {
      ...window,
      frame: { ...frame, atMs: frame.atMs + laterMs },
      edge: edge && { ...edge, atMs: edge.atMs + laterMs },
      upTo: this.#nextWaiting() === undefined ? upTo : undefined,
    };
  }
}

function isStart({ edge }: VadWindow): boolean {
  return edge?.type === 'speech-start';
}

function isSpeech(windows: readonly VadWindow[]): boolean {
  return windows.some(isStart);
}

/** Drops the oldest window. Speech that began there begins with the next one; speech that ended before was not heard. */
function dropFirst(windows: VadWindow[]): void {
  const [first, second] = windows.splice(0, 2);
  if (second === undefined) return;
  const { edge } = first ?? {};
  const moved = edge === undefined || second.edge !== undefined ? undefined : { ...edge, atMs: second.frame.atMs };
  windows.unshift(edge === undefined ? second : { ...second, edge: moved });
}

interface PlayersParts extends Conversing {
  readonly listening: Pick<Listening, 'heardMs' | 'turnTo' | 'clear' | 'drop'>;
  readonly turns: Conversing['turns'] & { readonly missesSound: boolean };
  readonly vad: Vad;
  readonly clock: Clock;
  readonly probeLine?: ProbeLine | undefined;
  /** Microphone of player 0: commands pass through it. */
  readonly main: Microphone;
  readonly push: (input: VadWindow) => void;
  readonly onFault: (fault: unknown) => void;
}

/** The players of a session: each with a microphone and a VAD of its own, and one floor for all. */
export class Players {
  readonly #parts: PlayersParts;
  readonly #microphones = new Map<number, Microphone>();
  readonly #floor: PlayerFloor;
  #players: readonly Player[] = [];
  #isPushToTalk = false;
  /** The player whose audio was processed last, and what belongs to the others, under push to talk. */
  #current = 0;
  readonly #aside = new Map<number, HeardPlayer>();

  constructor(parts: PlayersParts) {
    this.#parts = parts;
    this.#floor = new PlayerFloor(parts);
  }

  get holder(): number {
    return this.#floor.holder;
  }

  /** The player who is heard, or was last; undefined if it has no name. */
  get speaker(): Speaker | undefined {
    const player = this.#players.find(({ number }) => number === this.holder);
    return player && speakerOf(player);
  }

  /** Opens the microphones of new players, and closes those of others. */
  follow({ players = [], turnDetection }: SessionSettings): void {
    const { push, onFault } = this.#parts;
    this.#players = players;
    this.#isPushToTalk = turnDetection === null;
    const numbers = new Set(players.map(({ number }) => number));
    for (const [number, microphone] of this.#microphones) {
      if (numbers.has(number)) continue;
      microphone.close();
      this.#microphones.delete(number);
    }
    for (const number of numbers) {
      if (number === 0 || this.#microphones.has(number)) continue;
      const microphone = this.#open(number, turnDetection);
      this.#microphones.set(number, microphone);
      microphone
        .run((input) => {
          if (!('command' in input)) push({ ...input, player: number });
        })
        .catch(onFault);
    }
  }

  #open(player: number, turnDetection: SessionSettings['turnDetection']): Microphone {
    const { vad, clock, probeLine, turns } = this.#parts;
    const missesSound = (): boolean => this.holder === player && turns.missesSound;
    return new Microphone({ vad, clock, turnDetection, missesSound, probeLine, player });
  }

  /**
   * Takes a command: audio goes to its player's microphone, all else to every one. Under push to talk, a player's commit
   * takes only that player's audio, and waits until all of it has been heard.
   */
  send(command: SessionCommand): void {
    if (command.type === 'audio') {
      const { player = 0 } = command;
      (player === 0 ? this.#parts.main : this.#microphones.get(player))?.send(command);
      return;
    }
    if (command.type === 'update') this.follow(command.settings);
    const { sequence: _, ...copy } = command;
    if (this.#isPushToTalk && (command.type === 'audio-commit' || command.type === 'audio-clear')) {
      const microphone = this.#microphones.get(command.player ?? 0);
      microphone?.send(copy);
      return this.#parts.main.send(command, microphone?.passed());
    }
    for (const microphone of this.#microphones.values()) microphone.send(copy);
    this.#parts.main.send(command);
  }

  /** Yields the windows to be processed now; those of players who have left are not. */
  *take(window: VadWindow, { turnDetection }: SessionSettings): Generator<VadWindow> {
    const { player = 0 } = window;
    if (player !== 0 && !this.#microphones.has(player)) return;
    if (turnDetection === null) this.#turnTo(player);
    yield* this.#floor.take(window, turnDetection === null);
  }

  /** Under push to talk, a commit and a clear are about one player's audio: gives that player the floor. */
  give(player = 0, { turnDetection }: SessionSettings): void {
    if (turnDetection !== null) return;
    this.#floor.give(player);
    this.#turnTo(player);
  }

  /**
   * Forgets what players said who have left; `isOther`: what anybody said, since push to talk begins or ends. Returns true
   * if one of those had the floor. `before`: the settings until now.
   */
  letGo({ turnDetection }: SessionSettings, isOther: boolean): boolean {
    const present = new Set([0, ...this.#players.map(({ number }) => number)]);
    if (isOther) this.#floor.give(this.holder);
    const { listening } = this.#parts;
    if (turnDetection === null && !present.has(this.#current)) {
      listening.clear();
      this.#turnTo(0);
    }
    for (const [player, { open }] of this.#aside) {
      if (present.has(player) && !isOther) continue;
      listening.drop(open);
      this.#aside.delete(player);
    }
    return !this.#floor.keep(present) && turnDetection !== null;
  }

  #turnTo(player: number): void {
    if (player === this.#current) return;
    this.#aside.set(this.#current, this.#parts.listening.turnTo(this.#aside.get(player)));
    this.#aside.delete(player);
    this.#current = player;
  }

  away(isAway: boolean): void {
    for (const microphone of [this.#parts.main, ...this.#microphones.values()]) microphone.away(isAway);
  }

  close(): void {
    for (const microphone of [this.#parts.main, ...this.#microphones.values()]) microphone.close();
  }
}
