import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { concatSamples } from '../../../voices/audio.ts';
import type { Meter } from '../../../voices/calls/calls.ts';
import type { ReferenceVoice } from '../../../voices/synthesizer.ts';
import { openFlite } from '../../../voices/synthesizers/flite.ts';
import { shortenClip } from '../../../voices/synthesis/shorten-clip.ts';
import { openClips, type ClipRequirements } from '../../../voices/synthesis/reference-clip.ts';
import { readWav, writeWav } from '../../../voices/dsp/wav.ts';
import { silence, tone } from '../../fakes/vad.ts';
import { phrasesOf } from '../../fakes/spoken.ts';
import { keptForTests } from '../../rigs/voice-engine-rig.ts';

const { folder } = await keptForTests();
const { signal } = new AbortController();
const rate = 16_000;

/** Tones with pauses between them. */
function speech(spans: readonly number[], pauseMs = 300): Float32Array {
  return concatSamples(
    spans.flatMap((ms, index) => (index === 0 ? [tone(ms, rate)] : [silence(pauseMs, rate), tone(ms, rate)])),
  );
}

let written = 0;
async function voiceOf(samples: Float32Array, transcript: string): Promise<ReferenceVoice> {
  written += 1;
  const wavPath = path.join(folder, `martha-${written}.wav`);
  await writeWav(wavPath, samples, rate);
  return { kind: 'reference', id: 'martha', wavPath, transcript, language: 'en', consent: 'Martha said so' };
}

async function fitted(samples: Float32Array, transcript: string, wishes: ClipRequirements) {
  const meter: Meter = {};
  const voice = await voiceOf(samples, transcript);
  const clip = await openClips('mouth', wishes)(voice, { meter });
  return { clip, meter, voice };
}

const sentences = 'The kettle sings on the stove. Mind the step, if you please. I keep the house in order.';

