import { expect, it } from 'vitest';
import { HeardLips } from '../../server/client/mouth/mouth.js';
import { MouthTimeline } from '../../server/client/mouth/mouth-timeline.js';
import { ARKIT, AZURE, LIVE2D, mixed, RHUBARB, VISEMES, VRM } from '../../server/client/mouth/viseme-tables.js';
import { visemes } from '../../voices/synthesizer.ts';

const told = {
  from: 0,
  until: 7_200,
  visemes: [
    [0, 'sil'],
    [600, 'aa'],
    [2_400, 'PP'],
    [3_600, 'ou', 0.5],
  ] as const,
};

it('every table has a row for every shape, and what is closed in one is closed in all', () => {
  expect(VISEMES).toEqual(visemes);
  for (const viseme of visemes) {
    for (const table of [VRM, LIVE2D, ARKIT, AZURE, RHUBARB]) expect(table[viseme]).toBeDefined();
    const isClosed = viseme === 'sil' || viseme === 'PP';
    expect(Object.keys(VRM[viseme]).length === 0).toBe(isClosed);
    expect(LIVE2D[viseme]['ParamMouthOpenY'] === 0).toBe(isClosed);
    expect('AX'.includes(RHUBARB[viseme])).toBe(isClosed);
    expect([0, 21].includes(AZURE[viseme])).toBe(isClosed);
    if (isClosed) expect(ARKIT[viseme]['jawOpen'] ?? 0).toBe(0);
  }
});

it('lips that close are closed from the first to the last sample of their sound, at 30 and 60 frames a second', () => {
  const timeline = new MouthTimeline();
  timeline.tell(told);
  for (let sample = 2_400; sample < 3_600; sample += 100) expect(timeline.weightsAt(sample)).toMatchObject({ PP: 1 });
  for (const frame of [400, 800]) {
    for (let phase = 0; phase < frame; phase += 40) {
      const frames = Array.from({ length: 20 }, (_, index) => timeline.weightsAt(phase + index * frame)?.PP ?? 0);
      expect(Math.max(...frames)).toBeGreaterThanOrEqual(0.8);
    }
  }
});

it('a shape fades into the next before that sounds, and the weights add up', () => {
  const timeline = new MouthTimeline();
  timeline.tell(told);
  expect(timeline.weightsAt(1_680)).toEqual({ aa: 0.5, PP: 0.5 });
  expect(timeline.weightsAt(5_000)).toEqual({ ou: 0.5, sil: 0 });
  expect(timeline.weightsAt(9_000)).toEqual({ sil: 1 });
  expect(mixed(VRM, { aa: 0.5, kk: 0.5 })).toEqual({ aa: 0.6 });
});

it('a cut reply closes its mouth where it was cut, and a clause that is said again has its shapes again', () => {
  const timeline = new MouthTimeline();
  timeline.tell(told);
  timeline.resume(3_000, 2_400);
  const shapes = [0, 600, 2_400, 3_000, 4_799, 4_800, 6_000, 9_599, 9_600].map((at) => timeline.visemeAt(at)?.viseme);
  expect(shapes).toEqual(['sil', 'aa', 'PP', 'aa', 'aa', 'PP', 'ou', 'ou', 'sil']);
  timeline.cut(5_000);
  expect(timeline.visemeAt(4_999)?.viseme).toBe('PP');
  expect(timeline.visemeAt(6_500)?.viseme).toBe('sil');
});

it('follows the heard sample, rests on a hold and after a barge-in, and reports unknown shapes', () => {
  let nowMs = 0;
  const mouth = new HeardLips(() => nowMs);
  const take = (event: object): void => mouth.take(event as never);
  const about = { response_id: 'r', item_id: 'i' };
  const progress = { type: 'playback.progress', responseId: 'r', itemId: 'i', level: 0.1 };
  expect(mouth.visemeAt()?.viseme).toBe('sil');
  take({ ...progress, playedMs: 10 });
  expect([mouth.visemeAt(), mouth.weightsAt()]).toEqual([undefined, undefined]);
  take({ type: 'x_dramatis.visemes', ...about, basis: 'engine', ...told });
  take({ type: 'response.output_audio.delta', ...about, offset_samples: 0, pcm16: new Uint8Array(9_600) });
  take({ ...progress, playedMs: 50 });
  expect(mouth.visemeAt()?.viseme).toBe('aa');
  nowMs = 50;
  expect([mouth.sample, mouth.visemeAt()?.viseme]).toEqual([2_400, 'PP']);
  take({ type: 'x_dramatis.hold', response_id: 'r' });
  take({ ...progress, playedMs: 120 });
  expect(mouth.visemeAt()?.viseme).toBe('sil');
  take({ type: 'x_dramatis.resume', response_id: 'r', later_ms: 100, later_samples: 2_400 });
  take({ type: 'response.output_audio.delta', ...about, offset_samples: 4_800, pcm16: new Uint8Array(4_800) });
  take({ ...progress, playedMs: 205 });
  expect(mouth.visemeAt()?.viseme).toBe('PP');
  take({ type: 'playback.stopped', responseIds: ['r'] });
  expect(mouth.weightsAt()).toEqual({ sil: 1 });
});
