import { existsSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { readTestData } from '../../eval/speechrole/data/test-data.ts';
import type { ProbeResult } from '../../eval/speechrole/judging/judge-check.ts';
import { metricKeys } from '../../eval/speechrole/judging/metrics.ts';
import { openProbeSpeech } from '../../eval/speechrole/judging/probe-speech.ts';
import { probes } from '../../eval/speechrole/judging/probes.ts';
import { readWav } from '../../voices/dsp/wav.ts';
import { openJudgeServer, type JudgeServerOptions } from '../fakes/servers/judge-server.ts';
import { makeJudgedSet } from './judged-set.ts';
import { evaluate, runOf } from '../rigs/eval-rig.ts';
import { openScratch } from './scratch.ts';

async function check(
  data: string,
  options: JudgeServerOptions,
  more: readonly string[] = [],
): Promise<{ status: number; passed: Record<string, boolean>; questions: number }> {
  await using judge = await openJudgeServer(options);
  const where = [
    '--data',
    data,
    '--out',
    path.join(data, 'check'),
    '--judge',
    `${judge.url}/v1`,
    '--judge-model',
    'ear',
  ];
  const { status } = await evaluate(['judge-check', ...where, '--dialogues', '5', ...more]);
  const out = more[more.indexOf('--out') + 1] ?? '';
  const place = more.includes('--out') ? out : path.join(data, 'check');
  const results = JSON.parse(await readFile(path.join(place, 'check.json'), 'utf8')) as ProbeResult[];
  const passed = Object.fromEntries(results.map(({ probe, passed }) => [probe.name, passed]));
  return { status, passed, questions: judge.answered };
}

/** A perfect judge, which knows the role of each recording. */
async function expert(data: string): Promise<NonNullable<JudgeServerOptions['scores']>> {
  const { samples } = await readTestData(data);
  const known = new Map<string, string>();
  for (const { group, target } of samples) {
    for (const { speech } of target.turns) known.set(await soundOf(await readFile(speech ?? '')), group);
  }
  // What the synthetic voice says for the reference: the same in all dialogues of a language.
  const speech = openProbeSpeech(path.join(data, 'check', 'spoken'));
  await speech.close();
  const places = new Set(
    samples.flatMap(({ target, input: { language } }) =>
      target.turns.map(({ text }) => speech.pathOf({ text, language })),
    ),
  );
  const sounds = new Map<string, string>();
  return (clips, prompt) => {
    const spoken = [...places].filter(existsSync).map((place) => soundIn(readFileSync(place)));
    if (clips.every((clip) => spoken.includes(soundIn(Buffer.from(clip, 'base64'))))) return 9;
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
  return soundIn(wav);
}

/** The samples: all recordings have 16 kHz, so that no protocol resamples them. */
function soundIn(wav: Buffer): string {
  return wav.subarray(44).toString('base64');
}

describe('judge check', () => {
  it.each(['dramatis', 'v1', 'v2'])('a judge that listens passes every probe, by protocol %s', async (protocol) => {
    await using scratch = await openScratch();
    const { data } = await makeJudgedSet(scratch.path, 3);
    const { status, passed } = await check(data, { scores: await expert(data) }, ['--protocol', protocol]);
    expect(Object.values(passed)).toEqual(Array.from({ length: 11 }, () => true));
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
      'other-speaker': false,
      assistant: false,
      'opposite-temper': false,
      'wrong-fact': false,
      'wrong-feeling': false,
    });
    expect(status).toBe(1);
  });

  it('each probe is judged only on the metric that should reveal its alteration, in both orders', async () => {
    await using scratch = await openScratch();
    const { data } = await makeJudgedSet(scratch.path, 3);
    const { questions } = await check(data, { scoredBy: 'deaf' });
    expect(questions).toBe(5 * 11 * 2);
    expect(new Set(probes.map(({ metric }) => metric)).size).toBe(metricKeys.length);
  });

  it('a judge that always prefers the first is detected', async () => {
    await using scratch = await openScratch();
    const { data } = await makeJudgedSet(scratch.path, 3);
    const { passed } = await check(data, { scoredBy: 'deaf', firstBonus: 3 });
    expect(passed['silence']).toBe(false);
    expect(passed['itself']).toBe(true);
  });

  it('a run whose judge has passed a check says so; every table of another is headed by “judge not checked”', async () => {
    await using scratch = await openScratch();
    const set = await makeJudgedSet(scratch.path, 3);
    const options = { scores: await expert(set.data) };
    await check(set.data, options, ['--protocol', 'v2']);
    const passed = path.join(set.data, 'check');
    await using judge = await openJudgeServer(options);
    const at = (name: string): string => path.join(scratch.path, name);
    const run = async (name: string, more: readonly string[]): Promise<string> => {
      const { printed } = await evaluate(runOf(set, judge.url, at(name), ['--limit', '1', ...more]));
      await evaluate(['report', at(name)]);
      await evaluate(['export', at(name), '--format', 'latex']);
      const board = (await evaluate(['leaderboard', at(name)])).printed;
      const compared = (await evaluate(['compare', at(name), at(name)])).printed;
      const files = ['report.html', 'table.tex'].map((file) => readFileSync(path.join(at(name), file), 'utf8'));
      const tables = [printed, board, compared, ...files];
      return tables.map((text) => (/judge not checked/i.test(text) ? 'no' : 'yes')).join(' ');
    };
    expect(await run('unchecked', ['--protocol', 'v2'])).toBe('no no no no no');
    expect(await run('checked', ['--protocol', 'v2', '--judge-check', passed])).toBe('yes yes yes yes yes');
    const refused = async (more: readonly string[]) => evaluate(runOf(set, judge.url, at('refused'), more));
    expect(await refused(['--protocol', 'v1', '--judge-check', passed])).toMatchObject({
      status: 2,
      printed: expect.stringMatching(/another v[12]\.txt/),
    });
    const other = ['--protocol', 'v2', '--judge-model', 'nose', '--judge-check', passed];
    expect(await refused(other)).toMatchObject({
      status: 2,
      printed: expect.stringContaining('is for the judge ear, not for nose'),
    });
    await check(set.data, { scoredBy: 'deaf' }, ['--protocol', 'v1', '--out', at('failed')]);
    expect(await refused(['--protocol', 'v1', '--judge-check', at('failed')])).toMatchObject({
      status: 2,
      printed: expect.stringContaining('did not pass silence'),
    });
    expect(await refused(['--judge-check', at('nowhere')])).toMatchObject({
      status: 2,
      printed: expect.stringContaining('no finished check'),
    });
  });
});
