import { describe, expect, it } from 'vitest';
import { TurnRecorder } from '../../../server/memory/turn-recorder.ts';
import { encodeFrame } from '../../../server/protocol/binary-frame.ts';
import { userMessage, type MessageItem } from '../../../server/session/contract/item.ts';
import { Conversation } from '../../../server/session/history/conversation.ts';
import { pcm16FromFloats } from '../../../voices/audio.ts';
import { fakeEngines } from '../../fakes/engines.ts';
import { silence, tone } from '../../fakes/vad.ts';
import { connect } from '../../rigs/connection-rig.ts';
import { begin, dataFolder, keptIn, type Call } from '../../rigs/memory-rig.ts';
import { both, join, joined, said, stream } from './players-wire.ts';
import { serve } from '../../rigs/serve-rig.ts';

describe('several players', () => {
  it('are heard by themselves, and named in the history', async () => {
    const wire = connect({ hears: ['I am here', 'So am I'], says: ['Yes.', 'Good.'] });
    await join(wire, both);
    expect(wire.last('session.updated').session.x_dramatis.players).toEqual(both);
    await stream(wire, { 1: joined(tone(800), silence(3_000)), 2: silence(3_800) });
    await stream(wire, { 1: silence(3_800), 2: joined(tone(800), silence(3_000)) });
    expect(said(wire)).toEqual(['Anna', 'Bob']);
    expect(wire.engines.agent.histories.at(-1)!.map(({ text }) => text)).toEqual([
      'Anna: I am here',
      'Yes.',
      'Bob: So am I',
    ]);
    await wire.hangUp();
  });

  it('have one floor: who speaks meanwhile is heard when the turn is over', async () => {
    const wire = connect({ hears: ['I was first', 'I was second'], says: ['Yes.', 'Good.', 'Well.'] });
    await join(wire, both);
    await stream(wire, {
      1: joined(tone(1_600), silence(4_000)),
      2: joined(silence(400), tone(800), silence(4_400)),
    });
    await wire.clock.advance(4_000);
    expect(said(wire)).toEqual(['Anna', 'Bob']);
    const last = wire.engines.agent.histories.at(-1)!.filter(({ role }) => role === 'user');
    expect(last.map(({ text }) => text)).toEqual(['Anna: I was first', 'Bob: I was second']);
    await wire.hangUp();
  });

  it('type by themselves, and are out of earshot by themselves', async () => {
    const wire = connect({ says: ['Yes.', 'Good.'] });
    await join(wire, both);
    wire.send({
      type: 'session.update',
      session: { x_dramatis: { hears: { 'sherlock-holmes': { 'player-2': 0 } } } },
    });
    const type = async (player: number, text: string): Promise<void> => {
      const content = [{ type: 'input_text', text }];
      const item = { type: 'message', role: 'user', content, x_dramatis: { player } };
      wire.send({ type: 'conversation.item.create', item });
      wire.send({ type: 'response.create' });
      await wire.clock.advance(3_000);
    };
    await type(2, 'CANARY');
    await type(1, 'Hello!');
    expect(said(wire)).toEqual(['Bob', 'Anna']);
    expect(wire.engines.agent.histories.map((one) => one.map(({ text }) => text))).toEqual([['Anna: Hello!']]);
    await wire.hangUp();
  });

  it('may leave, even in the middle of a word', async () => {
    const wire = connect({ hears: ['gone', 'still here'], says: ['Yes.', 'Good.'] });
    await join(wire, both);
    await stream(wire, { 2: tone(800) });
    await join(wire, [both[0]]);
    expect(wire.types()).toContain('input_audio_buffer.cleared');
    await stream(wire, { 1: joined(tone(800), silence(3_000)) });
    expect(said(wire)).toEqual(['Anna']);
    await wire.hangUp();
  });

  it.each([
    ['two of one number', [both[0], { ...both[1], number: 1 }], 'invalid_value'],
    ['two of one name', [both[0], { ...both[1], name: 'anna' }], 'invalid_value'],
    ['nine', Array.from({ length: 9 }, (_, number) => ({ number, name: `n${number}` })), 'invalid_value'],
    ['a number that no frame can hold', [{ number: 65_536, name: 'Anna' }], 'invalid_value'],
  ])('are refused if there are %s', async (_, players, code) => {
    const wire = connect({ says: ['Yes.'] });
    await join(wire, players);
    expect(wire.last('error').error).toMatchObject({ code, event_id: 'e1' });
    await wire.hangUp();
  });

  it('are known by their numbers', async () => {
    const wire = connect({ says: ['Yes.'] });
    await join(wire, both);
    for (const type of ['append', 'commit', 'clear']) {
      wire.send({ type: `input_audio_buffer.${type}`, event_id: type, audio: '', x_dramatis: { player: 3 } });
      await wire.clock.advance(20);
      expect(wire.last('error').error).toMatchObject({ code: 'unknown_player', event_id: type });
      expect(wire.last('error').error.message).toContain('1, 2');
    }
    await wire.hangUp();
  });
});

