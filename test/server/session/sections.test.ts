import { describe, expect, it } from 'vitest';
import { fold } from '../../../server/journal/fold.ts';
import { linesOf } from '../../../server/journal/event-lines.ts';
import { lineSchema, type JournalLine } from '../../../server/journal/lines.ts';
import { restore } from '../../../server/journal/restore.ts';
import { serverEventSchema } from '../../../server/protocol/server-events.ts';
import type { SessionEvent } from '../../../server/session/contract/events.ts';
import { Story } from '../../../server/session/history/story.ts';
import type { Section } from '../../../characters/scene.ts';
import { fakeEngines } from '../../fakes/engines.ts';
import * as fc from '../../fakes/property.ts';
import { begin, dataFolder, say } from '../../rigs/memory-rig.ts';
import { stages } from '../../rigs/scene-rig.ts';
import { serve } from '../../rigs/serve-rig.ts';

const supper = 'scene:supper-on-the-nautilus';

async function open(flags: Record<string, string | boolean> = {}): ReturnType<typeof serve> {
  const server = await serve({ engines: fakeEngines({ says: ['One.', 'Two.', 'Three.'] }), flags });
  for (const stage of stages) server.characters.set(stage.id, stage);
  return server;
}

describe('x_dramatis.trigger', () => {
  it('leads the scene into another section, and informs a client that asks for it', async () => {
    const server = await open();
    const call = server.call(`?model=${supper}&x=sections`);
    const { session } = await call.until('session.created');
    expect(session.x_dramatis.scene).toMatchObject({
      sections: ['supper', 'attack', 'farewell'],
      triggers: ['attack', 'free'],
    });
    call.send({ type: 'x_dramatis.trigger', name: 'attack', with: { what: 'An arm breaks the window.' } });
    const event = await call.until('x_dramatis.section');
    expect(serverEventSchema.parse(event)).toMatchObject({ id: 'attack', from: 'supper', because: 'trigger:attack' });
    const plain = await begin(server, `?model=${supper}`);
    plain.send({ type: 'x_dramatis.trigger', name: 'attack' });
    await say(plain, 'Hello.');
    expect(JSON.stringify(plain.events)).not.toContain('x_dramatis.section');
  });

  it.each([
    [supper, { name: 'alarm' }, 'unknown_trigger', 'attack, free'],
    [supper, { name: 'free' }, 'trigger_not_open', 'supper'],
    ['alice', { name: 'attack' }, 'unknown_trigger', 'session.update'],
    [supper, { name: 'not a name' }, 'invalid_event', 'name'],
    [supper, { name: 'attack', with: { what: 'x'.repeat(201) } }, 'text_too_long', '200'],
    [
      supper,
      { name: 'attack', with: Object.fromEntries(Array.from({ length: 17 }, (_, at) => [`n${at}`, 1])) },
      'invalid_value',
      '16',
    ],
  ])('of %s is refused with what to do: %j', async (model, trigger, code, hint) => {
    const call = await begin(await open(), `?model=${model}&x=sections`);
    call.send({ type: 'x_dramatis.trigger', event_id: 'e1', ...trigger });
    const { error }: any = await call.until('error');
    expect(error).toMatchObject({ code, event_id: 'e1' });
    expect(error.message).toContain(hint);
    await say(call, 'Hello.');
    expect(JSON.stringify(call.events)).not.toContain('x_dramatis.section');
  });

  it('is no more once the scene was left', async () => {
    const call = await begin(await open(), `?model=${supper}&x=sections`);
    call.send({ type: 'session.update', session: { x_dramatis: { scene: null } } });
    await call.until('session.updated');
    call.send({ type: 'x_dramatis.trigger', name: 'attack' });
    const { error }: any = await call.until('error');
    expect(error.code).toBe('unknown_trigger');
  });
});

