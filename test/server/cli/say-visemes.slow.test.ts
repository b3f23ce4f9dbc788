import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { readWav } from '../../../voices/dsp/wav.ts';
import { dramatis } from '../../rigs/command-rig.ts';
import { testFolder } from '../../fakes/test-folder.ts';

const folder = testFolder();

it('dramatis say writes the shapes of the mouth beside the sound, from its first sample to its last', async () => {
  const [wav, json] = [path.join(folder, 'a.wav'), path.join(folder, 'a.json')];
  const ran = await dramatis('say', 'Bob may pay.', '--character', 'alice', '--out', wav, '--visemes', json);
  expect(ran).toMatchObject({ status: 0, stderr: '' });
  const told = JSON.parse(readFileSync(json, 'utf8'));
  const { samples } = await readWav(readFileSync(wav));
  expect([told.format, told.basis, told.until]).toEqual(['oculus', 'engine', samples.length]);
  expect(told.visemes.filter((shape: [number, string]) => shape[1] === 'PP')).toHaveLength(3);
  expect(told.words.map((word: [number, string]) => word[1])).toEqual(['Bob', 'may', 'pay.']);
}, 60_000);

it('dramatis say refuses a format that it does not know', async () => {
  const out = path.join(folder, 'b.wav');
  const ran = await dramatis('say', 'Hm.', '--character', 'alice', '--out', out, '--format', 'fbx');
  expect(ran).toMatchObject({ status: 2, stderr: expect.stringContaining('oculus, rhubarb, arkit') });
});
