import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { concatSamples, durationMs } from '../../../voices/audio.ts';
import { adapter } from '../../../voices/sherpa/synthesizer.ts';
import type { SpeechChunk, SpeechSynthesizer } from '../../../voices/synthesizer.ts';
import { writeWav } from '../../../voices/dsp/wav.ts';
import { synthesizerConformance } from '../../conformance/synthesizer.ts';
import { alone } from '../../conformance/upstream.ts';
import { espeakData } from '../../fakes/models/espeak-data.ts';
import { isInstalled } from '../../fakes/models/installed.ts';
import { tinyPocket, tinyZipvoice } from '../../fakes/models/tiny-cloners.ts';
import { tinyFiles } from '../../fakes/models/tiny-model.ts';
import { tinyKokoro, tinyMatcha, tinyPiper, tinyPitches, tinyVits } from '../../fakes/models/tiny-synthesizers.ts';
import { tinyRules } from '../../fakes/models/tiny-rules.ts';
import { keptForTests, clipForTests, openEngine, say } from '../../rigs/voice-engine-rig.ts';
import { phrasesOf } from '../../fakes/spoken.ts';

const { folder, keep } = await keptForTests();

const open = (settings: Record<string, unknown>) => keep(openEngine(adapter, settings));

const kept = (engine: SpeechSynthesizer) => ({
  open: async () => alone(engine),
});

const lengthOf = (chunks: readonly SpeechChunk[]): number =>
  chunks.reduce((sum, { frame }) => sum + durationMs(frame), 0);

/** Frequency of a hum in hertz, by its zero crossings. */
function pitchOf(chunks: readonly SpeechChunk[]): number {
  const samples = concatSamples(chunks.map(({ frame }) => frame.samples));
  const rises = samples.filter((sample, index) => index > 0 && sample >= 0 && (samples[index - 1] ?? 0) < 0).length;
  return (rises * 1000) / lengthOf(chunks);
}

const vits = { family: 'vits', files: await tinyVits(tinyFiles(folder)) };
const [low = 0, high = 0] = tinyPitches;

