import type { Character } from '../../characters/character.ts';
import { sceneModel } from '../../characters/scene.ts';
import type { SessionPatch } from '../protocol/client-events.ts';
import type { Players } from '../session/history/participants.ts';
import type { Problem } from '../session/contract/events.ts';
import type { WireSession } from './wire-session.ts';
import type { Responder } from '../responders/responder.ts';
import { bargeInMs, nodEveryMs } from '../session/contract/settings.ts';
import { onFloor, playsFor } from './wire-floor.ts';

/** Who plays, once a scene has been chosen or left. */
export interface Casting {
  readonly character: Character;
  readonly responder: Responder;
  /** What the session tells of them: `character`, `greeting`, and `scene` where it is one. */
  readonly about: object;
}

/** Casts a scene by its id, or, for null, who speaks where there is none; a problem where that cannot be had. */
export type CastScene = (sceneId: string | null) => Casting | Problem;

/** What the session engine needs to know of them; `nods`: the client plays what comes while its user talks. */
export function playersOf({ character, responder }: Pick<Casting, 'character' | 'responder'>, nods: boolean): Players {
  const everyMs = nods ? nodEveryMs(character.turnTaking) : undefined;
  const cast = character.stage?.cast.map(({ id, name }) => ({ id, name }));
  return {
    responder,
    bargeInMs: bargeInMs(character.turnTaking),
    ...(everyMs === undefined ? {} : { nodEveryMs: everyMs }),
    ...(cast === undefined ? {} : { cast }),
  };
}

/** The scene that a session plays; null for none. */
export function sceneIdOf(session: Pick<WireSession, 'x_dramatis'> | undefined): string | null {
  return session?.x_dramatis.scene?.id ?? null;
}

/** Casts anew where a client chooses another scene, or leaves it; undefined where it does not. */
export function recast(session: WireSession, patch: SessionPatch, cast: CastScene): Casting | Problem | undefined {
  const wanted = patch.x_dramatis?.scene;
  if (wanted === undefined || (wanted?.id ?? null) === sceneIdOf(session)) return undefined;
  return cast(wanted?.id ?? null);
}

/** The session with others in it: their voice, and the floor they leave the user. */
export function recastSession(session: WireSession, { character, about }: Casting, before: Character): WireSession {
  const { scene: _left, ...ours } = session.x_dramatis;
  const { input, output } = session.audio;
  const wasListener = !playsFor(before) && playsFor(character);
  const detection = input.turn_detection;
  const freed =
    detection !== null && wasListener ? { ...detection, create_response: true, interrupt_response: true } : detection;
  return {
    ...session,
    audio: {
      input: { ...input, turn_detection: onFloor(freed, character) },
      output: { ...output, voice: character.id },
    },
    x_dramatis: { ...ours, ...about },
  };
}

interface Opened extends Pick<Casting, 'character' | 'responder'> {
  readonly restored?: { readonly session: WireSession | undefined };
  readonly castScene?: CastScene;
}

/** Who plays when the session begins, or goes on. */
export function castingToStart({
  character,
  responder,
  restored,
  castScene = noScenes,
}: Opened): Pick<Casting, 'character' | 'responder'> {
  const sceneId = sceneIdOf(restored?.session);
  const opened = character.stage === undefined ? null : character.id;
  const wanted = sceneId === null ? null : sceneModel(sceneId);
  if (restored?.session === undefined || wanted === opened) return { character, responder };
  const casting = castScene(sceneId);
  // A scene that is no more.
  return 'code' in casting ? { character, responder } : casting;
}

/** Of a server without any. */
export const noScenes: CastScene = () => ({
  code: 'unknown_scene',
  message: 'There are no scenes here.',
  param: 'session.x_dramatis.scene.id',
});

/** Whether others play than the session was opened for: what they say is none of its character's memories. */
export function stagedBy({ about }: { readonly about: object }, now: WireSession): Staged {
  const opened = sceneIdOf({ x_dramatis: about });
  return {
    is: sceneIdOf(now) !== opened,
    note(echo) {
      this.is = sceneIdOf(echo) !== opened;
    },
  };
}

/** Kept up to date by what the client is told. */
export interface Staged {
  is: boolean;
  note(echo: WireSession): void;
}
