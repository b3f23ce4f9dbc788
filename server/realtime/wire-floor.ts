import type { Character } from '../../characters/character.ts';
import { mayTakeFloor } from '../responders/turn-order.ts';
import type { WireTurnDetection } from './wire-detection.ts';

/** Whether the user has a part beside this character, or in this scene. */
export function playsFor({ stage }: Character): boolean {
  return stage?.scene.user !== 'listener';
}

/** Who only listens to a scene is no part of it: the client is told so, too, lest it falls silent by itself. */
export function onFloor(detection: WireTurnDetection | null, character: Character): WireTurnDetection | null {
  const floor = { holder: 'character', userPlays: playsFor(character) } as const;
  if (detection === null || mayTakeFloor(floor, 'user') !== 'never') return detection;
  return { ...detection, create_response: false, interrupt_response: false };
}
