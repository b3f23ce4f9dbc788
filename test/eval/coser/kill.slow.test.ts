import { expect, it } from 'vitest';
import { openTextModelServer } from '../../fakes/servers/text-model-server.ts';
import { runWithKills } from '../../rigs/killed-run-rig.ts';
import { openScratch } from '../scratch.ts';
import { harmOf, killedScenes, unharmed } from './killed-scenes.ts';
import { sceneModels } from './scene-models.ts';

it('a run of CoSER killed at 3 moments and resumed gives the same results and judges nothing twice', async () => {
  await using scratch = await openScratch();
  await using server = await openTextModelServer(sceneModels, killedScenes.options);
  const argsFor = await killedScenes.args(scratch.path, server.url);
  const run = await runWithKills(argsFor, { scratch: scratch.path, kills: 3, seed: 3 });
  expect(harmOf(run)).toEqual({ kills: 3, ...unharmed });
}, 60_000);
