import { readdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import type { Dialogue } from '../../../../eval/construction/records/dialogue.ts';
import { speechPipeline, type Recording } from '../../../../eval/construction/speech/pipeline.ts';
import { speechQuality } from '../../../../eval/construction/speech/quality.ts';
import type { SpeechStudio } from '../../../../eval/construction/speech/studio.ts';
import { faultsOf } from '../../../../eval/construction/speech/take.ts';
import { openEndpoint } from '../../../../eval/limits.ts';
import { readTestData } from '../../../../eval/speechrole/data/test-data.ts';
import { wavBytes } from '../../../../voices/dsp/wav.ts';
import { EngineError } from '../../../../voices/engine.ts';
import type { SpeechSynthesizer, Voice } from '../../../../voices/synthesizer.ts';
import { buzz, fakeSpeakerEncoder } from '../../../fakes/speaker-encoder.ts';
import { openScratch } from '../../scratch.ts';
import { build, filesOf, hurriedClock, jsonLines } from '../rig/build-rig.ts';
import { scriptedModel } from '../rig/scripted-model.ts';
import { spokenDialogues, writeDialogues } from './spoken-set.ts';

const bounds = { mostErrors: 0.3, leastQuality: 2.5, leastSimilarity: 0.3 };
const own = { pitch: 120, formants: [500, 1500] };
const other = { pitch: 240, formants: [900, 2600] };

/** An engine whose takes differ: `takeOf` says how long each one is, and in whose voice. */
function studioOf(
  takeOf: (text: string, take: number) => { readonly ms: number; readonly sound?: typeof own; readonly heard?: string },
  voice: Voice = { kind: 'preset', id: 'one' },
): SpeechStudio & { readonly spoken: string[] } {
  const spoken: string[] = [];
  const sounds = new Map<number, string>();
  const synthesizer: SpeechSynthesizer = {
    name: 'takes',
    sampleRate: 24_000,
    languages: ['en', 'zh'],
    async *speak(phrases) {
      let text = '';
      for await (const phrase of phrases) text += phrase.text;
      const take = spoken.filter((before) => before === text.trim()).length;
      spoken.push(text.trim());
      const { ms, sound = own, heard = text } = takeOf(text.trim(), take);
      const samples = buzz(ms, sound);
      sounds.set(Math.round(ms), heard);
      yield { text, frame: { samples, sampleRate: 24_000, atMs: 0 } };
    },
  };
  return {
    spoken,
    voiceOf: () => ({ synthesizer, voice }),
    encoder: fakeSpeakerEncoder(),
    recognizer: {
      name: 'by-length',
      sampleRate: 24_000,
      languages: ['en'],
      async *transcribe(audio) {
        let count = 0;
        for await (const { samples } of audio) count += samples.length;
        const ms = [...sounds.keys()].toSorted((a, b) => Math.abs(a - count / 24) - Math.abs(b - count / 24))[0] ?? 0;
        yield { type: 'transcript-final', text: sounds.get(ms) ?? '' };
      },
    },
  };
}

function pipelineOf(input: string, studio: SpeechStudio, more: { retakes?: number; references?: number } = {}) {
  const endpoint = openEndpoint('speech', { concurrency: 2, retries: 2 }, { clock: hurriedClock(), random: () => 0.5 });
  return speechPipeline({ input, studio, endpoint, bounds, retakes: 3, references: 1, ...more });
}

const noModel = scriptedModel({});

it('both sides of a dialogue are spoken whole, without stage directions, and read by the benchmark of the paper', async () => {
  await using scratch = await openScratch();
  const input = await writeDialogues(scratch.path);
  const out = path.join(scratch.path, 'out');
  const studio = studioOf((text) => ({ ms: 1_500 + 10 * text.length }));
  const report = await build(pipelineOf(input, studio), out, noModel);
  expect(report.stages[0]).toMatchObject({ in: 2, out: 2, failed: 0 });
  expect(studio.spoken).toContain('The train was late, so I took a cab.');
  expect((await filesOf(out)).get('README.md')).toContain('# Built by `dramatis data speak`');
  const rows = jsonLines<Recording>((await filesOf(out)).get('recordings.jsonl'));
  expect(rows.map(({ file }) => file)).toEqual([
    'speech/train_single/holmes/holmes_0_0_user.wav',
    'speech/train_single/holmes/holmes_0_0_role.wav',
    'speech/test_single/holmes/holmes_0_0_user.wav',
    'speech/test_single/holmes/holmes_0_0_role.wav',
  ]);
  expect(rows.every(({ errors, faults }) => errors?.edits === 0 && faults.length === 0)).toBe(true);
  const { samples, problems } = await readTestData(out);
  expect(samples.map(({ id }) => id)).toEqual(['single/holmes/0']);
  expect(problems).toEqual([expect.stringContaining('multi_turn')]);
});

it('a recording with a fault is made again, the best take is kept, and one that stays bad is listed', async () => {
  await using scratch = await openScratch();
  const input = await writeDialogues(scratch.path);
  const out = path.join(scratch.path, 'out');
  const studio = studioOf((text, take) => {
    // The first take of this question is cut off; all takes of this answer are heard as something else.
    if (text.startsWith('Why')) return { ms: take === 0 ? 300 : 2_000 };
    if (text.startsWith('I trust'))
      return { ms: 2_300 + take * 100, heard: take === 1 ? 'I trust no one in a mask' : 'no' };
    return { ms: 2_700 + 10 * text.length };
  });
  await build(pipelineOf(input, studio), out, noModel);
  const files = await filesOf(out);
  const rows = jsonLines<Recording>(files.get('recordings.jsonl'));
  expect(rows.map(({ takes }) => takes)).toEqual([2, 1, 1, 4]);
  const faulty = jsonLines<Recording>(files.get('faulty.jsonl'));
  expect(faulty).toEqual([rows[3]]);
  expect(rows[3]).toMatchObject({ heard: 'I trust no one in a mask', faults: ['heard as another text'] });
  expect(await speechQuality(out)).toMatchObject([
    { side: 'role', recordings: 2, retaken: 1, faulty: 1, dnsmos: null, rated: 0 },
    { side: 'user', recordings: 2, retaken: 1, faulty: 0 },
  ]);
});

it('an engine that makes the same sound each time is not asked for all retakes', async () => {
  await using scratch = await openScratch();
  const input = await writeDialogues(scratch.path, spokenDialogues.slice(0, 1));
  const studio = studioOf(() => ({ ms: 300 }));
  const report = await build(pipelineOf(input, studio), path.join(scratch.path, 'out'), noModel);
  expect(studio.spoken).toHaveLength(4);
  expect(report.stages[0]?.counted).toMatchObject({ 'a retake was the same sound': 2 });
});

it('a cloned voice is compared with its clip, and a take in another voice is made again', async () => {
  await using scratch = await openScratch();
  const input = await writeDialogues(scratch.path, spokenDialogues.slice(0, 1));
  const wavPath = path.join(scratch.path, 'clip.wav');
  await writeFile(wavPath, await wavBytes(buzz(4_000, own), 24_000));
  const clip = { kind: 'reference', wavPath, transcript: 'hum', language: 'en', consent: 'by letter' } as const;
  const studio = studioOf((_, take) => ({ ms: 2_500 + take, sound: take === 0 ? other : own }), clip);
  await build(pipelineOf(input, studio), path.join(scratch.path, 'out'), noModel);
  const rows = jsonLines<Recording>((await filesOf(path.join(scratch.path, 'out'))).get('recordings.jsonl'));
  expect(rows.map(({ takes }) => takes)).toEqual([2, 2]);
  expect(rows.every(({ similarity }) => similarity !== null && similarity > 0.9)).toBe(true);
});

it('what could not be measured is null and counted, and is no fault', async () => {
  await using scratch = await openScratch();
  const chinese = spokenDialogues.slice(0, 1).map((each) => ({ ...each, language: 'zh' as const }));
  const input = await writeDialogues(scratch.path, chinese);
  const out = path.join(scratch.path, 'out');
  await build(pipelineOf(input, { ...studioOf(() => ({ ms: 4_000 })), encoder: undefined }), out, noModel);
  const [side] = await speechQuality(out);
  expect(side).toMatchObject({ language: 'zh', wer: null, heard: 0, dnsmos: null, similarity: null, faulty: 0 });
});

it('a build of speech that is repeated makes no recording again, but one whose file is gone', async () => {
  await using scratch = await openScratch();
  const input = await writeDialogues(scratch.path);
  const out = path.join(scratch.path, 'out');
  // Each line has its own length, and so its own sound.
  const takeOf = (text: string) => ({ ms: 1_500 + 10 * text.length + (text.startsWith('I') ? 5 : 0) });
  const first = studioOf(takeOf);
  await build(pipelineOf(input, first, { references: 3 }), out, noModel);
  expect(first.spoken).toHaveLength(6);
  const files = await filesOf(out);
  const second = studioOf(takeOf);
  await build(pipelineOf(input, second, { references: 3 }), out, noModel);
  expect([second.spoken, await filesOf(out)]).toEqual([[], files]);
  const held = jsonLines<Dialogue>(files.get('dialogues.jsonl'))[1];
  expect(held?.turns[1]?.moreAudio).toHaveLength(2);

  const takes = path.join(out, 'takes');
  for (const name of await readdir(takes)) await rm(path.join(takes, name));
  const third = studioOf(takeOf);
  await build(pipelineOf(input, third, { references: 3 }), out, noModel);
  // The three references of one answer are the same sound.
  expect([third.spoken.length, await filesOf(out)]).toEqual([4, files]);
});

it('an engine that is down leaves its dialogues for the next run of the same command', async () => {
  await using scratch = await openScratch();
  const input = await writeDialogues(scratch.path);
  const out = path.join(scratch.path, 'out');
  const studio = studioOf((text) => {
    if (text.startsWith('Do you')) throw new EngineError('takes', 'ENGINE_UNAVAILABLE', 'it is down');
    return { ms: 2_500 };
  });
  const report = await build(pipelineOf(input, studio), out, noModel);
  expect(report.stages[0]).toMatchObject({ in: 2, out: 1, failed: 1 });
  const whole = await build(
    pipelineOf(
      input,
      studioOf(() => ({ ms: 2_500 })),
    ),
    out,
    noModel,
  );
  expect(whole.stages[0]).toMatchObject({ out: 2, failed: 0 });
});

it('a recording of 8 words is too short below 1 s and too long above 14 s', () => {
  const line = { text: 'one two three four five six seven eight', language: 'en' } as const;
  const at = (seconds: number) =>
    faultsOf({ seconds, heard: null, errors: null, dnsmos: null, similarity: null }, line, bounds);
  expect([at(0.99), at(1), at(14), at(14.1)]).toEqual([['too short for its text'], [], [], ['too long for its text']]);
});
