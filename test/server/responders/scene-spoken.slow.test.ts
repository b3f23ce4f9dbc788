import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it, vi } from 'vitest';
import { run } from '../../../server/cli/scene.ts';
import type { AudioFrame } from '../../../voices/audio.ts';
import { trackPitch } from '../../../voices/dsp/pitch.ts';
import { openMoonshine } from '../../../voices/recognizers/moonshine.ts';
import { resample } from '../../../voices/dsp/resampler.ts';
import { readWav } from '../../../voices/dsp/wav.ts';
import { vadFrames } from '../../fakes/speech-frames.ts';
import { garden } from '../../rigs/scene-rig.ts';

interface Heard {
  readonly at: number;
  readonly name: string;
  readonly text: string;
}

/** Runs `dramatis scene`; returns what it printed of each turn, and the sound. */
async function played(turns: number): Promise<{ lines: Heard[]; samples: Float32Array; sampleRate: number }> {
  const folder = await mkdtemp(path.join(tmpdir(), 'dramatis-spoken-'));
  const printed: string[] = [];
  const log = vi.spyOn(console, 'log').mockImplementation((text: string) => void printed.push(text));
  const out = path.join(folder, 'scene.wav');
  try {
    expect(await run(['the-locked-garden', '--out', out, '--turns', String(turns)])).toBe(0);
    const lines = printed.flatMap((text) => {
      const [, minutes, seconds, name = '', said = ''] = /^(\d+):([\d.]+) ([^:]+): (.*)\n$/su.exec(text) ?? [];
      return minutes === undefined ? [] : [{ at: Number(minutes) * 60 + Number(seconds), name, text: said }];
    });
    return { lines, ...(await readWav(out)) };
  } finally {
    log.mockRestore();
    await rm(folder, { recursive: true });
  }
}

async function* framesOf(sound: Float32Array, sampleRate: number): AsyncGenerator<AudioFrame> {
  yield* vadFrames(sound, sampleRate);
}

function medianPitch(samples: Float32Array, sampleRate: number): number {
  const voiced = trackPitch(samples, sampleRate).hertz.filter((hertz) => hertz > 0);
  return voiced.toSorted()[Math.floor(voiced.length / 2)] ?? 0;
}

const wordsIn = (text: string): string[] => text.toLowerCase().match(/\p{L}+/gu) ?? [];

it('speaks a scene of three characters from one command with each turn at its time and in its voice', async () => {
  const { lines, samples, sampleRate } = await played(4);
  expect(lines.map(({ name }) => name)).toEqual(['Narrator', 'Sherlock Holmes', 'Alice', 'Abraham Lincoln']);
  const recognizer = openMoonshine({ workers: 1 });
  const pitches: number[] = [];
  for (const [at, line] of lines.entries()) {
    const end = lines[at + 1]?.at ?? samples.length / sampleRate;
    const slice = samples.slice(Math.round(line.at * sampleRate), Math.round(end * sampleRate));
    const sound = resample(slice, sampleRate, recognizer.sampleRate);
    pitches.push(medianPitch(slice, sampleRate));
    let text = '';
    for await (const part of recognizer.transcribe(framesOf(sound, recognizer.sampleRate), {
      signal: AbortSignal.timeout(60_000),
    }))
      text = part.text;
    const heard = new Set(wordsIn(text));
    // Without actions and thoughts, which are not spoken.
    const script = garden.scene.script[at]?.text ?? '';
    const spoken = wordsIn(script.replaceAll(/\([^)]*\)|\[[^\]]*\]/gu, ''));
    expect(spoken.filter((word) => heard.has(word)).length / spoken.length).toBeGreaterThan(0.7);
    for (const cue of ['kneels', 'shoes', 'closes', 'within']) expect([...heard]).not.toContain(cue);
  }
  await recognizer.close?.();
  const [narrator = 0, holmes = 0, alice = 0, lincoln = 0] = pitches;
  // The narrator is a woman, the child's voice is above hers, and the two men's far below.
  expect(alice / narrator).toBeGreaterThan(1.2);
  expect(narrator / Math.max(holmes, lincoln)).toBeGreaterThan(1.2);
}, 120_000);
