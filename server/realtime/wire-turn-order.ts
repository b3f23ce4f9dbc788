import type { Character } from '../../characters/character.ts';
import { maySpeak } from '../responders/turn-order.ts';
import type { WireTurnDetection } from './wire-detection.ts';

/** Returns true if the user plays a role beside this character, or in this scene. */
export function userTakesPart({ stage }: Character): boolean {
  return stage?.scene.user !== 'listener';
}

/** Turns replies and interruptions off for a user who only listens to a scene; the client is informed. */
export function detectionForListener(
  detection: WireTurnDetection | null,
  character: Character,
): WireTurnDetection | null {
  const floor = { holder: 'character', userPlays: userTakesPart(character) } as const;
  if (detection === null || maySpeak(floor, 'user') !== 'never') return detection;
  return { ...detection, create_response: false, interrupt_response: false };
}
