import { describe, expect, it } from 'vitest';
import { relationAxis } from '../../../characters/relations.ts';
import { fakeEngines } from '../../fakes/engines.ts';
import { begin, dataFolder, type Call } from '../../rigs/memory-rig.ts';
import { characters, serve } from '../../rigs/serve-rig.ts';

const trust = relationAxis.parse({
  axis: 'trust',
  start: 10,
  moves: [
    { said: ['thank you'], by: 15, because: 'courtesy' },
    { said: ['liar'], by: -40, because: 'insult' },
    { event: 'lantern gave', by: 25, because: 'a gift' },
  ],
});

describe('relations to the players of a session', () => {
  const players = [
    { number: 1, name: 'Anna', user: 'anna' },
    { number: 2, name: 'Bob', user: 'bob' },
  ];
  /** Types a message of a player and waits for the reply; returns the relation that it moves, if it does. */
  const type = async (call: Call, player: number, text: string, moves = false): Promise<unknown> => {
    const content = [{ type: 'input_text', text }];
    const item = { type: 'message', role: 'user', content, x_dramatis: { player } };
    call.send({ type: 'conversation.item.create', item });
    call.send({ type: 'response.create' });
    const moved = moves ? await call.until('x_dramatis.relation') : undefined;
    await call.until('response.done');
    return moved;
  };

  it('are kept with the memories of each player, whatever number it has, and move by what it does', async () => {
    const engines = fakeEngines({ says: ['One.', 'Two.', 'Three.'] });
    const server = await serve({ engines, flags: { memory: true, dataDir: dataFolder() } });
    server.characters.set('alice', { ...characters.get('alice')!, relations: [trust] });
    const call = await begin(server, '?model=alice&x=relations');
    call.send({ type: 'session.update', session: { x_dramatis: { players } } });
    await call.until('session.updated');
    expect(await type(call, 1, 'Thank you.', true)).toMatchObject({ with: 'player-1', value: 25 });
    expect(await type(call, 2, 'You liar!', true)).toMatchObject({ with: 'player-2', value: -30 });
    const gives = { text: 'The player gave Alice the lantern.', player: 1 };
    call.send({ type: 'x_dramatis.world', events: [gives] });
    expect(await call.until('x_dramatis.relation')).toMatchObject({ with: 'player-1', value: 50 });
    call.send({ type: 'x_dramatis.world', events: [{ ...gives, player: 7 }] });
    expect((await call.until('error'))['error']).toMatchObject({ code: 'unknown_player' });
    call.socket.close();
    await call.closed;
    const { body: save } = await server.ask('/v1/saves?user=anna', { body: {} });
    expect(save.state.alice.relations).toEqual({ trust: 50 });
    const next = await begin(server, '?model=alice&x=relations');
    const swapped = [
      { ...players[1], number: 1 },
      { ...players[0], number: 2 },
    ];
    next.send({ type: 'session.update', session: { x_dramatis: { players: swapped } } });
    await next.until('session.updated');
    await type(next, 2, 'Good day.');
    expect(engines.agent.asked.at(-1)?.surroundings?.('alice').relations).toMatchObject([{ value: 50 }]);
    await type(next, 1, 'Good day.');
    expect(engines.agent.asked.at(-1)?.surroundings?.('alice').relations).toMatchObject([{ value: -30 }]);
    // Another user gets the number: nothing of the one before is theirs.
    next.send({ type: 'session.update', session: { x_dramatis: { players: [{ ...players[0], user: 'carol' }] } } });
    await next.until('session.updated');
    expect(await type(next, 1, 'Thank you.', true)).toMatchObject({ with: 'player-1', value: 25 });
    next.socket.close();
    await next.closed;
    const { body: saveOfCarol } = await server.ask('/v1/saves?user=carol', { body: {} });
    expect(saveOfCarol.state.alice.relations).toEqual({ trust: 25 });
  });
});
