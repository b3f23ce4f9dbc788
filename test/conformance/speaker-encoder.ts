import { describe, expect, it } from 'vitest';
import type { AudioFrame } from '../../voices/audio.ts';
import { cosine, type SpeakerEncoder } from '../../voices/speaker-encoder.ts';
import { voiceLike } from '../fakes/voice-like.ts';
import type { Subject } from './upstream.ts';

const reason = new Error('hung up');
const { signal } = new AbortController();

function clip(seconds: number, sampleRate = 16_000): AudioFrame {
  return { samples: voiceLike(seconds * 1000, sampleRate), sampleRate, atMs: 0 };
}

/** Requirements on every `SpeakerEncoder`. */
export function speakerEncoderConformance(subject: Subject<SpeakerEncoder>): void {
  describe(`${subject.title} as a speaker encoder`, () => {
    it.each([
      ['3 s', clip(3)],
      ['another sample rate', clip(2, 24_000)],
      ['silence', { samples: new Float32Array(32_000), sampleRate: 16_000, atMs: 0 }],
    ] as const)('the speaker encoder returns a unit vector for %s', async (_name, sound) => {
      await using opened = await subject.open();
      const { engine } = opened;
      const embedding = await engine.embed(sound, { signal });
      expect(embedding).toHaveLength(engine.dimensions);
      expect(embedding.every((value) => Number.isFinite(value))).toBe(true);
      expect(Math.hypot(...embedding)).toBeCloseTo(1, 4);
    });

    it('the speaker encoder is deterministic, alone or among other calls, and leaves the clip unchanged', async () => {
      await using opened = await subject.open();
      const { engine } = opened;
      const sound = clip(2);
      const before = sound.samples.slice();
      const alone = await engine.embed(sound, { signal });
      const all = await Promise.all([sound, clip(1), sound, clip(3)].map((each) => engine.embed(each, { signal })));
      expect(cosine(alone, all[0] as Float32Array)).toBeCloseTo(1, 4);
      expect(cosine(alone, all[2] as Float32Array)).toBeCloseTo(1, 4);
      expect(sound.samples).toEqual(before);
    });

    it('the speaker encoder refuses a clip that is too short', async () => {
      await using opened = await subject.open();
      await expect(opened.engine.embed(clip(0.2), { signal })).rejects.toMatchObject({ code: 'ENGINE_REFUSED' });
    });

    it('the speaker encoder throws the reason of an abort before or during its work', async () => {
      await using opened = await subject.open();
      const { engine } = opened;
      await expect(engine.embed(clip(1), { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
      const controller = new AbortController();
      const running = engine.embed(clip(1), { signal: controller.signal });
      controller.abort(reason);
      await expect(running).rejects.toBe(reason);
    });
  });
}
