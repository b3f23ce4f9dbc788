import { describe, expect, it } from 'vitest';
import type { Item } from '../../../server/session/contract/item.ts';
import { tone } from '../../fakes/vad.ts';
import { settle } from '../../fakes/clock.ts';
import { openRig } from '../../rigs/session-rig.ts';

const typed = (id: string, text: string): Item => ({
  id,
  type: 'message',
  role: 'user',
  status: 'completed',
  content: [{ type: 'text', text }],
});

describe('spoken turn', () => {
  it('includes the pre-roll before speech start in the utterance', async () => {
    const rig = openRig({});
    await rig.silence(1_000);
    await rig.speak(600);
    await rig.silence(800);
    const [started] = rig.of('speech-started');
    // 1000 ms of silence came first, 300 of which are padding.
    expect(started?.atMs).toBeGreaterThanOrEqual(650);
    expect(started?.atMs).toBeLessThanOrEqual(720);
    expect(rig.recognizer.heardMs[0]).toBeGreaterThan(1_300);
  });

  it('continues when the VAD fails for a moment and reports it once', async () => {
    const rig = openRig({});
    rig.vad.failNext = true;
    await rig.silence(200);
    expect(rig.of('problem').map((event) => event.problem.code)).toEqual(['ENGINE_UNAVAILABLE']);
    await rig.speak(500);
    await rig.silence(800);
    expect(rig.of('reply-started')).toHaveLength(1);
  });
});

describe('reply', () => {
  it('sends reply audio at most 400 ms ahead of real time', async () => {
    const rig = openRig({});
    rig.send({ type: 'item-add', item: typed('a', 'hi') });
    rig.send({ type: 'reply', request: { inConversation: true } });
    await settle(20);
    const sentMs = (): number =>
      rig.of('reply-audio').reduce((sum, event) => sum + (event.samples.length / event.sampleRate) * 1000, 0);
    expect(sentMs()).toBeGreaterThan(300);
    expect(sentMs()).toBeLessThanOrEqual(400);
    await rig.clock.advance(300);
    expect(sentMs()).toBeLessThanOrEqual(700);
    await rig.clock.advance(2_000);
    expect(sentMs()).toBe(1_000);
  });
});

describe('push to talk', () => {
  const pushToTalk = { settings: { turnDetection: null } };

  it('processes commands in the order of the audio around them', async () => {
    const rig = openRig({ ...pushToTalk, hears: ['first', 'second'] });
    rig.send({ type: 'audio', samples: tone(400), sampleRate: 24_000 });
    rig.send({ type: 'audio-commit' });
    rig.send({ type: 'audio', samples: tone(800), sampleRate: 24_000 });
    rig.send({ type: 'audio-commit' });
    await settle(60);
    expect(rig.of('transcript-final').map((event) => event.text)).toEqual(['first', 'second']);
    expect(rig.recognizer.heardMs[1]).toBeGreaterThan(700);
  });
});
