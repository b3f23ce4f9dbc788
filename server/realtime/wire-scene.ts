import type { Character } from '../../characters/character.ts';
import { userSpeaks, type Hears } from '../../agents/scene/hearing.ts';
import { environmentId, sceneModel } from '../../characters/scene.ts';
import type { SessionPatch } from '../protocol/client-events.ts';
import type { Cast, Responder } from '../session/contract/responder.ts';
import type { Problem } from '../session/contract/events.ts';
import type { Client } from './peer.ts';
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

/** The participants that a client asks for: a scene, nobody but the character that it came for (null), or a character. */
export type CastChoice = { readonly scene: string | null } | { readonly character: string };

/** Casts the participants that a client asks for; returns the error if that is not possible. */
export type CastScene = (choice: CastChoice) => Casting | Problem;

/** Converts to the session engine's participants. */
export function castOf({ character, responder }: Casting, { nods }: Client): Cast {
  const everyMs = nods === true ? backchannelEveryMs(character.turnTaking) : undefined;
  const relations = (character.stage?.cast ?? [character]).flatMap(({ id, relations: axes }) =>
    axes === undefined || axes.length === 0 ? [] : [[id, axes] as const],
  );
  const { sections = [] } = character.stage?.scene ?? {};
  const speakers = character.stage?.cast.map(({ id, name }) => ({ id, name }));
  return {
    responder,
    languages: character.languages,
    bargeInMs: bargeInMs(character.turnTaking),
    ...(everyMs === undefined ? {} : { nodEveryMs: everyMs }),
    ...(speakers === undefined ? { id: character.id } : { speakers }),
    ...(sections.length === 0 ? {} : { sections }),
    ...(relations.length === 0 ? {} : { axes: Object.fromEntries(relations) }),
  };
}

/** Returns the id of the current character, or `scene:ID`; `opened`: of the one that the session was opened for. */
export function castIdOf(session: Pick<WireSession, 'x_dramatis'> | undefined, opened: string): string {
  const { scene, character } = session?.x_dramatis ?? {};
  if (scene) return sceneModel(scene.id);
  const isScene = opened.startsWith(sceneModel(''));
  // A session that has left its scene; without a name for the character, any other than the scene.
  return character?.id ?? (session !== undefined && isScene ? '' : opened);
}

/** Casts again if a client chooses another scene or character, or leaves a scene; undefined if it does not. */
export function recast(session: WireSession, patch: SessionPatch, cast: CastScene): Casting | Problem | undefined {
  const { scene, character } = patch.x_dramatis ?? {};
  const present = session.x_dramatis.scene?.id ?? null;
  if (scene && scene.id !== present) return cast({ scene: scene.id });
  const wanted = typeof character === 'object' ? character.id : character;
  const isLeft = scene === null && present !== null;
  if (wanted === undefined) return isLeft ? cast({ scene: null }) : undefined;
  return isLeft || wanted !== session.x_dramatis.character?.id ? cast({ character: wanted }) : undefined;
}

/** Returns the session with the new participants: their voice, and the turn detection for the user. */
export function recastSession(session: WireSession, { character, about }: Casting, before: Character): WireSession {
  const { scene: _left, hears: _ofThem, ...ours } = session.x_dramatis;
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
  const present = castIdOf(restored, opened.character.id);
  if (restored === undefined || present === opened.character.id) return opened;
  const scene = restored.x_dramatis.scene?.id ?? null;
  const casting = castScene(scene === null && present !== '' ? { character: present } : { scene });
  // The scene or the character no longer exists.
  return 'code' in casting ? opened : casting;
}

/** Returns the error of hearing that names a participant who is not present; undefined if there is none. */
export function hearingProblem(hears: Hears | null | undefined, { id, stage }: Character): Problem | undefined {
  const listeners = stage === undefined ? [id] : [...stage.cast.map((one) => one.id), environmentId];
  const speakers = [...listeners, userSpeaks];
  const isKnown = (one: string): boolean => speakers.includes(one) || /^player-\d{1,5}$/u.test(one);
  for (const [listener, of] of Object.entries(hears ?? {})) {
    const stranger = listeners.includes(listener) ? Object.keys(of).find((one) => !isKnown(one)) : listener;
    if (stranger === undefined) continue;
    const known = (stranger === listener ? listeners : speakers).join(', ');
    const message = `Nobody called "${stranger}" is present. Name listeners and speakers by id: ${known}.`;
    return { code: 'not_present', message, param: 'session.x_dramatis.hears' };
  }
  return undefined;
}

export const noScenes: CastScene = () => ({
  code: 'unknown_scene',
  message: 'This server has no scenes.',
  param: 'session.x_dramatis.scene.id',
});
