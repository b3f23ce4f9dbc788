import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { openCues } from '../../eval/cues/cue-scorer.ts';
import { pitchCue } from '../../eval/cues/pitch.ts';
import { rateCue } from '../../eval/cues/rate.ts';
import { similarityCue } from '../../eval/cues/similarity.ts';
import { cosine } from '../../voices/speaker-encoder.ts';
import { werCue, wordErrors } from '../../eval/cues/wer.ts';
import { readRun } from '../../eval/speechrole/run-view.ts';
import { summarizeRun } from '../../eval/speechrole/summary/summary.ts';
import { writeWav } from '../../voices/dsp/wav.ts';
import { fakeRecognizer } from '../fakes/recognizer.ts';
import { makeJudgedSet } from './judged-set.ts';
import { evaluate } from '../rigs/eval-rig.ts';
import { openScratch } from './scratch.ts';

const options = { signal: new AbortController().signal };

/** A rough voice: harmonics of a pitch, loud for part of the time. */
function voice(hertz: number, seconds: number, loud: (second: number) => boolean = () => true) {
  const samples = Float32Array.from({ length: seconds * 16_000 }, (_, at) => {
    const second = at / 16_000;
    if (!loud(second)) return 0;
    return [1, 2, 3].reduce(
      (sum, harmonic) => sum + (0.2 / harmonic) * Math.sin(2 * Math.PI * hertz * harmonic * second),
      0,
    );
  });
  return { samples, sampleRate: 16_000, atMs: 0 };
}
const dialogue = (...replies: { sound: ReturnType<typeof voice>; text: string }[]) => ({
  role: 'Thor',
  language: 'en' as const,
  replies,
});

describe('measured cues', () => {
  it('pitch, and its drift from the first reply to the last, are measured', async () => {
    const { values } = await pitchCue.measure(
      dialogue({ sound: voice(110, 1), text: 'a' }, { sound: voice(220, 1), text: 'b' }),
      options,
    );
    expect(values['medianHz']).toBeCloseTo(165, 0);
    expect(values['drift']).toBeCloseTo(12, 1);
    expect(values['spread']).toBeLessThan(0.2);
    const silent = await pitchCue.measure(dialogue({ sound: voice(110, 1, () => false), text: '' }), options);
    expect(silent).toMatchObject({ values: { medianHz: null, drift: null }, why: 'no voiced sound' });
  });

  it('the speaking rate is measured without surrounding silence, and pauses are counted', async () => {
    const loud = (second: number): boolean => (second > 1 && second < 2) || (second > 2.5 && second < 3);
    const { values } = await rateCue.measure(
      dialogue({ sound: voice(150, 4, loud), text: 'one two three four' }),
      options,
    );
    expect(values['perSecond']).toBeCloseTo(2, 0);
    expect(values['pauses']).toBeCloseTo(0.25, 1);
  });

  it.each([
    ['Good evening, my friend.', 'good evening my friend', 'en', 0, 4],
    ["I don't know!", 'I do not know', 'en', 2, 3],
    ['One two three', 'one three', 'en', 1, 3],
    ['俺老孙来也。', '俺老孙来了', 'zh', 1, 5],
    ['', 'noise', 'en', 1, 0],
  ] as const)('word errors of %j heard as %j are counted', (said, heard, language, edits, units) => {
    expect(wordErrors(said, heard, language)).toEqual({ edits, units });
  });

  it('a cue without a value has a reason', async () => {
    const cue = werCue(fakeRecognizer(['good evening']));
    const heard = await cue.measure(dialogue({ sound: voice(150, 1), text: 'Good evening, Sir.' }), options);
    expect(heard.values).toEqual({ mean: 1 / 3, corpus: 1 / 3 });
    const chinese = await cue.measure({ ...dialogue({ sound: voice(150, 1), text: '你好' }), language: 'zh' }, options);
    expect(chinese).toMatchObject({ values: { mean: null }, why: expect.stringContaining('Chinese') });
    await expect(openCues({ names: ['loudness'] }, options)).rejects.toMatchObject({ code: 'eval_usage' });
  });

  it('speaker similarity is measured against the role’s clip', async () => {
    await using scratch = await openScratch();
    await writeWav(path.join(scratch.path, 'Thor.wav'), voice(100, 1).samples, 16_000);
    const encoder = {
      name: 'pitch-as-voice',
      sampleRate: 16_000,
      dimensions: 2,
      embed: (clip: { readonly samples: Float32Array }) => {
        const crossings = clip.samples.filter((value, at) => value >= 0 !== (clip.samples[at - 1] ?? 0) >= 0).length;
        return Promise.resolve(Float32Array.of(Math.cos(crossings / 400), Math.sin(crossings / 400)));
      },
    };
    const cue = similarityCue(encoder, scratch.path);
    const same = await cue.measure(dialogue({ sound: voice(100, 1), text: '' }), options);
    const other = await cue.measure(dialogue({ sound: voice(300, 1), text: '' }), options);
    expect(same.values['toReference']).toBeCloseTo(1, 2);
    expect(other.values['toReference']).toBeLessThan(0.9);
    const nobody = await cue.measure({ ...dialogue({ sound: voice(100, 1), text: '' }), role: 'Loki' }, options);
    expect(nobody).toMatchObject({ values: { toReference: null }, why: 'there is no clip of Loki' });
    expect(cosine(Float32Array.of(0, 0), Float32Array.of(1, 0))).toBe(0);
  });

  it('cues are in the run, its summary and its report, including those that could not be measured', async () => {
    await using scratch = await openScratch();
    const set = await makeJudgedSet(scratch.path, 2);
    const out = path.join(scratch.path, 'run');
    const where = ['--data', set.data, '--outputs', set.outputs, '--out', out];
    const { status } = await evaluate(['run', ...where, '--cues', 'pitch,rate,dnsmos,similarity']);
    expect(status).toBe(0);
    const { cues } = summarizeRun(await readRun(out));
    expect(cues.find(({ name }) => name === 'pitch.medianHz')).toMatchObject({ n: 8, missing: {} });
    expect(cues.find(({ name }) => name === 'dnsmos.overall')).toMatchObject({
      value: null,
      n: 0,
      missing: { 'no DNSMOS: name its file with --dnsmos-model': 8 },
    });
    expect((await evaluate(['rescore', out])).printed).toContain('--speaker-model');
  });
});
