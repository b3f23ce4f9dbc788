import type { Character } from '../../characters/character.ts';
import { sceneModel } from '../../characters/scene.ts';
import type { SessionPatch } from '../protocol/client-events.ts';
import type { Cast, Responder } from '../session/contract/responder.ts';
import type { Problem, SessionListener } from '../session/contract/events.ts';
import type { Client } from './peer.ts';
import { sessionIn, type WireSession } from './wire-session.ts';
import { bargeInMs, backchannelEveryMs } from '../session/contract/settings.ts';
import { detectionForListener, userTakesPart } from './wire-turn-order.ts';

/** The participants, after a scene has been chosen or left. */
export interface Casting {
  readonly character: Character;
  readonly responder: Responder;
  /** Additions to the client's session: `character`, `greeting`, and `scene` if there is one. */
  readonly about: object;
}

/** Casts a scene by its id or, for null, the character without a scene; returns the error if that is not possible. */
export type CastScene = (sceneId: string | null) => Casting | Problem;

/** Converts to the session engine's participants. */
export function castOf({ character, responder }: Casting, { nods }: Client): Cast {
  const everyMs = nods === true ? backchannelEveryMs(character.turnTaking) : undefined;
  const speakers = character.stage?.cast.map(({ id, name }) => ({ id, name }));
  return {
    responder,
    languages: character.languages,
    bargeInMs: bargeInMs(character.turnTaking),
    ...(everyMs === undefined ? {} : { nodEveryMs: everyMs }),
    ...(speakers === undefined ? {} : { speakers }),
  };
}

export function sceneIdOf(session: Pick<WireSession, 'x_dramatis'> | undefined): string | null {
  return session?.x_dramatis.scene?.id ?? null;
}

/** Casts again if a client chooses another scene, or leaves it; undefined if it does not. */
export function recast(session: WireSession, patch: SessionPatch, cast: CastScene): Casting | Problem | undefined {
  const wanted = patch.x_dramatis?.scene;
  if (wanted === undefined || (wanted?.id ?? null) === sceneIdOf(session)) return undefined;
  return cast(wanted?.id ?? null);
}

/** Returns the session with the new participants: their voice, and the turn detection for the user. */
export function recastSession(session: WireSession, { character, about }: Casting, before: Character): WireSession {
  const { scene: _left, ...ours } = session.x_dramatis;
  const { input, output } = session.audio;
  const wasListener = !userTakesPart(before) && userTakesPart(character);
  const detection = input.turn_detection;
  const freed =
    detection !== null && wasListener ? { ...detection, create_response: true, interrupt_response: true } : detection;
  return {
    ...session,
    audio: {
      input: { ...input, turn_detection: detectionForListener(freed, character) },
      output: { ...output, voice: character.id },
    },
    x_dramatis: { ...ours, ...about },
  };
}

/** Returns the participants when the session begins, or is resumed. */
export function castingToStart(opened: Casting, restored: WireSession | undefined, castScene: CastScene): Casting {
  const sceneId = sceneIdOf(restored);
  if (restored === undefined || sceneId === sceneOf(opened.character)) return opened;
  const casting = castScene(sceneId);
  // The scene no longer exists.
  return 'code' in casting ? opened : casting;
}

/** Returns the id of the scene that a session is opened for; null for a character by itself. */
function sceneOf({ id, stage }: Character): string | null {
  return stage === undefined ? null : id.slice(sceneModel('').length);
}

export const noScenes: CastScene = () => ({
  code: 'unknown_scene',
  message: 'This server has no scenes.',
  param: 'session.x_dramatis.scene.id',
});

/** Tracks if others than at first take part: their words are no memories of the character, their voice not its. */
export function trackCastChange(opened: Character, restored: WireSession | undefined): CastChange {
  const sceneId = sceneOf(opened);
  return {
    is: restored !== undefined && sceneIdOf(restored) !== sceneId,
    note(event) {
      if (event.type === 'updated') this.is = sceneIdOf(sessionIn(event)) !== sceneId;
    },
  };
}

/** Kept up to date by the events that the client gets. */
export interface CastChange extends SessionListener {
  is: boolean;
}
