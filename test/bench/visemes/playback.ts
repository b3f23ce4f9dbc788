import { HeardLips } from '../../../server/client/mouth/mouth.js';
import type { PlaybackEvent } from '../../../server/client/types/api.d.ts';
import { SimulatedSpeaker } from '../../client/simulated-speaker.ts';
import { randomFrom } from '../kit/random.ts';
import { perMs } from './told-over-the-wire.ts';

const pieceMs = 60;
const aheadMs = 400;
const reportMs = 43;
/** A frame that is drawn, three blocks of the loudspeaker: 62.5 a second. */
const drawnMs = 16;
const about = { response_id: 'resp_1', item_id: 'item_1' } as const;

/**
 * Plays one long item whose pieces come up to 200 ms late, and reports the position every 43 ms, as the worklet does.
 * Returns how far the sample whose shape is drawn lies from the one that is heard, in milliseconds, at the frames that are drawn.
 */
export function shapeErrorsMs(minutes: number): number[] {
  const random = randomFrom(7);
  let nowMs = 0;
  const lips = new HeardLips(() => nowMs);
  let [heardMs, reportedMs] = [0, -reportMs];
  const speaker = new SimulatedSpeaker({
    onProgress(itemId, playedMs, level) {
      heardMs = playedMs;
      if (nowMs - reportedMs < reportMs) return;
      reportedMs = nowMs;
      const progress = { type: 'playback.progress', responseId: about.response_id, itemId, playedMs, level };
      lips.take(progress as PlaybackEvent);
    },
    onEnded: () => undefined,
    onOnset: () => undefined,
  });
  const count = (minutes * 60_000) / pieceMs;
  const errors: number[] = [];
  let [arrived, nextMs] = [0, 0];
  while (nowMs < minutes * 60_000) {
    while (arrived < count && nextMs <= nowMs) {
      speaker.play(about.item_id, new Float32Array(pieceMs * perMs).fill(0.1), 0);
      arrived += 1;
      nextMs = Math.max(nextMs, arrived * pieceMs - aheadMs + 200 * random());
    }
    nowMs += drawnMs;
    speaker.advance(drawnMs);
    const { sample } = lips;
    if (sample !== undefined) errors.push(Math.abs(sample / perMs - heardMs));
  }
  return errors;
}

/** How long after a barge-in the mouth is at rest, in milliseconds, at the frames that are drawn. */
export function restAfterBargeInMs(cutAtMs: number): number {
  let nowMs = 0;
  const lips = new HeardLips(() => nowMs);
  const told = { basis: 'engine', from: 0, until: 240_000, visemes: [[0, 'aa']] } as const;
  lips.take({ type: 'x_dramatis.visemes', ...about, ...told, visemes: [[0, 'aa']] });
  for (; nowMs < cutAtMs; nowMs += drawnMs) {
    const place = { responseId: about.response_id, itemId: about.item_id, playedMs: nowMs, level: 0.1 };
    lips.take({ type: 'playback.progress', ...place });
  }
  lips.take({ type: 'playback.stopped', responseIds: [about.response_id] });
  const cutMs = nowMs;
  while ((lips.weightsAt()?.sil ?? 0) < 0.9) nowMs += drawnMs;
  // The frame that shows it is drawn next.
  return nowMs - cutMs + drawnMs;
}
