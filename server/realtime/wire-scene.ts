import type { Character } from '../../characters/character.ts';
import { sceneModel } from '../../characters/scene.ts';
import type { SessionPatch } from '../protocol/client-events.ts';
import type { Cast, Responder } from '../session/contract/responder.ts';
import type { Problem } from '../session/contract/events.ts';
import type { WireSession } from './wire-session.ts';
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

/** Converts to the session engine's participants; `nods`: the client plays backchannels while the user talks. */
export function playersOf({ character, responder }: Pick<Casting, 'character' | 'responder'>, nods: boolean): Cast {
  const everyMs = nods ? backchannelEveryMs(character.turnTaking) : undefined;
  const cast = character.stage?.cast.map(({ id, name }) => ({ id, name }));
  return {
    responder,
    bargeInMs: bargeInMs(character.turnTaking),
    ...(everyMs === undefined ? {} : { nodEveryMs: everyMs }),
    ...(cast === undefined ? {} : { cast }),
  };
}

/** Returns the id of the session's scene; null for none. */
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

interface Opened extends Pick<Casting, 'character' | 'responder'> {
  readonly restored?: { readonly session: WireSession | undefined };
  readonly castScene?: CastScene;
}

/** Returns the participants when the session begins, or is resumed. */
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
  // The scene no longer exists.
  return 'code' in casting ? { character, responder } : casting;
}

/** For a server without scenes. */
export const noScenes: CastScene = () => ({
  code: 'unknown_scene',
  message: 'This server has no scenes.',
  param: 'session.x_dramatis.scene.id',
});

/**
 * Tracks if the participants are others than those the session was opened for: what they say does not become memories
 * of its character.
 */
export function trackCastChange({ about }: { readonly about: object }, now: WireSession): CastChange {
  const opened = sceneIdOf({ x_dramatis: about });
  return {
    is: sceneIdOf(now) !== opened,
    note(echo) {
      this.is = sceneIdOf(echo) !== opened;
    },
  };
}

/** Kept up to date by the events that the client gets. */
export interface CastChange {
  is: boolean;
  note(echo: WireSession): void;
}
