import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readRoleClips } from '../../../../eval/speechrole/data/character-packs.ts';
import { settledRole } from '../../../../eval/construction/role-voices/choose.ts';
import type { ListeningStudio } from '../../../../eval/construction/role-voices/clips.ts';
import { roleVoicesPipeline, type RoleVoicesOptions } from '../../../../eval/construction/role-voices/pipeline.ts';
import { separatorOf } from '../../../../eval/construction/role-voices/separate.ts';
import { parseSubtitles, subtitlesWithin } from '../../../../eval/construction/role-voices/subtitles.ts';
import { openPrompts } from '../../../../eval/construction/runner/prompts.ts';
import { concatSamples } from '../../../../voices/audio.ts';
import { trackPitch } from '../../../../voices/dsp/pitch.ts';
import { median } from '../../../../voices/dsp/statistics.ts';
import { readWav, wavBytes } from '../../../../voices/dsp/wav.ts';
import type { SpeakerEncoder } from '../../../../voices/speaker-encoder.ts';
import { openFlite } from '../../../../voices/synthesizers/flite.ts';
import { openSilero } from '../../../../voices/vads/silero.ts';
import { spoken } from '../../../fakes/spoken.ts';
import { openScratch } from '../../scratch.ts';
import { build, filesOf, jsonLines } from '../rig/build-rig.ts';
import { scriptedModel, type Answers } from '../rig/scripted-model.ts';

const lines = [
  ['slt', 'My dear King, I have kept the photograph all this time, as you may well suppose.'],
  ['rms', 'Miss Adler, I must have that photograph before the day of my wedding comes.'],
  ['slt', 'You will not find it here, though you may search this house from door to door.'],
  ['rms', 'Then I shall send for the one man in London who is able to find it for me.'],
] as const;

const flite = openFlite();
const vad = openSilero();
let scene: Float32Array;
let subtitles = '';

beforeAll(async () => {
  const parts: Float32Array[] = [];
  let ms = 0;
  for (const [at, [id, text]] of lines.entries()) {
    const said = await spoken(text, { synthesizer: flite, voice: { kind: 'preset', id } });
    const pause = new Float32Array(1.5 * flite.sampleRate);
    const time = (value: number): string => new Date(value).toISOString().slice(11, 23).replace('.', ',');
    const length = (said.length / flite.sampleRate) * 1000;
    subtitles += `${at + 1}\n${time(ms)} --> ${time(ms + length)}\n<i>${text}</i>\n\n`;
    ms += length + 1_500;
    parts.push(said, pause);
  }
  scene = concatSamples(parts);
}, 60_000);

afterAll(async () => {
  await Promise.all([flite.close(), vad.close?.()]);
});

/** Tells a high voice from a low one. */
const byPitch: SpeakerEncoder = {
  name: 'by-pitch',
  sampleRate: 16_000,
  dimensions: 2,
  async embed({ samples, sampleRate }) {
    const hertz = median([...trackPitch(samples, sampleRate).hertz].filter((value) => value > 0));
    return Float32Array.from(hertz > 140 ? [1, 0] : [0, 1]);
  },
};

function studio(): ListeningStudio & { readonly heard: () => number } {
  let heard = 0;
  return {
    vad,
    encoder: byPitch,
    heard: () => heard,
    recognizer: {
      name: 'words',
      sampleRate: 16_000,
      languages: ['en'],
      async *transcribe() {
        heard += 1;
        yield { type: 'transcript-final', text: `words of clip ${heard}` };
      },
    },
  };
}

const adler = { character: 'Miss Adler', quotes: ['I have kept the photograph'] };
const king = { character: 'King of Bohemia', quotes: ['that photograph before the day'] };

/** The numbers of the two speakers, by what they say. */
function numbersIn(text: string): { readonly adler: string; readonly king: string } {
  const of = (words: string): string => new RegExp(`speaker (\\d+)[^\\n]*${words}`).exec(text)?.[1] ?? '';
  return { adler: of('kept the photograph'), king: of('day of my wedding') };
}