describe('the section of a scene', () => {
  it('outlives the session with the user, and goes with a save', async () => {
    const flags = { memory: true, dataDir: dataFolder() };
    const query = `?model=${supper}&user=bob&x=sections`;
    const server = await open(flags);
    const first = await begin(server, query);
    first.send({ type: 'x_dramatis.trigger', name: 'attack', with: { what: 'Glass breaks.' } });
    await first.until('x_dramatis.section');
    first.socket.close();
    await first.closed;
    const saved = await server.app.inject({ method: 'POST', url: '/v1/saves?user=bob' });
    expect(saved.json().state[supper].section).toEqual({ section: 'attack', given: { what: 'Glass breaks.' } });
    const second = await begin(server, query);
    expect(await second.until('x_dramatis.section')).toMatchObject({ id: 'attack', because: 'restored' });
    second.send({ type: 'x_dramatis.trigger', name: 'free' });
    expect(await second.until('x_dramatis.section')).toMatchObject({ id: 'farewell', from: 'attack' });
    second.socket.close();
    await second.closed;
    await server.app.inject({ method: 'PUT', url: '/v1/saves?user=bob', payload: saved.json() });
    const third = await begin(server, query);
    expect(await third.until('x_dramatis.section')).toMatchObject({ id: 'attack', because: 'restored' });
  });

  it('is the same after a restart of the server, from the whole journal and from a shortened one', () => {
    const entered = (section: string): JournalLine[] =>
      linesOf({ type: 'section', section, given: { what: 'A bell.' }, from: 'a', because: 'trigger:x' }).map((line) =>
        lineSchema.parse(JSON.parse(JSON.stringify(line))),
      );
    const opened = lineSchema.parse({ type: 'open', version: 3, id: 'sess_1', character: supper, model: supper });
    const lines = [opened, ...entered('b'), ...entered('c')];
    for (const journal of [lines, fold(lines)])
      expect(restore(journal, 0)?.story).toEqual({ section: 'c', given: { what: 'A bell.' } });
    expect(fold(lines)).toHaveLength(2);
    const left: JournalLine = {
      type: 'session',
      session: { id: 'sess_1', x_dramatis: { character: { id: 'alice' } } },
    };
    for (const journal of [[...lines, left], fold([...lines, left])])
      expect(restore(journal, 0)?.story).toBeUndefined();
  });

  it('follows only the edges, for any triggers', () => {
    const name = fc.constantFrom('a', 'b', 'c');
    const edge = fc.record({ on: fc.constantFrom('trigger:x', 'trigger:y', 'It rains.'), to: name });
    const edges = fc.uniqueArray(edge, { maxLength: 3, selector: ({ on }) => on });
    const move = fc.record({ from: name, on: fc.constantFrom('trigger:x', 'trigger:y', 'trigger:z', 'It rains.') });
    fc.assert(
      fc.property(fc.tuple(edges, edges, edges), fc.array(move, { maxLength: 20 }), (ways, moves) => {
        const sections = ['a', 'b', 'c'].map((id, at): Section => ({
          id,
          objective: 'o',
          knows: {},
          edges: ways[at] ?? [],
          script: [],
        }));
        const told: SessionEvent[] = [];
        const story = new Story(sections, (event) => told.push(event));
        let expected = 'a';
        for (const { from, on } of moves) {
          const isTrigger = on.startsWith('trigger:');
          const to = sections.find(({ id }) => id === expected)?.edges.find((one) => one.on === on)?.to;
          const problem = isTrigger ? story.trigger({ name: on.slice(8), given: {} }) : story.take(from, on);
          if (isTrigger) expect(problem === undefined).toBe(to !== undefined);
          if (isTrigger || from === expected) expected = to ?? expected;
          expect(story.place.section).toBe(expected);
        }
        const chain = told.map((event) => (event.type === 'section' ? [event.from, event.section] : []));
        expect(chain.map(([from]) => from)).toEqual(['a', ...chain.map(([, to]) => to)].slice(0, chain.length));
      }),
    );
  });
});
