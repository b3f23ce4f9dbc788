import type { WirePlayer } from '../protocol/game-events.ts';
import type { WireItem } from '../protocol/client-events.ts';
import type { Problem, SessionCommand } from '../session/contract/events.ts';
import { speakerOf, type Player } from '../session/contract/settings.ts';
import type { WireSession } from './wire-session.ts';

type Session = Pick<WireSession, 'x_dramatis'>;

/** Returns the problem of players that a session cannot have; undefined if there is none. */
export function playersProblem(
  players: readonly WirePlayer[],
  { x_dramatis }: Session,
  bindsUser: boolean,
): Problem | undefined {
  const isForeign = ({ user }: WirePlayer): boolean => user !== undefined && user !== x_dramatis.user;
  if (!bindsUser || !players.some(isForeign)) return undefined;
  const message =
    'The client secret is for one user, and only memories of that user may be kept. Leave out `user` of the other players, or open the session with a key.';
  return { code: 'user_not_allowed', message, param: 'session.x_dramatis.players' };
}

type SoundCommand = Extract<SessionCommand, { readonly type: 'audio' | 'audio-commit' | 'audio-clear' }>;

/** An event about audio that may name its player. */
interface ByPlayer {
  readonly x_dramatis?: { readonly player?: number | undefined } | null | undefined;
}

/** Returns a command about audio with its player, or a rejection if there is no such player. A single player has the number 0. */
export function soundBy(
  command: SoundCommand,
  { x_dramatis: about }: ByPlayer,
  { x_dramatis: { players = [] } }: Session,
): SessionCommand {
  const player = about?.player;
  if (player === undefined || player === 0 || players.length === 0) return command;
  const isKnown = players.some(({ number }) => number === player);
  return isKnown ? { ...command, player } : { type: 'reject', problem: noSuchPlayer(players, player) };
}

/** Returns the command with the player that its item names as the speaker, or the problem if there is no such player. */
export function saidBy(
  command: Extract<SessionCommand, { readonly type: 'item-add' }>,
  wanted: WireItem,
  { x_dramatis: { players = [] } }: Session,
): SessionCommand | Problem {
  const { item } = command;
  const number = wanted.type === 'message' ? wanted.x_dramatis?.player : undefined;
  if (number === undefined || item.type !== 'message' || item.role !== 'user') return command;
  const player = players.find((one) => one.number === number);
  return player === undefined
    ? noSuchPlayer(players, number)
    : { ...command, item: { ...item, speaker: speakerOf(player) } };
}

/** Returns the problem of events of a world that name a player who is not there. */
export function playersOfEvents(
  events: readonly { readonly player?: number | undefined }[],
  { x_dramatis: { players = [] } }: Session,
): Problem | undefined {
  const unknown = events.find(({ player }) => player !== undefined && !players.some(({ number }) => number === player));
  return unknown?.player === undefined ? undefined : noSuchPlayer(players, unknown.player);
}

function noSuchPlayer(players: readonly Player[], number: number): Problem {
  const known = players.map((player) => player.number).join(', ') || 'none';
  const message = `The session has no player ${number}. Known: ${known}. Name players with \`session.update\`: \`x_dramatis: {players: [{number, name}]}\`.`;
  return { code: 'unknown_player', message, param: 'x_dramatis.player' };
}
