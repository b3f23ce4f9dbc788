import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { openEngines } from '../../../server/engines/engines.ts';
import { writeSmallCampplus } from '../../fakes/models/small-models.ts';

it('reports which execution provider runs the speaker encoder after warm-up', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'dramatis-execution-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const { modelPath: speakerEncoder } = await writeSmallCampplus(path.join(folder, 'campplus.onnx'));
  const engines = await openEngines({ workers: 1, providers: ['cpu'], speakerEncoder });
  onTestFinished(() => engines.close());
  await engines.warm(new AbortController().signal);
  expect(engines.providers).toMatchObject({ speakers: 'cpu', silero: 'cpu' });
});