describe('players over a WebSocket', () => {
  it('send binary frames with their numbers, and each has a memory of its own', async () => {
    const dataDir = dataFolder();
    const engines = fakeEngines({ hears: ['my name is Bob'], says: ['Hello.', 'Good.'] });
    const server = await serve({ engines, flags: { memory: true, dataDir } });
    const call: Call = await begin(server, '?model=alice');
    call.send({ type: 'session.update', session: { x_dramatis: { players: both } } });
    await call.until('session.updated');
    const pcm16 = pcm16FromFloats(joined(tone(800), silence(3_000)));
    for (let offset = 0, sequence = 1; offset < pcm16.length; offset += 1_920, sequence += 1) {
      const header = { kind: 'input', replyNumber: 2, sequence, offsetSamples: offset / 2 } as const;
      call.socket.send(encodeFrame({ ...header, pcm16: pcm16.subarray(offset, offset + 1_920) }));
    }
    const { item } = await call.until('conversation.item.added');
    expect(item.x_dramatis.speaker).toEqual({ id: 'player-2', name: 'Bob' });
    await call.until('response.done');
    const typed = { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'I keep bees.' }] };
    call.send({ type: 'conversation.item.create', item: { ...typed, x_dramatis: { player: 1 } } });
    call.send({ type: 'response.create' });
    await call.until('response.done');
    call.socket.close();
    await call.closed;
    await server.app.close();
    const turnsOf = (user: string) =>
      keptIn(dataDir, user).flatMap((one) => (one.kind === 'turn' ? [[one.asked, one.answered]] : []));
    expect(turnsOf('anna')).toEqual([['I keep bees.', 'Good.']]);
    expect(turnsOf('bob')).toEqual([['my name is Bob', 'Hello.']]);
  });
});

describe('players under a client secret', () => {
  it('may not name other users, whose memories it is not for', async () => {
    const server = await serve({ engines: fakeEngines({ says: ['Hello.'] }), flags: { apiKeys: 'server-key' } });
    const body = { session: { model: 'alice', x_dramatis: { user: 'anna' } } };
    const made = await server.ask('/v1/realtime/client_secrets', { key: 'server-key', body });
    const call = server.call('', { authorization: `Bearer ${made.body.value}` });
    await call.until('session.created');
    call.send({ type: 'session.update', session: { x_dramatis: { players: both } } });
    const { error } = await call.until('error');
    expect(error).toMatchObject({ code: 'user_not_allowed', param: 'session.x_dramatis.players' });
    call.send({ type: 'session.update', session: { x_dramatis: { players: [both[0], { number: 2, name: 'Bob' }] } } });
    const { session } = await call.until('session.updated');
    expect(session.x_dramatis.players).toHaveLength(2);
  });
});

describe('the memory of a player', () => {
  it('holds what that one said and what was answered to it', async () => {
    const conversation = new Conversation(0);
    const kept = new Map<string, string[]>();
    const recorderOf = (speaker: string | undefined) =>
      new TurnRecorder({
        store: {
          record: async ({ user }, { asked, answered }) =>
            void kept.set(user, [...(kept.get(user) ?? []), `${asked} → ${answered}`]),
        },
        bond: { owner: '', user: speaker ?? 'all', character: 'alice' },
        session: 's',
        conversation,
        speaker,
        now: () => 0,
        onFault: () => undefined,
      });
    const recorders = ['player-1', 'player-2', undefined].map(recorderOf);
    const add = (id: string, role: 'user' | 'assistant', by?: string): MessageItem => {
      const speaker = by === undefined ? undefined : { id: by, name: by };
      const item: MessageItem = { ...userMessage(id), role, speaker, content: [{ type: 'text', text: id }] };
      conversation.insert(item);
      return item;
    };
    const answer = async (text: string): Promise<void> => {
      const item = add(text, 'assistant');
      for (const one of recorders)
        await one.note({ type: 'reply-ended', replyId: 'r', calls: [], end: {} as never, item });
    };
    add('one', 'user', 'player-1');
    await answer('to one');
    add('two', 'user', 'player-2');
    await answer('to two');
    await answer('and more');
    for (const one of recorders) await one.close();
    expect(Object.fromEntries(kept)).toEqual({
      'player-1': ['one → to one'],
      'player-2': ['two → to two', ' → and more'],
    });
  });
});
