import { describe, expect, it } from 'vitest';
import { TurnRecorder, type TurnRecorderParts } from '../../../server/memory/turn-recorder.ts';
import { userMessage, type MessageItem, type SpokenContent } from '../../../server/session/contract/item.ts';
import type { SessionEvent } from '../../../server/session/contract/events.ts';
import { Conversation } from '../../../server/session/history/conversation.ts';
import { bond } from '../../rigs/memory-rig.ts';
import { openRig } from '../../rigs/session-rig.ts';

describe('TurnRecorder', () => {
  it('stores a reply as far as it was heard, first as interrupted and then as truncated by the client', async () => {
    const rig = openRig({
      says: [
        'One two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty.',
      ],
    });
    const kept: string[] = [];
    const keeper = new TurnRecorder({
      store: { record: async (_bond, { answered }) => void kept.push(answered) },
      bond,
      session: 's',
      conversation: rig.session.conversation,
      now: () => 0,
      onFault: (fault) => rig.faults.push(fault),
    });
    const noteAll = async (): Promise<void> => {
      for (const event of rig.events.splice(0)) await keeper.note(event);
    };
    await rig.speak(600);
    await rig.silence(1_300);
    await rig.speak(700);
    await rig.silence(200);
    await noteAll();
    const said =
      'One two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty.';
    const [first = ''] = kept;
    expect(first.length).toBeGreaterThan(0);
    expect(first.length).toBeLessThan(said.length);
    expect(said.startsWith(first)).toBe(true);
    const reply = rig.session.conversation.items.find((item) => item.type === 'message' && item.role === 'assistant');
    rig.send({ type: 'item-truncate', id: reply?.id ?? '', contentIndex: 0, heardMs: 150 });
    await rig.silence(40);
    await noteAll();
    const last = kept.at(-1) ?? '';
    expect(last.length).toBeLessThan(first.length);
    expect(said.startsWith(last)).toBe(true);
    expect(rig.faults).toEqual([]);
  });

  it('stores the user message of a turn that is transcribed after it was answered', async () => {
    const remark: SpokenContent = {
      type: 'audio',
      transcript: null,
      durationMs: 600,
      audio: [],
      sampleRate: 24_000,
      words: [],
    };
    const reply: MessageItem = { ...userMessage('a'), role: 'assistant', content: [{ type: 'text', text: 'Indeed.' }] };
    const conversation = new Conversation(0);
    const kept: (readonly [string, string, number])[] = [];
    const keeper = new TurnRecorder({
      store: { record: async (_bond, { asked, answered }, facts) => void kept.push([asked, answered, facts.length]) },
      bond,
      session: 's',
      conversation,
      now: () => 0,
      onFault: (fault) => expect.fail(String(fault)),
    });
    conversation.insert({ ...userMessage('u'), content: [remark] });
    conversation.insert(reply);
    await keeper.note({ type: 'reply-ended', item: reply } as SessionEvent);
    remark.transcript = 'I live in Leeds.';
    await keeper.note({ type: 'transcript-final', itemId: 'u', text: remark.transcript, audioMs: 600 });
    expect(kept).toEqual([
      ['', 'Indeed.', 0],
      ['I live in Leeds.', 'Indeed.', 1],
    ]);
  });

  it('stores the turn that the previous server could not, and no turn twice', async () => {
    const said = (id: string, role: 'user' | 'assistant', text: string): MessageItem => ({
      ...userMessage(id),
      role,
      content: [{ type: 'text', text }],
    });
    const cut = said('a2', 'assistant', 'One two');
    const before = [
      said('u1', 'user', 'Hello.'),
      said('a1', 'assistant', 'Indeed.'),
      said('u2', 'user', 'Count.'),
      cut,
    ];
    const talk = async (parts: Pick<TurnRecorderParts, 'openReplies'>): Promise<string[][]> => {
      const conversation = new Conversation(0, before);
      const kept: string[][] = [];
      const keeper = new TurnRecorder({
        store: { record: async (_bond, { item, asked, answered }) => void kept.push([item, asked, answered]) },
        bond,
        session: 's',
        conversation,
        ...parts,
        now: () => 0,
        onFault: (fault) => expect.fail(String(fault)),
      });
      const reply = said('a3', 'assistant', 'Go on?');
      conversation.insert(said('u3', 'user', 'Well?'));
      conversation.insert(reply);
      await keeper.note({ type: 'reply-ended', item: reply } as SessionEvent);
      await keeper.close();
      return kept;
    };
    const next = ['u3', 'Well?', 'Go on?'];
    expect(await talk({ openReplies: [cut] })).toEqual([['u2', 'Count.', 'One two'], next]);
    expect(await talk({ openReplies: [] })).toEqual([next]);
    // Its user was named only now.
    expect(await talk({})).toEqual([next]);
  });

  it('stores at most 4,000 characters of what the user typed', async () => {
    const conversation = new Conversation(0);
    const reply: MessageItem = { ...userMessage('a'), role: 'assistant', content: [{ type: 'text', text: 'Indeed.' }] };
    const lengths: number[] = [];
    const keeper = new TurnRecorder({
      store: { record: async (_bond, { asked }) => void lengths.push(asked.length) },
      bond,
      session: 's',
      conversation,
      now: () => 0,
      onFault: (fault) => expect.fail(String(fault)),
    });
    conversation.insert({ ...userMessage('u'), content: [{ type: 'text', text: 'so '.repeat(60_000) }] });
    conversation.insert(reply);
    await keeper.note({ type: 'reply-ended', item: reply } as SessionEvent);
    expect(lengths).toEqual([4_000]);
  });
});
