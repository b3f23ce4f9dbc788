import { describe, expect, it } from 'vitest';
import { Conversation } from '../../../server/session/history/conversation.ts';
import { addSound, type MessageItem, type SpokenContent } from '../../../server/session/contract/item.ts';
import { RecentSpeech } from '../../../voices/dsp/recent-speech.ts';
import { openRig } from '../../rigs/session-rig.ts';

const keptMs = ({ audio, sampleRate }: SpokenContent): number =>
  (audio.reduce((sum, { length }) => sum + length, 0) / sampleRate) * 1000;

/** Kept and spoken milliseconds and the transcript of each spoken item of a conversation. */
function keptOf(conversation: Conversation): [keptMs: number, spokenMs: number, text: string | null][] {
  return conversation.items.flatMap((item) => {
    const [part] = item.type === 'message' ? item.content : [];
    return part?.type === 'audio' ? [[Math.round(keptMs(part)), Math.round(part.durationMs), part.transcript]] : [];
  });
}

describe('kept audio', () => {
  it('keeps the audio of the conversation up to its limit and drops the oldest first', async () => {
    const rig = openRig({ keptAudioMs: 3_000, says: ['One two three four five.'], hears: ['what', 'and then'] });
    for (let turn = 0; turn < 2; turn += 1) {
      await rig.speak(600);
      await rig.silence(2_000);
    }
    const [first, answer, second, last] = keptOf(rig.session.conversation);
    expect(first).toEqual([0, expect.any(Number), 'what']);
    expect(answer).toEqual([500, 500, 'One two three four five.']);
    expect(second?.[0]).toBe(second?.[1]);
    expect(last).toEqual([500, 500, 'One two three four five.']);
  });

  it('keeps the beginning of an utterance or reply longer than the limit', async () => {
    const words = Array.from({ length: 40 }, (_, index) => `w${index}`).join(' ');
    const rig = openRig({ keptAudioMs: 2_000, says: [words] });
    await rig.speak(3_000);
    await rig.silence(1_000);
    const [utterance] = keptOf(rig.session.conversation);
    expect(utterance?.[0]).toBeGreaterThan(1_900);
    expect(utterance?.[0]).toBeLessThanOrEqual(2_000);
    expect(utterance?.[1]).toBeGreaterThan(3_000);
    await rig.silence(5_000);
    expect(keptOf(rig.session.conversation)[1]).toEqual([1_980, 4_000, words]);
  });

  it('does not restart dropped audio in the middle of an item', () => {
    const sampleRate = 1_000;
    const part: SpokenContent = { type: 'audio', transcript: '', durationMs: 0, audio: [], sampleRate, words: [] };
    const item: MessageItem = { id: 'i', type: 'message', role: 'assistant', status: 'in_progress', content: [part] };
    const other: SpokenContent = { ...part, audio: [new Int16Array(800)], durationMs: 800 };
    const conversation = new Conversation(1_000, [item, { ...item, id: 'o', content: [other] }]);
    addSound(part, new Int16Array(300), 1_000);
    conversation.forgetOldMedia();
    addSound(part, new Int16Array(300), 1_000);
    expect([keptMs(part), part.durationMs, keptMs(other)]).toEqual([0, 600, 800]);
  });
});

it('keeps the recent audio of a reply for echo detection until the next reply', () => {
  const recent = new RecentSpeech();
  for (let second = 0; second < 5; second += 1) recent.push(new Int16Array(24_000));
  recent.note({ text: 'One', startMs: 0, endMs: 500 });
  expect(recent.lengthOf(recent.clauseBefore(800))).toBe(5_000);
  recent.fade();
  expect(recent.lengthOf(recent.clauseBefore(0))).toBe(1_000);
  recent.forget();
  expect(recent.clauseBefore(0)).toEqual([]);
});