describe.skipIf(!isInstalled('sherpa-onnx-node'))('with the optional package sherpa-onnx-node', async () => {
  synthesizerConformance({ title: 'sherpa-onnx, VITS', ...kept(open(vits)), voice: { kind: 'preset', id: '0' } });

  const dataDir = await espeakData(folder);
  const zipvoice =
    dataDir === undefined ? undefined : { family: 'zipvoice', files: await tinyZipvoice(tinyFiles(folder), dataDir) };
  const { voice, defaultClip } = await clipForTests();
  if (zipvoice !== undefined)
    synthesizerConformance({ title: 'sherpa-onnx, ZipVoice', ...kept(open({ ...zipvoice, defaultClip })), voice });

  const pocket = { family: 'pocket-tts', files: await tinyPocket(tinyFiles(folder)) };
  synthesizerConformance({ title: 'sherpa-onnx, Pocket-TTS', ...kept(open({ ...pocket, defaultClip })), voice });
  for (const [title, family, make] of [
    ['Piper', 'vits', tinyPiper],
    ['Kokoro', 'kokoro', tinyKokoro],
    ['Matcha', 'matcha', tinyMatcha],
  ] as const) {
    if (dataDir === undefined) continue;
    const settings = { family, files: await make(tinyFiles(folder), dataDir) };
    synthesizerConformance({
      title: `sherpa-onnx, ${title}`,
      ...kept(open(settings)),
      voice: { kind: 'preset', id: '0' },
    });
    it(`${title} speaks with its own voices`, async () => {
      const heard = [];
      for (const id of ['0', '1']) heard.push(pitchOf(await say(open(settings), { kind: 'preset', id })));
      const [first = 0, second = 0] = heard;
      expect(first).toBeCloseTo(low, -1);
      expect(second).toBeCloseTo(family === 'matcha' ? low : high, -1);
    });
  }

  describe('Pocket-TTS', () => {
    it('the voice of Pocket-TTS resembles the clip', async () => {
      const engine = open(pocket);
      for (const pitch of [180, 420]) {
        const wavPath = path.join(folder, `${pitch}.wav`);
        const turn = (2 * Math.PI * pitch) / 24_000;
        await writeWav(
          wavPath,
          Float32Array.from({ length: 72_000 }, (_, index) => 0.3 * Math.sin(index * turn)),
          24_000,
        );
        const heard = pitchOf(await say(engine, { ...voice, wavPath, transcript: '' }));
        expect(Math.abs(heard - pitch) / pitch).toBeLessThan(0.1);
      }
    });
  });

  /** Share of high frequencies: the energy of the sample differences over that of the samples. */
  function brightnessOf(chunks: readonly SpeechChunk[]): number {
    const samples = concatSamples(chunks.map(({ frame }) => frame.samples));
    const energy = (values: Float32Array): number => values.reduce((sum, value) => sum + value * value, 0);
    return energy(samples.map((sample, index) => sample - (samples[index - 1] ?? 0))) / energy(samples);
  }

  describe.skipIf(zipvoice === undefined)(
    'sherpa-onnx with a cloned voice (needs the optional package of eSpeak NG)',
    () => {
      it('the cloned voice of sherpa-onnx resembles the clip', async () => {
        const engine = open({ ...zipvoice, steps: 2 });
        const hiss = path.join(folder, 'hiss.wav');
        await writeWav(
          hiss,
          Float32Array.from({ length: 48_000 }, (_, index) => 0.3 * Math.sin(index * 1.9)),
          16_000,
        );
        const low = brightnessOf(await say(engine, voice));
        const high = brightnessOf(await say(engine, { ...voice, wavPath: hiss }));
        expect(high).toBeGreaterThan(2 * low);
      });

      it('sherpa-onnx reports a missing clip or transcript for cloning', async () => {
        const engine = open({ ...zipvoice });
        const refused = { code: 'ENGINE_REFUSED', detail: expect.stringContaining('references') };
        await expect(say(engine, { kind: 'preset', id: 'martha' })).rejects.toMatchObject(refused);
        const wordless = { code: 'ENGINE_REFUSED', detail: expect.stringContaining('transcript') };
        await expect(say(engine, { ...voice, transcript: '' })).rejects.toMatchObject(wordless);
      });
    },
  );

  describe('sherpa-onnx synthesizer', () => {
    it('the sherpa-onnx synthesizer uses the voice number, or the default for an unknown voice', async () => {
      const engine = open({ ...vits, defaultVoice: 1 });
      expect(pitchOf(await say(engine, { kind: 'preset', id: '0' }))).toBeCloseTo(low, -1);
      expect(pitchOf(await say(engine, { kind: 'preset', id: '1' }))).toBeCloseTo(high, -1);
      expect(pitchOf(await say(engine, { kind: 'preset', id: 'martha' }))).toBeCloseTo(high, -1);
      expect(pitchOf(await say(engine, { kind: 'preset', id: '99' }))).toBeCloseTo(low, -1);
    });

    it('the sherpa-onnx synthesizer speaks numbers and dates as words, by the rules of the model', async () => {
      const files = tinyFiles(folder);
      const dateRules = await files.write('date.fst', tinyRules('7', 'may5'));
      const numberRules = await files.write('number.fst', tinyRules('5', 'fifty'));
      const ruled = { ...vits, files: { ...vits.files, dateRules, numberRules } };
      const voice = { kind: 'preset', id: '0' } as const;
      const [bare, number, date] = [
        await say(open(vits), voice, { text: 'a 5.' }),
        await say(open(ruled), voice, { text: 'a 5.' }),
        await say(open(ruled), voice, { text: 'a 7.' }),
      ].map(lengthOf);
      // 80 ms for each letter; the rule of dates writes a number for that of numbers.
      expect((number ?? 0) - (bare ?? 0)).toBeCloseTo(80 * ('fifty'.length - 1), -1);
      expect((date ?? 0) - (bare ?? 0)).toBeCloseTo(80 * ('mayfifty'.length - 1), -1);
    });

    it('the sherpa-onnx synthesizer stops at once on an abort, and speaks the next reply normally', async () => {
      const engine = open(vits);
      const whole = lengthOf(await say(engine, { kind: 'preset', id: '0' }));
      const reason = new Error('the user spoke');
      for (let cut = 0; cut < 5; cut += 1) {
        const controller = new AbortController();
        const texts = phrasesOf('Good evening. How are you? It is late.', 'Mind the step.');
        const options = { signal: controller.signal, voice: { kind: 'preset', id: '0' } } as const;
        let late = 0;
        const speaking = (async () => {
          for await (const _chunk of engine.speak(texts, options)) {
            late += controller.signal.aborted ? 1 : 0;
            controller.abort(reason);
          }
        })();
        await expect(speaking).rejects.toBe(reason);
        expect(late).toBe(0);
        expect(lengthOf(await say(engine, { kind: 'preset', id: '0' }))).toBe(whole);
      }
    });

    it('the sherpa-onnx synthesizer follows the rate of the voice and the speed of the session', async () => {
      const engine = open(vits);
      const usual = lengthOf(await say(engine, { kind: 'preset', id: '0' }));
      const fast = lengthOf(await say(engine, { kind: 'preset', id: '0', rate: 1.25 }, { speed: 1.6 }));
      expect(fast / usual).toBeCloseTo(1 / 2, 1);
    });
  });
});