function answers(second: (numbers: ReturnType<typeof numbersIn>) => object): Answers {
  return {
    'identify-1': ({ messages }) => {
      const numbers = numbersIn(messages[1]?.content ?? '');
      return { speakers: { [numbers.adler]: adler, [numbers.king]: king } };
    },
    'identify-2': ({ messages }) => ({ speakers: second(numbersIn(messages[1]?.content ?? '')) }),
  };
}

async function options(scratch: string, more: Partial<RoleVoicesOptions> = {}): Promise<RoleVoicesOptions> {
  const input = path.join(scratch, 'film');
  await mkdir(input, { recursive: true });
  await writeFile(path.join(input, 'scene.wav'), await wavBytes(scene, flite.sampleRate));
  await writeFile(path.join(input, 'scene.srt'), subtitles);
  const cast = path.join(scratch, 'cast.json');
  const roles = [{ name: 'Irene Adler', aliases: ['Miss Adler'], key: 'adler' }, { name: 'King of Bohemia' }];
  await writeFile(cast, JSON.stringify({ work: 'A Scandal in Bohemia', roles }));
  const common = { studio: studio(), promptOf: openPrompts(), leastQuality: 2.5, decided: new Map<string, number>() };
  return { input: [input], cast, ...common, ...more };
}

it('speakers of a scene are distinguished, named by two models that agree, and get a reference each', async () => {
  await using scratch = await openScratch();
  const out = path.join(scratch.path, 'out');
  const script = answers((numbers) => ({ [numbers.adler]: adler, [numbers.king]: king }));
  const asked = await options(scratch.path);
  const report = await build(roleVoicesPipeline(asked), out, scriptedModel(script));
  expect(report.stages.find(({ stage }) => stage === 'speakers')?.counted).toEqual({ speaker: 2 });
  const files = await filesOf(out);
  const clips = jsonLines<{ role: string; rank: number; subtitle: string; typical: number }>(files.get('clips.jsonl'));
  expect(clips.map(({ role, rank }) => `${role} ${rank}`).toSorted()).toEqual([
    'Irene Adler 1',
    'Irene Adler 2',
    'King of Bohemia 1',
    'King of Bohemia 2',
  ]);
  for (const { role, subtitle } of clips)
    expect(subtitle).toMatch(
      role === 'Irene Adler' ? /^(?:My dear King|You will not)/ : /^(?:Miss Adler|Then I shall)/,
    );
  const sound = await readWav(path.join(out, 'role_voices', 'adler.wav'));
  expect(sound.sampleRate).toBe(16_000);
  expect(sound.samples.length).toBeGreaterThan(3 * 16_000);
  // `data speak` and the benchmark read the folder.
  const roles = ['adler', 'King of Bohemia'].map((role) => ({ input: { role, language: 'en' as const } }));
  expect([...(await readRoleClips(path.join(out, 'role_voices'), roles)).keys()]).toEqual(['adler', 'King of Bohemia']);

  const again = { ...asked, studio: studio() };
  const model = scriptedModel(script);
  await build(roleVoicesPipeline(again), out, model);
  expect([model.calls, again.studio.heard(), await filesOf(out)]).toEqual([[], 0, files]);
}, 60_000);

it('a speaker on whom the models do not agree is a question to people, whose answer counts', async () => {
  await using scratch = await openScratch();
  const out = path.join(scratch.path, 'out');
  // The second model invents a quote for one speaker, and takes the other for nobody of the cast.
  const script = answers((numbers) => ({
    [numbers.adler]: { character: 'Irene Adler', quotes: ['I love you, Godfrey'] },
    [numbers.king]: { ...king, character: 'Sherlock Holmes' },
  }));
  const asked = await options(scratch.path);
  const report = await build(roleVoicesPipeline(asked), out, scriptedModel(script));
  const second = report.stages.find(({ stage }) => stage === 'identify-2');
  expect(second?.counted).toEqual({ 'opinion for nobody of the cast': 1, 'opinion without a quote from the lines': 1 });
  const open = JSON.parse(await readFile(path.join(out, 'decide.json'), 'utf8')) as {
    speaker: number;
    opinions: (string | null)[];
    clips: { file: string; text: string }[];
  }[];
  expect(open.map(({ opinions }) => opinions.join()).toSorted()).toEqual(['Irene Adler,', 'King of Bohemia,']);
  expect((await readWav(path.join(out, open[0]?.clips[0]?.file ?? ''))).samples.length).toBeGreaterThan(24_000);
  const speaker = open.find(({ opinions }) => opinions[0] === 'Irene Adler')?.speaker ?? 0;
  const decided = new Map([['Irene Adler', speaker]]);
  await build(roleVoicesPipeline({ ...asked, decided }), out, scriptedModel(script));
  expect(
    Object.keys(JSON.parse(await readFile(path.join(out, 'role_voices', 'audios_text.json'), 'utf8')) as object),
  ).toEqual(['adler']);
}, 60_000);

