import * as fc from '../../fakes/property.ts';
import { describe, expect, it } from 'vitest';
import { chooseClip, fitClips, type MeasuredClip } from '../../../voices/library/choose-clip.ts';
import { cutClips, type Contour } from '../../../voices/library/cut-clips.ts';
import { measureClip } from '../../../voices/library/measure.ts';
import type { VoiceActivity } from '../../../voices/recognition/transcribe-recording.ts';
import { voiceLike } from '../../fakes/voice-like.ts';

const windowMs = 32;

/** Alternating speech and silence, in milliseconds; `hushes` are quiet places within the speech. */
function contourOf(spans: readonly number[], hushes: readonly number[] = []): Contour {
  const probabilities: number[] = [];
  for (const [index, ms] of spans.entries()) {
    for (let at = 0; at < ms; at += windowMs) probabilities.push(index % 2 === 0 ? 0.95 : 0.02);
  }
  const powers: number[] = probabilities.map((probability) => (probability > 0.5 ? 0.02 : 1e-6));
  for (const ms of hushes) powers[Math.floor(ms / windowMs)] = 1e-5;
  return { windowMs, probabilities, powers };
}

/** Tolerance of a few windows. */
function expectNear(ms: number | undefined, expected: number): void {
  expect(Math.abs((ms ?? NaN) - expected)).toBeLessThan(100);
}

describe('cutting a recording', () => {
  it('a recording is cut at long pauses and not at short ones', () => {
    const clips = cutClips(contourOf([2_000, 500, 2_000, 1_000, 4_000, 900]));
    expect(clips).toHaveLength(2);
    expect(clips[0]?.startMs).toBe(0);
    expectNear(clips[0]?.endMs, 4_650);
    expectNear(clips[1]?.startMs, 5_350);
    expectNear(clips[1]?.endMs, 9_650);
  });

  it('speech that is too short is left out, and silence gives no clip', () => {
    expect(cutClips(contourOf([1_500, 2_000, 2_000, 2_000]))).toEqual([]);
    expect(cutClips(contourOf([0, 20_000]))).toEqual([]);
    expect(cutClips(contourOf([]))).toEqual([]);
  });

  it('speech that is too long is divided at its quietest points', () => {
    const clips = cutClips(contourOf([24_000, 1_000], [7_700, 16_500]));
    expect(clips).toHaveLength(3);
    expectNear(clips[0]?.endMs, 7_700 + 150);
    expectNear(clips[1]?.endMs, 16_500 + 150);
  });

  it('every clip has 3 to 10 seconds and lies within the recording, for any recording', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 45_000 }), { maxLength: 8 }),
        fc.array(fc.integer({ min: 0, max: 100_000 }), { maxLength: 20 }),
        (spans, hushes) => {
          const contour = contourOf(spans, hushes);
          const wholeMs = contour.probabilities.length * windowMs;
          for (const { startMs, endMs } of cutClips(contour)) {
            expect(startMs).toBeGreaterThanOrEqual(0);
            expect(endMs).toBeLessThanOrEqual(wholeMs);
            expect(endMs - startMs).toBeGreaterThanOrEqual(3_000);
            expect(endMs - startMs).toBeLessThanOrEqual(10_000 + 1e-6);
          }
        },
      ),
    );
  });

  it('no long stretch of speech is lost', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 10_000, max: 90_000 }),
        fc.array(fc.integer({ min: 0, max: 90_000 })),
        (ms, hushes) => {
          const clips = cutClips(contourOf([ms, 1_000], hushes));
          for (const [index, clip] of clips.entries()) {
            expect(clip.startMs).toBeLessThanOrEqual(clips[index - 1]?.endMs ?? 0);
          }
          expect(clips.at(-1)?.endMs).toBeGreaterThan(ms - 1);
        },
      ),
    );
  });
});

function activityOf(sound: Float32Array, spoken: (index: number) => boolean): VoiceActivity {
  const windows = Array.from({ length: Math.floor(sound.length / 512) }, (_, index) =>
    sound.subarray(index * 512, (index + 1) * 512),
  );
  return { windows, windowMs, probabilities: windows.map((_, index) => (spoken(index) ? 0.9 : 0.05)) };
}

