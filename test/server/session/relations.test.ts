import { describe, expect, it } from 'vitest';
import { withSurroundings } from '../../../agents/prompting/surroundings-prompt.ts';
import { scriptedAgent } from '../../../agents/scripted/scripted.ts';
import type { RelationNow } from '../../../agents/surroundings.ts';
import { cardSchema, dialoguePairSchema } from '../../../characters/card.ts';
import type { Character } from '../../../characters/character.ts';
import { relationAxis } from '../../../characters/relations.ts';
import { followState } from '../../../server/connections/user-state.ts';
import { fold } from '../../../server/journal/fold.ts';
import type { JournalLine } from '../../../server/journal/lines.ts';
import { restore } from '../../../server/journal/restore.ts';
import { serverEventSchema } from '../../../server/protocol/server-events.ts';
import type { SessionEvent } from '../../../server/session/contract/events.ts';
import type { MessageItem } from '../../../server/session/contract/item.ts';
import { Relations } from '../../../server/session/history/relations.ts';
import { fakeEngines } from '../../fakes/engines.ts';
import * as fc from '../../fakes/property.ts';
import { begin, dataFolder, say, type Call } from '../../rigs/memory-rig.ts';
import { characters, serve } from '../../rigs/serve-rig.ts';

const trust = relationAxis.parse({
  axis: 'trust',
  about: 'how far you believe them',
  start: 10,
  moves: [
    { said: ['thank you', 'I promise'], by: 15, because: 'courtesy' },
    { said: ['liar'], by: -40, because: 'insult' },
    { event: 'lantern gave', by: 25, because: 'a gift' },
  ],
});
const message = (text: string, role: MessageItem['role'] = 'user'): MessageItem => {
  return { id: 'i1', type: 'message', role, status: 'completed', content: [{ type: 'text', text }] };
};
const respect = relationAxis.parse({ axis: 'respect' });

function open(values = {}) {
  const events: SessionEvent[] = [];
  const relations = new Relations((event) => events.push(event), values);
  relations.cast({ axes: { alice: [trust, respect], martha: [trust] } } as never);
  const hear = (text: string): void =>
    relations.note({ type: 'item-added', item: message(text), previousItemId: null });
  const told = () => events.splice(0).map((event) => (event.type === 'relation' ? event : undefined));
  return { relations, hear, told };
}