describe('reference clip', () => {
  it('a reference clip that fits is used unchanged, and its use is logged with the consent', async () => {
    const samples = speech([4_000]);
    const { clip, meter, voice } = await fitted(samples, sentences, { mostSeconds: 10 });
    expect(clip).toMatchObject({ transcript: sentences, seconds: 4, sampleRate: rate, serverPath: '' });
    expect(meter.clone).toEqual({ voice: 'martha', consent: 'Martha said so' });
    const { id: _, ...nameless } = voice;
    await openClips('mouth')(nameless, { meter });
    expect(meter.clone?.voice).toBe(path.basename(voice.wavPath));
  });

  it('a reference clip is resampled to the engine’s rate', async () => {
    const { clip } = await fitted(speech([4_000]), sentences, { sampleRate: 24_000 });
    expect(clip).toMatchObject({ sampleRate: 24_000, seconds: 4 });
    expect(await readWav(clip.wav)).toMatchObject({ sampleRate: 24_000 });
  });

  it('a reference clip that is too long is cut in a pause, together with its transcript', async () => {
    const { clip } = await fitted(speech([4_000, 4_000, 4_000]), sentences, { mostSeconds: 10 });
    expect(clip.transcript).toBe('The kettle sings on the stove. Mind the step, if you please.');
    expect(clip.seconds).toBeGreaterThan(8.3);
    expect(clip.seconds).toBeLessThan(8.7);
    const short = await fitted(speech([4_000, 4_000, 4_000]), sentences, { mostSeconds: 6 });
    expect(short.clip.transcript).toBe('The kettle sings on the stove.');
  });

  it.each([
    ['without a pause', speech([12_000]), sentences],
    [
      'whose pause is in the middle of a word, for all that can be told',
      speech([300, 12_000]),
      'Constantinopolitans unquestionably deliberated interminably.',
    ],
  ])('a reference clip is refused rather than used in part: %s', async (_name, samples, transcript) => {
    const refused = fitted(samples, transcript, { leastSeconds: 3, mostSeconds: 10 });
    await expect(refused).rejects.toMatchObject({
      code: 'ENGINE_REFUSED',
      detail: expect.stringContaining('accepts 3 to 10 s'),
    });
  });

  it('a reference clip that is too short, or would become so, is refused', async () => {
    const wishes = { leastSeconds: 3, mostSeconds: 10 };
    const cut = fitted(speech([2_000, 12_000]), 'Mind the step. The kettle sings on the stove, and so do I.', wishes);
    await expect(cut).rejects.toMatchObject({ detail: expect.stringContaining('requires at least 3 s') });
    await expect(fitted(speech([2_000]), 'Mind it.', wishes)).rejects.toMatchObject({ code: 'ENGINE_REFUSED' });
  });

  it('a reference clip needs no transcript for an engine that needs none', async () => {
    const { clip } = await fitted(speech([4_000, 8_000]), '', { mostSeconds: 10 });
    expect(clip).toMatchObject({ transcript: '' });
    expect(clip.seconds).toBeCloseTo(4.15, 1);
  });

  it('a cut reference clip for a server that reads our disk is written beside the original', async () => {
    const wishes = { mostSeconds: 10, onServer: { directory: undefined } };
    const whole = await fitted(speech([4_000]), sentences, wishes);
    expect(whole.clip.serverPath).toBe(whole.voice.wavPath);
    const { clip, voice } = await fitted(speech([4_000, 4_000, 4_000]), sentences, wishes);
    expect(path.dirname(clip.serverPath)).toBe(folder);
    expect((await readWav(clip.serverPath)).samples.length / rate).toBeCloseTo(clip.seconds, 3);
    expect((await readWav(voice.wavPath)).samples.length / rate).toBeCloseTo(12.6, 3);
    expect((await readdir(folder)).filter((name) => name.endsWith('.tmp'))).toEqual([]);
  });

  it('a reference clip for a server with a folder of its own is named by its path there, and must fit', async () => {
    const wishes = { mostSeconds: 10, onServer: { directory: '/srv/clips' } };
    const { clip, voice } = await fitted(speech([4_000]), sentences, wishes);
    expect(clip.serverPath).toBe(`/srv/clips/${path.basename(voice.wavPath)}`);
    const long = fitted(speech([4_000, 8_000]), sentences, wishes);
    await expect(long).rejects.toMatchObject({ detail: expect.stringContaining('on the server') });
  });

  it('a reference clip is read once, and again after its file or transcript changed', async () => {
    const read = openClips('mouth');
    const voice = await voiceOf(speech([4_000]), sentences);
    const use = { meter: {} };
    const clip = await read(voice, use);
    expect(await read(voice, use)).toBe(clip);
    expect((await read({ ...voice, transcript: 'Mind the step.' }, use)).transcript).toBe('Mind the step.');
  });
});

describe('cutting real speech', () => {
  it('a cut reference clip keeps exactly the sentences that are still heard', async () => {
    const flite = openFlite();
    const parts = [
      'The kettle sings on the stove.',
      'Mind the step, if you please.',
      'I keep the house in good order.',
    ];
    const chunks = await Array.fromAsync(
      flite.speak(phrasesOf(...parts), { signal, voice: { kind: 'preset', id: 'rms' } }),
    );
    await flite.close();
    const samples = concatSamples(chunks.map(({ frame }) => frame.samples));
    const clip = { samples, sampleRate: flite.sampleRate, transcript: parts.join(' ') };
    const first = chunks.filter(({ text }) => parts[0]?.includes(text.trim()));
    const firstSeconds = first.reduce((sum, { frame }) => sum + frame.samples.length / frame.sampleRate, 0);
    const short = shortenClip(clip, firstSeconds + 0.4);
    expect(short?.transcript).toBe(parts[0]);
    expect((short?.samples.length ?? 0) / flite.sampleRate).toBeGreaterThan(firstSeconds - 0.5);
  });
});