describe('measuring a clip', () => {
  it('a clip’s signal-to-noise ratio, pitch and speaking rate are measured', () => {
    const noise = (index: number): number => 0.01 * Math.sin(index * index * 0.37);
    const voice = voiceLike(4_000, 16_000);
    // Speech for three seconds of four.
    const sound = voice.map((value, index) => (index < 48_000 ? value : 0) + noise(index));
    const activity = activityOf(sound, (index) => index < 93);
    const measured = measureClip(
      { samples: sound, sampleRate: 16_000, atMs: 0 },
      activity,
      'Mind the step, if you please.',
    );
    const power = (block: Float32Array): number => block.reduce((sum, value) => sum + value * value, 0) / block.length;
    expect(measured.seconds).toBe(4);
    expect(measured.snrDb).toBeCloseTo(10 * Math.log10(power(voice.subarray(0, 47_616)) / 5e-5), 0);
    expect(measured.pitch?.medianHertz).toBeGreaterThan(125);
    expect(measured.pitch?.medianHertz).toBeLessThan(155);
    expect(measured.pitch?.lowHertz).toBeLessThan(measured.pitch?.highHertz ?? 0);
    expect(measured.speakingRate).toEqual({ perMinute: Math.round(6 / ((93 * 0.032) / 60)), unit: 'words' });
  });

  it('the speaking rate counts characters in scripts without spaces; without words there is no rate, without voice no pitch', () => {
    const sound = new Float32Array(48_000);
    const activity = activityOf(sound, () => true);
    const frame = { samples: sound, sampleRate: 16_000, atMs: 0 };
    expect(measureClip(frame, activity, '广州市房地产中介协会分析').speakingRate).toMatchObject({ unit: 'characters' });
    expect(measureClip(frame, activity, '')).toMatchObject({ speakingRate: null, pitch: null });
  });
});

function clip(
  name: string,
  about: Partial<MeasuredClip['measured']> = {},
  transcript = 'Mind the step.',
): MeasuredClip {
  const measured = { seconds: 4, snrDb: 20, pitch: null, speakingRate: null, quality: null, embedding: null, ...about };
  const place = { file: `clips/${name}.wav`, sha256: '0'.repeat(64), startMs: 0, endMs: 4_000 };
  return { ...place, transcript, transcribedBy: 'somebody', measured };
}

const quality = (overall: number) => ({ meter: 'dnsmos', signal: 3, background: 3, overall });
const embedding = (...values: number[]) => ({ encoder: 'campplus', values });

describe('choosing a reference clip', () => {
  it('the reference is the clip most like the others', () => {
    const clips = [
      clip('odd', { embedding: embedding(0, 1), quality: quality(4.5) }),
      clip('middle', { embedding: embedding(1, 0.1), quality: quality(3) }),
      clip('near', { embedding: embedding(1, 0), quality: quality(3) }),
    ];
    const chosen = chooseClip(clips, 'campplus');
    expect(chosen?.clip.file).toBe('clips/middle.wav');
    expect(chosen?.choice).toMatchObject({ by: 'embedding', clips: 3 });
    // An earlier run had an encoder, this one has none.
    expect(chooseClip(clips, undefined)).toEqual(chosen);
  });

  it('without a speaker encoder the reference is the cleanest clip, and the result says so', () => {
    const clips = [
      clip('a', { quality: quality(3.1), snrDb: 30 }),
      clip('b', { quality: quality(3.3), snrDb: 10, embedding: embedding(1, 0) }),
    ];
    expect(chooseClip(clips, 'campplus')).toMatchObject({
      clip: { file: 'clips/b.wav' },
      choice: { by: 'dnsmos', score: 3.3 },
    });
    const unjudged = clips.with(1, clip('b', { snrDb: 10 }));
    expect(chooseClip(unjudged, undefined)).toMatchObject({
      clip: { file: 'clips/a.wav' },
      choice: { by: 'snr', score: 30 },
    });
    expect(chooseClip([], 'campplus')).toBeUndefined();
  });

  it('poor clips and clips without words are not chosen', () => {
    const clips = [
      clip('poor', { quality: quality(2.4) }),
      clip('mute', { quality: quality(4) }, ''),
      clip('unjudged'),
    ];
    const { fit, unfit } = fitClips(clips, 2.5);
    expect(fit.map(({ file }) => file)).toEqual(['clips/unjudged.wav']);
    expect(unfit).toEqual({ poor: 1, withoutTranscript: 1 });
  });
});