it('a separator of the user runs once for each recording, and what it wrote is cut', async () => {
  await using scratch = await openScratch();
  const [out, script] = [path.join(scratch.path, 'out'), path.join(scratch.path, 'separate.mjs')];
  // Keeps the first two lines of the scene, and tells how often it ran.
  const seconds = scene.length / flite.sampleRate / 2;
  await writeFile(
    script,
    `import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
    const [from, to] = process.argv.slice(2);
    const whole = readFileSync(from);
    const bytes = Buffer.from(whole.subarray(0, 44 + ${Math.floor(seconds * flite.sampleRate) * 2}));
    bytes.writeUInt32LE(bytes.length - 44, 40);
    writeFileSync(to, bytes);
    appendFileSync(${JSON.stringify(path.join(scratch.path, 'runs'))}, 'x');`,
  );
  const separator = separatorOf(`${process.execPath} ${script} {in} {out}`);
  const asked = await options(scratch.path, { separator });
  const model = answers((numbers) => ({ [numbers.adler]: adler, [numbers.king]: king }));
  for (let run = 0; run < 2; run += 1) await build(roleVoicesPipeline(asked), out, scriptedModel(model));
  expect(await readFile(path.join(scratch.path, 'runs'), 'utf8')).toBe('x');
  const whole = await readWav(path.join(out, 'separated', 'scene.wav'));
  expect(whole.samples.length / whole.sampleRate).toBeCloseTo(seconds, 1);
  expect(jsonLines((await filesOf(out)).get('clips.jsonl'))).toHaveLength(2);
  expect(() => separatorOf('tool {in}')).toThrow(/\{out\}/);
}, 60_000);

it('without a speaker encoder the command says how to get one', async () => {
  await using scratch = await openScratch();
  const asked = await options(scratch.path, { studio: { ...studio(), encoder: undefined } });
  expect(() => roleVoicesPipeline(asked)).toThrow(/DRAMATIS_SPEAKER_ENCODER/);
});

it('only votes that agree count, and what people decided counts before them', () => {
  const votes = [
    { 1: 'A', 2: 'B', 3: null },
    { 1: 'A', 2: 'C', 3: 'C' },
  ] as const;
  expect([1, 2, 3].map((number) => settledRole(number, votes, new Map()))).toEqual(['A', undefined, undefined]);
  expect([1, 2].map((number) => settledRole(number, votes, new Map([['A', 2]])))).toEqual([undefined, 'A']);
});

it('subtitles of SubRip and WebVTT are read without markup, and given to the clip in whose time they mostly are', () => {
  const text =
    '1\r\n00:00:01,000 --> 00:00:03,000\r\n<i>Good</i>\r\nnight.\r\n\r\nWEBVTT\n\n01:02.500 --> 01:04.000\nMr. Holmes\n';
  const found = parseSubtitles(text);
  expect(found).toEqual([
    { startMs: 1_000, endMs: 3_000, text: 'Good night.' },
    { startMs: 62_500, endMs: 64_000, text: 'Mr. Holmes' },
  ]);
  expect([subtitlesWithin(found, 1_900, 9_000), subtitlesWithin(found, 2_100, 9_000)]).toEqual(['Good night.', '']);
});
