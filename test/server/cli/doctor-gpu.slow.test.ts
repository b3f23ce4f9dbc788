import { expect, it } from 'vitest';
import type { GpuFinding } from '../../../server/gpu/trials.ts';
import { dramatis } from '../../rigs/command-rig.ts';

it('runs each model on each execution provider with doctor --gpu and compares the results', async () => {
  const { stdout } = await dramatis('doctor', '--gpu', '--json');
  const findings = JSON.parse(stdout) as GpuFinding[];
  expect(findings.map(({ model, provider }) => `${model} ${provider}`)).toEqual(
    ['silero', 'moonshine (encoder)'].flatMap((model) => ['cuda', 'webgpu', 'cpu'].map((each) => `${model} ${each}`)),
  );
  for (const { provider, ok, difference } of findings)
    if (provider === 'cpu') expect([ok, difference]).toEqual([true, 0]);
}, 120_000);