describe('relations', () => {
  it('start as the card says and move by words of the user, in order and in any case', () => {
    const { relations, hear, told } = open();
    expect(relations.of('alice')).toEqual([
      { axis: 'trust', value: 10, about: 'how far you believe them' },
      { axis: 'respect', value: 0, about: undefined },
    ]);
    hear('Oh, THANK you, my dear.');
    expect(told()).toEqual(
      ['alice', 'martha'].map((character) => {
        return { type: 'relation', character, with: 'user', axis: 'trust', value: 25, change: 15, because: 'courtesy' };
      }),
    );
    hear('You thank me?');
    expect(told()).toEqual([]);
  });

  it('move by what is heard, as by what is typed, but not by what the character says', () => {
    const { relations, told } = open();
    relations.note({ type: 'transcript-final', itemId: 'i1', text: 'You liar!', audioMs: 900 });
    relations.note({ type: 'understood', itemId: 'i2', text: 'I promise.' });
    expect(told().map((event) => event?.value)).toEqual([-30, -30, -15, -15]);
    relations.note({ type: 'item-added', item: message('You liar!', 'assistant'), previousItemId: null });
    expect(told()).toEqual([]);
  });

  it('move by the words of an event, and as the event itself says, for those who notice it', () => {
    const { relations, told } = open();
    relations.feel({ text: 'The player gave Alice the lantern.', seenBy: ['alice'] });
    expect(told()).toMatchObject([{ character: 'alice', axis: 'trust', change: 25, because: 'a gift' }]);
    relations.feel({ text: 'The player fled.', feel: { respect: -30, anger: 3, unknown: 5 } });
    expect(told()).toMatchObject([{ character: 'alice', axis: 'respect', value: -30, because: 'The player fled.' }]);
  });

  it('always stay from -100 to 100, and report each change once', () => {
    const by = fc.integer({ min: -100, max: 100 });
    fc.assert(
      fc.property(fc.array(by, { maxLength: 40 }), (changes) => {
        const { relations, told } = open();
        for (const change of changes)
          relations.feel({ text: 'It happens.', seenBy: ['martha'], feel: { trust: change } });
        const events = told();
        const [{ value } = { value: NaN }] = relations.of('martha');
        expect(Math.abs(value)).toBeLessThanOrEqual(100);
        expect(10 + events.reduce((sum, event) => sum + (event?.change ?? 0), 0)).toBe(value);
        expect(events.every((event) => event?.change !== 0)).toBe(true);
        expect(value).toBe(changes.reduce((sum, change) => Math.max(-100, Math.min(100, sum + change)), 10));
      }),
    );
  });

  it('continue from an earlier session, and are sent to the client', () => {
    const { relations, told } = open();
    relations.restore({ relations: { alice: { trust: 77, gone: 5 } } });
    expect(told()).toEqual([
      { type: 'relation', character: 'alice', with: 'user', axis: 'trust', value: 77, change: 0, because: 'restored' },
    ]);
    expect(relations.of('alice')[0]?.value).toBe(77);
  });

  it('are to each player by itself: each moves its own, and a reply knows those to the one who spoke last', () => {
    const { relations, told } = open({ relationsWith: { 'player-2': { alice: { trust: 50 } } } });
    const hear = (text: string, speaker: string): void =>
      relations.note({ type: 'item-added', item: message(text), previousItemId: null }, undefined, speaker);
    hear('Thank you.', 'player-1');
    expect(told()).toMatchObject([
      { with: 'player-1', character: 'alice', value: 25 },
      { with: 'player-1', character: 'martha', value: 25 },
    ]);
    expect(relations.of('alice')[0]?.value).toBe(25);
    hear('You liar!', 'player-2');
    expect(relations.of('alice')[0]?.value).toBe(10);
    relations.feel({ text: 'Anna fled.', seenBy: ['alice'], feel: { trust: -5 }, by: 'player-1' });
    expect(told().at(-1)).toMatchObject({ with: 'player-1', value: 20 });
    // Another user has the number from now on.
    relations.restore({ relationsWith: { 'player-2': {} } });
    expect(relations.of('alice')[0]?.value).toBe(10);
    hear('Hello.', 'player-1');
    expect(relations.of('alice')[0]?.value).toBe(20);
  });

  it('are the same after a restart of the server, from the whole journal and from a shortened one', () => {
    const line = (axis: string, value: number): JournalLine => ({ type: 'relation', character: 'alice', axis, value });
    const lines: JournalLine[] = [
      { type: 'open', version: 3, id: 'sess_1', character: 'alice', model: 'alice' },
      line('trust', 20),
      line('respect', -5),
      line('trust', 35),
    ];
    for (const journal of [lines, fold(lines)])
      expect(restore(journal, 0)?.relations).toEqual({ alice: { trust: 35, respect: -5 } });
    expect(fold(lines)).toHaveLength(3);
    const to = (speaker: string, value: number): JournalLine =>
      ({ ...line('trust', value), with: speaker }) as JournalLine;
    const withPlayer = [...lines, to('player-1', 60), to('user', 36)];
    for (const journal of [withPlayer, fold(withPlayer)])
      expect(restore(journal, 0)).toMatchObject({
        relations: { alice: { trust: 36, respect: -5 } },
        relationsWith: { 'player-1': { alice: { trust: 60 } } },
      });
  });
});

describe('relations in a card', () => {
  const alice = characters.get('alice')!;
  const { lines: _lines, stage: _stage, ...card } = alice as Character & { stage?: unknown };
  const parse = (relations: unknown) => cardSchema.safeParse({ ...card, relations });

  it('name their axes, once each, and say what moves them', () => {
    expect(parse([{ axis: 'trust' }, { axis: 'respect', start: -20 }]).success).toBe(true);
    for (const wrong of [
      [{ axis: 'Trust me' }],
      [{ axis: 'trust' }, { axis: 'trust' }],
      [{ axis: 'trust', start: 101 }],
      [{ axis: 'trust', moves: [{ by: 5, because: 'nothing' }] }],
      Array.from({ length: 9 }, (_, index) => ({ axis: `a${index}` })),
    ])
      expect(parse(wrong).success).toBe(false);
  });

  it('are in the prompt before the last message, and only if there are any', () => {
    const messages = [
      { role: 'system', text: 'You are Alice.' },
      { role: 'user', text: 'Hello.' },
    ];
    const none = { facts: [], actions: [] };
    expect(withSurroundings(alice, messages, none)).toEqual(messages);
    const relations: RelationNow[] = [{ axis: 'trust', value: -40, about: 'how far you believe them' }];
    const [system, user] = withSurroundings(alice, messages, { ...none, relations });
    expect(system?.text).toBe('You are Alice.');
    expect(user?.text).toMatch(/from -100.*\n- trust: -40 \(how far you believe them\)\n<[^>]*>\n\nHello\.$/s);
  });

  it('choose among the lines of a pack without an LLM', async () => {
    const line = (reply: string, relation: object) =>
      dialoguePairSchema.parse({ asks: ['Where is the gold?'], reply, when: { relation } });
    const lines = [
      line('I would not tell a thief.', { trust: { max: -1 } }),
      line('Under the old oak.', { trust: { min: 50 } }),
    ];
    const agent = scriptedAgent({ ...alice, lines: [...alice.lines, ...lines] });
    const answer = async (value: number): Promise<string> => {
      const { signal } = new AbortController();
      const relations = [{ axis: 'trust', value }];
      const surroundings = open().relations.within(undefined);
      const parts = agent.reply([{ role: 'user', text: 'Where is the gold?' }], {
        signal,
        surroundings: (id) => ({ ...surroundings(id), relations }),
      });
      return (await Array.fromAsync(parts)).map((part) => (part.type === 'text-delta' ? part.text : '')).join('');
    };
    expect(await answer(-20)).toContain('thief');
    expect(await answer(80)).toContain('old oak');
    expect(await answer(10)).not.toMatch(/thief|old oak/);
  });
});

