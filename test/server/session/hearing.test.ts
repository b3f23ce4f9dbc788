import { describe, expect, it } from 'vitest';
import { calmFeelings } from '../../../agents/feelings.ts';
import { TurnRecorder } from '../../../server/memory/turn-recorder.ts';
import { fold } from '../../../server/journal/fold.ts';
import { linesOf } from '../../../server/journal/event-lines.ts';
import { lineSchema } from '../../../server/journal/lines.ts';
import { restore } from '../../../server/journal/restore.ts';
import { userMessage, type MessageItem } from '../../../server/session/contract/item.ts';
import { Conversation } from '../../../server/session/history/conversation.ts';
import { connect } from '../../rigs/connection-rig.ts';

type Wire = ReturnType<typeof connect>;

const deaf = { 'sherlock-holmes': { user: 0 } };

async function hears(wire: Wire, value: unknown): Promise<void> {
  wire.send({ type: 'session.update', event_id: 'e1', session: { x_dramatis: { hears: value } } });
  await wire.clock.advance(20);
}

async function say(wire: Wire, text: string): Promise<void> {
  const item = { type: 'message', role: 'user', content: [{ type: 'input_text', text }] };
  wire.send({ type: 'conversation.item.create', item });
  wire.send({ type: 'response.create' });
  await wire.clock.advance(3_000);
}

describe('a character that is out of earshot', () => {
  it('does not answer, and reads nothing of what was said when it is near again', async () => {
    const wire = connect({ says: ['Yes.', 'No.'] });
    await hears(wire, deaf);
    expect(wire.last('session.updated').session.x_dramatis.hears).toEqual(deaf);
    await say(wire, 'CANARY!');
    expect(wire.last('response.done').response).toMatchObject({ status: 'completed', output: [] });
    expect(wire.engines.agent.histories).toEqual([]);
    await hears(wire, { 'sherlock-holmes': { user: 0.3 } });
    await say(wire, 'PARROT!');
    await hears(wire, null);
    expect(wire.last('session.updated').session.x_dramatis.hears).toBeUndefined();
    await say(wire, 'Holmes!');
    expect(wire.engines.agent.histories.map((history) => history.map(({ text }) => text))).toEqual([
      ['(says something, too far away to make out.)'],
      ['(says something, too far away to make out.)', 'Yes.', 'Holmes!'],
    ]);
    await wire.hangUp();
  });

  it('does not answer speech either, and gives no reply in advance', async () => {
    const wire = connect({ says: ['Yes.'], hears: ['the canary sings'] });
    await hears(wire, deaf);
    await wire.stream(new Float32Array(24_000).fill(0.5));
    await wire.stream(new Float32Array(48_000));
    await wire.clock.advance(2_000);
    expect(wire.last('conversation.item.input_audio_transcription.completed').transcript).toBe('the canary sings');
    expect(wire.engines.agent.histories).toEqual([]);
    expect(wire.last('response.done').response.output).toEqual([]);
    await wire.hangUp();
  });

  it('is not moved by what was said', async () => {
    const wire = connect({ says: ['Yes.'] });
    await hears(wire, deaf);
    await say(wire, 'I hate you! You are a disgusting liar!');
    const { intimacy, ...emotions } = wire.last('response.done').response.x_dramatis.feelings;
    expect({ emotions, intimacy }).toEqual(calmFeelings);
    await wire.hangUp();
  });

  it.each([
    ['a listener who is not present', { watson: { user: 0 } }, 'not_present'],
    ['a speaker who is not present', { 'sherlock-holmes': { watson: 0 } }, 'not_present'],
    ['a clarity above 1', { 'sherlock-holmes': { user: 2 } }, 'invalid_value'],
    [
      'more names than there can be',
      { 'sherlock-holmes': Object.fromEntries(Array.from({ length: 33 }, (_, at) => [`n${at}`, 1])) },
      'invalid_value',
    ],
  ])('is refused for %s, and the session goes on', async (_, value, code) => {
    const wire = connect({ says: ['Yes.'] });
    await hears(wire, value);
    expect(wire.last('error').error).toMatchObject({ code, event_id: 'e1' });
    if (code === 'not_present') expect(wire.last('error').error.message).toContain('sherlock-holmes');
    await say(wire, 'Holmes!');
    expect(wire.engines.agent.histories).toHaveLength(1);
    await wire.hangUp();
  });

  it('has no memory of it', async () => {
    const message = (id: string, heardBy?: Record<string, number>): MessageItem => ({
      ...userMessage(id),
      ...(heardBy && { heardBy }),
      content: [{ type: 'text', text: id }],
    });
    const conversation = new Conversation(0);
    const kept: string[] = [];
    const recorder = new TurnRecorder({
      store: { record: async (_bond, { asked }) => void kept.push(asked) },
      bond: { owner: '', user: 'bob', character: 'alice' },
      session: 's',
      conversation,
      now: () => 0,
      onFault: () => undefined,
    });
    conversation.insert(message('CANARY', { alice: 0 }));
    conversation.insert(message('PARROT', { alice: 0.4 }));
    conversation.insert(message('Alice!', { bob: 0 }));
    await recorder.close();
    expect(kept).toEqual(['Alice!']);
  });

  it('puts into the memory that a scene has for all what everybody heard, and nothing else', async () => {
    const conversation = new Conversation(0);
    const kept: (readonly [string, string])[] = [];
    const recorder = new TurnRecorder({
      store: { record: async (_bond, { asked, answered }) => void kept.push([asked, answered]) },
      bond: { owner: '', user: 'bob', character: 'scene:the-locked-garden' },
      session: 's',
      conversation,
      now: () => 0,
      onFault: () => undefined,
    });
    const said = (id: string, role: 'user' | 'assistant', heardBy?: Record<string, number>): MessageItem => {
      const item: MessageItem = { ...userMessage(id), role, heardBy, content: [{ type: 'text', text: id }] };
      conversation.insert(item);
      return item;
    };
    said('CANARY', 'user', { alice: 0 });
    said('Where is it?', 'user');
    const end = { replyId: 'r', calls: [], end: {} as never };
    await recorder.note({ type: 'reply-ended', ...end, item: said('PARROT', 'assistant', { alice: 0.4 }) });
    await recorder.note({ type: 'reply-ended', ...end, item: said('There.', 'assistant') });
    await recorder.close();
    expect(kept).toEqual([
      ['Where is it?', ''],
      ['', 'There.'],
    ]);
  });

  it('has not heard it after a restart of the server either', () => {
    const item: MessageItem = {
      ...userMessage('u'),
      heardBy: { alice: 0 },
      content: [{ type: 'text', text: 'CANARY' }],
    };
    const lines = [
      lineSchema.parse({ type: 'open', version: 3, id: 'sess_1', character: 'alice', model: 'alice' }),
      ...linesOf({ type: 'item-added', item, previousItemId: null }).map((line) =>
        lineSchema.parse(JSON.parse(JSON.stringify(line))),
      ),
    ];
    for (const journal of [lines, fold(lines)])
      expect(restore(journal, 0)?.items).toMatchObject([{ id: 'u', heardBy: { alice: 0 } }]);
  });
});
