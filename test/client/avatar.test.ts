import { expect, it } from 'vitest';
import { Avatar } from '../../server/client/avatar/avatar.js';
import { Lively } from '../../server/client/avatar/lively.js';

/** A face that remembers its last weights, and its head. */
function fakeRig() {
  const weights: Record<string, number> = {};
  const rotation = { x: 0, y: 0, z: 0 };
  return {
    weights,
    rotation,
    expressionManager: { setValue: (name: string, weight: number) => void (weights[name] = weight) },
    humanoid: { getNormalizedBoneNode: () => ({ rotation }) },
    update: () => undefined,
  };
}

it('blinks every two to six seconds, the same for the same seed', () => {
  const blinksOf = (seed: number): number[] => {
    const lively = new Lively(seed);
    let wasOpen = true;
    const blinks: number[] = [];
    for (let frame = 0; frame < 60 * 60; frame += 1) {
      const { blink } = lively.update(1 / 60);
      if (blink > 0 && wasOpen) blinks.push(frame / 60);
      wasOpen = blink === 0;
    }
    return blinks;
  };
  const blinks = blinksOf(7);
  expect(blinks.length).toBeGreaterThan(9);
  for (const [index, at] of blinks.entries()) {
    const pause = at - (blinks[index - 1] ?? 0);
    expect(pause).toBeGreaterThan(1.9);
    expect(pause).toBeLessThan(6.1);
  }
  expect(blinksOf(7)).toEqual(blinks);
  expect(blinksOf(8)).not.toEqual(blinks);
});

it('looks away while it thinks, and back when it speaks', () => {
  const lively = new Lively(3);
  lively.think();
  const away = Math.abs(lively.update(0.4).yaw);
  lively.speak();
  expect(away).toBeGreaterThan(0.2);
  expect(Math.abs(lively.update(0.4).yaw)).toBeLessThan(away / 10);
});

it('moves lips within 60 ms, moods slowly, and by half while it speaks', () => {
  const rig = fakeRig();
  let shapes: Record<string, number> | undefined = { aa: 1 };
  const avatar = new Avatar(rig, { mouth: { weightsAt: () => shapes } });
  const take = (event: object): void => avatar.take(event as never);
  avatar.update(0.03);
  expect(rig.weights['aa']).toBeCloseTo(0.5);
  take({ type: 'playback.progress', level: 0.1, itemId: 'i', responseId: 'r', playedMs: 0 });
  take({ type: 'response.output_audio_transcript.delta', x_dramatis: { emotion: 'cheerful' } });
  avatar.update(0.1);
  expect(rig.weights).toMatchObject({ aa: 1, happy: 0.25 });
  avatar.update(1);
  expect(rig.weights['happy']).toBe(0.5);
  take({ type: 'playback.stopped', responseIds: ['r'] });
  shapes = { sil: 1 };
  avatar.update(0.06);
  expect(rig.weights['aa']).toBe(0);
  avatar.update(1);
  expect(rig.weights['happy']).toBe(1);
  take({ type: 'response.output_audio_transcript.delta', x_dramatis: { emotion: 'cheerful', intensity: 0.3 } });
  avatar.update(1);
  expect(rig.weights['happy']).toBeCloseTo(0.3);
  // Of this voice only the loudness is known.
  shapes = undefined;
  take({ type: 'playback.progress', level: 0.1, itemId: 'i', responseId: 'r', playedMs: 0 });
  avatar.update(1);
  expect(rig.weights['aa']).toBeCloseTo(0.5);
});

it('nods at its word, hands on other actions, and does nothing that nobody heard', () => {
  const rig = fakeRig();
  const acts: unknown[] = [];
  const avatar = new Avatar(rig, { mouth: { weightsAt: () => ({}) }, onAct: (event) => acts.push(event) });
  const take = (event: object): void => avatar.take(event as never);
  const action = (name: string, samples: number): object => {
    return { type: 'x_dramatis.action', response_id: 'r', item_id: 'i', action_id: name, name, samples };
  };
  for (const each of [action('nod', 2_400), action('wave', 4_800), action('walk_to', 9_600)]) take(each);
  take({ type: 'playback.progress', level: 0, itemId: 'i', responseId: 'r', playedMs: 99 });
  avatar.update(0.2);
  expect(rig.rotation.x).toBe(0);
  take({ type: 'playback.progress', level: 0, itemId: 'i', responseId: 'r', playedMs: 201 });
  avatar.update(0.2);
  expect(rig.rotation.x).toBeGreaterThan(0.1);
  expect(acts).toEqual([action('wave', 4_800)]);
  take({ type: 'playback.stopped', responseIds: ['r'] });
  take({ type: 'playback.progress', level: 0, itemId: 'i', responseId: 'r', playedMs: 900 });
  expect(acts).toHaveLength(1);
});