describe('a session with a character that has relations', () => {
  const opened = async (query: string, flags = {}) => {
    const engines = fakeEngines({ says: ['One.', 'Two.', 'Three.'] });
    const server = await serve({ engines, flags });
    server.characters.set('alice', { ...characters.get('alice')!, relations: [trust] });
    const call = await begin(server, query);
    return { engines, server, call };
  };
  const hangUp = async (call: Call): Promise<void> => {
    call.socket.close();
    await call.closed;
  };

  it('are sent to a client that asks for them, and to no other', async () => {
    const { server, call } = await opened('?model=alice&x=relations');
    await say(call, 'Thank you.');
    call.send({ type: 'x_dramatis.world', events: [{ text: 'The player lied.', feel: { trust: -50, anger: 6 } }] });
    const event = await call.until('x_dramatis.relation');
    expect(serverEventSchema.parse(event)).toMatchObject({
      type: 'x_dramatis.relation',
      character: 'alice',
      with: 'user',
      axis: 'trust',
      value: -25,
      change: -50,
      because: 'The player lied.',
    });
    const plain = await begin(server, '?model=alice');
    await say(plain, 'Thank you.');
    plain.send({ type: 'x_dramatis.world', events: [{ text: 'The player lied.', feel: { trust: -50 } }] });
    await plain.until('x_dramatis.world_taken');
    expect(JSON.stringify(plain.events)).not.toContain('x_dramatis.relation');
  });

  it('moves feelings by an event, too, and gives both to the reply', async () => {
    const { engines, call } = await opened('?model=alice');
    call.send({ type: 'x_dramatis.world', events: [{ text: 'The player lied.', feel: { trust: -50, anger: 6 } }] });
    await call.until('x_dramatis.world_taken');
    await say(call, 'Hello.');
    const asked = engines.agent.asked.at(-1);
    expect(asked?.feelings?.emotions.anger).toBe(6);
    expect(asked?.surroundings?.('alice').relations).toMatchObject([{ axis: 'trust', value: -40 }]);
  });

  it('remembers them for the next session, in saves, and through another character', async () => {
    const { server, engines, call } = await opened('?model=alice&user=bob&x=relations', {
      memory: true,
      dataDir: dataFolder(),
    });
    await say(call, 'Thank you.');
    const { body: save } = await server.ask('/v1/saves?user=bob', { body: {} });
    expect(save.state.alice.relations).toEqual({ trust: 25 });
    for (const character of ['sherlock-holmes', 'alice']) {
      call.send({ type: 'session.update', session: { x_dramatis: { character } } });
      await call.until('session.updated');
    }
    await say(call, 'Thank you.');
    expect(engines.agent.asked.at(-1)?.surroundings?.('alice').relations).toMatchObject([{ value: 40 }]);
    await hangUp(call);
    const next = await begin(server, '?model=alice&user=bob&x=relations');
    await say(next, 'Good day.');
    expect(engines.agent.asked.at(-1)?.surroundings?.('alice').relations).toMatchObject([{ value: 40 }]);
    const response = await fetch(`${server.url}/v1/saves?user=bob`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(save),
    });
    expect(response.status).toBe(200);
    const loaded = await begin(server, '?model=alice&user=bob&x=relations');
    await say(loaded, 'Good day.');
    expect(engines.agent.asked.at(-1)?.surroundings?.('alice').relations).toMatchObject([{ value: 25 }]);
  });
});

describe('the state that a session keeps of its user', () => {
  it('keeps relations that did not move since a restart of the server beside those that did', async () => {
    const kept: unknown[] = [];
    const state = followState({
      store: {
        keepState: async (_bond, { name, value }) => void kept.push([name, JSON.parse(value)]),
        states: async () => [],
      },
      owner: '',
      relations: { alice: { trust: 20, respect: -5 } },
      restore: async () => undefined,
      onFault: (fault) => kept.push(fault),
    });
    state.follow('bob', ['alice'], true);
    const change = { axis: 'trust', value: 35, change: 15, because: 'courtesy' };
    await state.note({ type: 'relation', character: 'alice', with: 'user', ...change });
    expect(kept).toEqual([['relations', { trust: 35, respect: -5 }]]);
  });
});
