import { describe, expect, it } from 'vitest';
import { scriptedAgent } from '../../../agents/scripted/scripted.ts';
import { withScript } from '../../../agents/actor/script.ts';
import { restore } from '../../../server/journal/restore.ts';
import { fakeEngines } from '../../fakes/engines.ts';
import { begin, say, type Call } from '../../rigs/memory-rig.ts';
import { characters, serve } from '../../rigs/serve-rig.ts';

const says = Array.from({ length: 9 }, (_, index) => `Line ${index}.`);

async function update(call: Call, x_dramatis: unknown): Promise<any> {
  call.send({ type: 'session.update', session: { type: 'realtime', x_dramatis } });
  return (await call.until('session.updated')).session.x_dramatis;
}

describe('seed and temperature', () => {
  it('reach the reply source from the session, and from the response field by field', async () => {
    const engines = fakeEngines({ says });
    const call = await begin(await serve({ engines }), '?model=alice');
    await say(call, 'Hello.');
    expect(engines.agent.asked.at(-1)?.sampling).toBeUndefined();
    expect(await update(call, { seed: 7, temperature: 0.4 })).toMatchObject({ seed: 7, temperature: 0.4 });
    await say(call, 'Hello.');
    expect(engines.agent.asked.at(-1)?.sampling).toEqual({ seed: 7, temperature: 0.4 });
    call.send({ type: 'response.create', response: { output_modalities: ['text'], x_dramatis: { seed: 8 } } });
    await call.until('response.done');
    expect(engines.agent.asked.at(-1)?.sampling).toEqual({ seed: 8, temperature: 0.4 });
  });

  it('are taken back with null, and stay over other updates', async () => {
    const call = await begin(await serve({ engines: fakeEngines({ says }) }), '?model=alice');
    await update(call, { seed: 7, temperature: 1 });
    expect(await update(call, { recipe: 'dramatis' })).toMatchObject({ seed: 7, temperature: 1 });
    const left = await update(call, { seed: null });
    expect([left.seed, left.temperature]).toEqual([undefined, 1]);
  });

  it.each([{ seed: -1 }, { seed: 1.5 }, { temperature: 3 }])('are refused out of range: %o', async (wrong) => {
    const call = await begin(await serve({ engines: fakeEngines({ says }) }), '?model=alice');
    call.send({ type: 'session.update', session: { x_dramatis: wrong } });
    expect((await call.until('error')).error.param).toMatch(/^session\.x_dramatis\./);
  });

  it('of a response outlive a restart of the server in its middle', () => {
    const again = { speaks: true, sampling: { seed: 3 } };
    const restored = restore(
      [
        { type: 'open', version: 3, id: 'sess_1', character: 'alice', model: 'alice' },
        { type: 'started', replyId: 'resp_1', again },
      ],
      0,
    );
    expect(restored?.reply?.sampling).toEqual({ seed: 3 });
  });

  it('choose the greeting: the same seed the same one, not all seeds the same one', async () => {
    const character = [...characters.values()].find(({ greetings }) => greetings.length > 2)!;
    const agent = withScript(scriptedAgent(character));
    const greeting = async (seed: number): Promise<string> => {
      const { signal } = new AbortController();
      const parts = await Array.fromAsync(agent.reply([], { signal, situation: 'greeting', sampling: { seed } }));
      return parts.map((part) => (part.type === 'text-delta' ? part.text : '')).join('');
    };
    const seeds = Array.from({ length: 20 }, (_, seed) => seed);
    const first = await Promise.all(seeds.map(greeting));
    expect(await Promise.all(seeds.map(greeting))).toEqual(first);
    expect(new Set(first).size).toBeGreaterThan(1);
  });
});
