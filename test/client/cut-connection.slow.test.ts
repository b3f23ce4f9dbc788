import { describe, expect, it } from 'vitest';
import { orderViolations, unfinishedResponses } from '../conformance/realtime-order.ts';
import { openFlakyProxy, type FlakyProxy } from '../fakes/network/flaky-proxy.ts';
import { openRig, recordTalk } from '../rigs/talk-rig.ts';

const turns = 10;
const hears = Array.from({ length: turns }, (_, turn) => `question number ${turn}`);
const says = Array.from(
  { length: turns },
  (_, turn) => `Answer ${turn} has a few words more than the question. So it is.`,
);

/** Holds ten spoken turns; returns what each side received. */
async function converse(throughProxy: boolean, seed: number) {
  await using rig = await openRig({ hears, says });
  await using proxy = await openFlakyProxy(rig.port, seed);
  if (throughProxy) proxy.weather.cutAfterBytes = { least: 4_000, most: 30_000 };
  const recorded = recordTalk({ url: throughProxy ? proxy.url : rig.url });
  await recorded.talk.opened;
  for (let turn = 1; turn <= turns; turn += 1) {
    recorded.speak(400 + turn * 40);
    await recorded.until('response.done', turn);
    await recorded.until('conversation.item.input_audio_transcription.completed', turn);
  }
  proxy.weather.cutAfterBytes = undefined;
  recorded.talk.close();
  await recorded.until('connection.closed');
  return { rig, recorded, cuts: cutsOf(proxy), opened: recorded.of('connection.open') };
}

function cutsOf({ cuts }: FlakyProxy): number {
  return cuts;
}

describe('open-talk over a connection that is cut again and again', () => {
  const calmly = converse(false, 1);

  for (const seed of [1, 2, 3]) {
    it(`loses and repeats nothing in either direction over ten spoken turns on a cut connection (seed ${seed})`, async () => {
      const calm = await calmly;
      const rough = await converse(true, seed);
      expect(rough.cuts).toBeGreaterThan(20);
      expect(rough.opened.slice(1).every(({ isNew, lostMs }) => !isNew && lostMs === 0)).toBe(true);

      // The recognizer received the same samples as over a good connection.
      expect(rough.rig.heard).toEqual(calm.rig.heard);
      const transcripts = rough.recorded.of('conversation.item.input_audio_transcription.completed');
      expect(transcripts.map(({ transcript }) => transcript)).toEqual(hears);

      // The reply's audio equals the synthesizer's, bit for bit.
      expect(rough.recorded.replySound().equals(rough.rig.made())).toBe(true);
      const words = rough.recorded
        .of('response.output_audio_transcript.done')
        .map(({ transcript }) => transcript.trim());
      expect(words).toEqual(says);

      // Every event came once, in order, and none is missing.
      const events = rough.recorded.fromServer();
      expect(events.map((event) => event['x_seq'])).toEqual(events.map((_, index) => index + 1));
      expect(orderViolations(events)).toEqual([]);
      expect(unfinishedResponses(events)).toEqual([]);
      expect(rough.recorded.of('error')).toEqual([]);
    });
  }
});
