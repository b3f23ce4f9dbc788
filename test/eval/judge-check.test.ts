import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { readTestData } from '../../eval/speechrole/data/test-data.ts';
import type { ProbeResult } from '../../eval/speechrole/judging/judge-check.ts';
import { readWav } from '../../voices/dsp/wav.ts';
import { openJudgeServer, type JudgeServerOptions } from '../fakes/servers/judge-server.ts';
import { makeJudgedSet } from './judged-set.ts';
import { evaluate } from '../rigs/eval-rig.ts';
import { openScratch } from './scratch.ts';

async function check(
  data: string,
  options: JudgeServerOptions,
  more: readonly string[] = [],
): Promise<{ status: number; passed: Record<string, boolean> }> {
  await using scratch = await openScratch();
  await using judge = await openJudgeServer(options);
  const where = ['--data', data, '--out', scratch.path, '--judge', `${judge.url}/v1`, '--judge-model', 'ear'];
  const { status } = await evaluate(['judge-check', ...where, '--dialogues', '5', ...more]);
  const results = JSON.parse(await readFile(path.join(scratch.path, 'check.json'), 'utf8')) as ProbeResult[];
  return { status, passed: Object.fromEntries(results.map(({ probe, passed }) => [probe.name, passed])) };
}

/** A perfect judge, which knows the role of each recording. */
async function expert(data: string): Promise<NonNullable<JudgeServerOptions['scores']>> {
  const { samples } = await readTestData(data);
  const known = new Map<string, string>();
  for (const { group, target } of samples) {
    for (const { speech } of target.turns) known.set(await soundOf(await readFile(speech ?? '')), group);
  }
  const sounds = new Map<string, string>();
  return (clips, prompt) => {
    const isRight = clips.every((clip) => {
      const sound = sounds.get(clip) ?? Buffer.from(clip, 'base64').subarray(44).toString('base64');
      sounds.set(clip, sound);
      const role = known.get(sound);
      return role !== undefined && prompt.includes(`for ${role}?`);
    });
    return isRight ? 9 : 3;
  };
}

async function soundOf(wav: Buffer): Promise<string> {
  await readWav(wav);
  return wav.subarray(44).toString('base64');
}

describe('judge check', () => {
  it.each(['dramatis', 'v1', 'v2'])('a judge that listens passes every probe, by protocol %s', async (protocol) => {
    await using scratch = await openScratch();
    const { data } = await makeJudgedSet(scratch.path, 3);
    const { status, passed } = await check(data, { scores: await expert(data) }, ['--protocol', protocol]);
    expect(Object.values(passed)).toEqual([true, true, true, true, true, true]);
    expect(status).toBe(0);
  });

  it('a judge that ignores the audio is detected', async () => {
    await using scratch = await openScratch();
    const { data } = await makeJudgedSet(scratch.path, 3);
    const { status, passed } = await check(data, { scoredBy: 'deaf' });
    expect(passed).toEqual({
      itself: true,
      silence: false,
      noise: false,
      'another-role': false,
      truncated: false,
      shuffled: false,
    });
    expect(status).toBe(1);
  });

  it('a judge that always prefers the first is detected', async () => {
    await using scratch = await openScratch();
    const { data } = await makeJudgedSet(scratch.path, 3);
    const { passed } = await check(data, { scoredBy: 'deaf', firstBonus: 3 });
    expect(passed['silence']).toBe(false);
    expect(passed['itself']).toBe(true);
  });
});
