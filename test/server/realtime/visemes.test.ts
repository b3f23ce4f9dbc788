import { describe, expect, it } from 'vitest';
import { MouthTimeline } from '../../../server/client/mouth/mouth-timeline.js';
import { visemes, type SpeechSynthesizer } from '../../../voices/synthesizer.ts';
import { fakeSynthesizer } from '../../fakes/synthesizer.ts';
import { connect } from '../../rigs/connection-rig.ts';
import { tone } from '../../fakes/vad.ts';

/** A voice whose every shape lasts 50 ms and sounds as a constant that tells which one it is. */
function audibleShapes(sampleRate = 24_000): SpeechSynthesizer & { readonly spoken: string[] } {
  const plain = fakeSynthesizer();
  let next = 0;
  return {
    ...plain,
    async *speak(phrases, options) {
      for await (const chunk of plain.speak(phrases, options)) {
        const count = chunk.frame.samples.length / 1_200;
        const shapes = Array.from({ length: count }, () => visemes[1 + (next++ % 14)] ?? 'sil');
        const samples = Float32Array.from({ length: chunk.frame.samples.length }, (_, at) =>
          levelOf(shapes[Math.floor(at / 1_200)]),
        );
        const times = shapes.map((viseme, index) => ({ viseme, startMs: index * 50 }));
        const phones = times.map(({ viseme, startMs }) => ({ sound: viseme, startMs, endMs: startMs + 50 }));
        yield {
          ...chunk,
          frame: { ...chunk.frame, samples, sampleRate },
          ...(chunk.text.includes('mute') ? {} : { mouth: { basis: 'engine', visemes: times, phones } as const }),
        };
      }
    },
  };
}

function levelOf(viseme: string | undefined): number {
  return 0.02 * visemes.findIndex((name) => name === viseme);
}

/** Plays the recorded events; returns the samples whose shape differs from the one that sounds. */
function played(events: readonly any[]) {
  const timeline = new MouthTimeline();
  const samples: number[] = [];
  let wrong = 0;
  let gaps = 0;
  let late = 0;
  let until = 0;
  for (const event of events) {
    if (event.type === 'x_dramatis.visemes') {
      if (event.from !== until) gaps += 1;
      if (event.from < samples.length) late += 1;
      until = event.until ?? event.from;
      timeline.tell(event);
    } else if (event.type === 'x_dramatis.resume') {
      timeline.resume(samples.length, event.later_samples);
      until += event.later_samples;
    } else if (event.type === 'response.output_audio.delta') {
      const bytes = Buffer.from(event.delta, 'base64');
      for (let at = 0; at < bytes.length; at += 2) {
        const shape = timeline.visemeAt(samples.length);
        samples.push(bytes.readInt16LE(at) / 32_768);
        if (Math.abs(levelOf(shape?.viseme) - (samples.at(-1) ?? 0)) > 0.005) wrong += 1;
      }
    }
  }
  return { length: samples.length, wrong, gaps, late, until };
}

const says = ['One two three four, five six seven eight nine. Ten eleven twelve.'];

describe('x_dramatis.visemes', () => {
  it('sends each shape with the exact sample of its sound, ahead of it and without gaps', async () => {
    const wire = connect({ says, mouth: 'phones', synthesizer: audibleShapes() });
    wire.send({ type: 'response.create' });
    await wire.clock.advance(10_000);
    await wire.hangUp();
    expect(played(wire.events)).toEqual({ length: 28_800, wrong: 0, gaps: 0, late: 0, until: 28_800 });
    const told = wire.last('x_dramatis.visemes');
    expect(told.basis).toBe('engine');
    expect(told.phones.map(([at]: [number]) => at)).toEqual(told.visemes.map(([at]: [number]) => at));
  });

  it('keeps shapes and sound together when a held reply says a clause again, wherever it is held', async () => {
    const long = [`${says[0]} ${says[0]} ${says[0]}`];
    for (let heldMs = 300; heldMs < 1_200; heldMs += 90) {
      const wire = connect({ says: long, hears: [''], holds: true, mouth: 'visemes', synthesizer: audibleShapes() });
      wire.send({ type: 'response.create' });
      await wire.clock.advance(heldMs);
      await wire.stream(tone(160));
      await wire.stream(new Float32Array(24_000 * 4));
      await wire.hangUp();
      expect(wire.types()).toContain('x_dramatis.resume');
      const { length, ...faults } = played(wire.events);
      expect(faults).toEqual({ wrong: 0, gaps: 0, late: 0, until: length });
      expect(length).toBeGreaterThan(3 * 28_800);
    }
  });

  it('says once that only the loudness is known of a voice that reports no phones', async () => {
    const wire = connect({ says: ['One mute. Two mute. Three four.'], mouth: 'visemes', synthesizer: audibleShapes() });
    wire.send({ type: 'response.create' });
    await wire.clock.advance(10_000);
    await wire.hangUp();
    const told = wire.events.filter(({ type }) => type === 'x_dramatis.visemes') as any[];
    expect(told.map(({ basis, from, until }) => [basis, from, until])).toEqual([
      ['level', 0, undefined],
      ['engine', 9_600, 14_400],
    ]);
  });

  it('sends no shapes to clients that do not ask', async () => {
    const wire = connect({ says, holds: true, synthesizer: audibleShapes() });
    wire.send({ type: 'response.create' });
    await wire.clock.advance(10_000);
    await wire.hangUp();
    expect(JSON.stringify(wire.events)).not.toMatch(/visemes|later_samples/);
  });
});
