import { RealtimeAgent, RealtimeSession, tool, type RealtimeItem } from '@openai/agents-realtime';
import { describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { orderViolations, unfinishedResponses, type RecordedEvent } from '../../conformance/realtime-order.ts';
import { fakeEngines } from '../../fakes/engines.ts';
import { serve } from '../../rigs/serve-rig.ts';

describe('agents SDK', () => {
  it('runs functions with the agents SDK and continues with their outputs', async () => {
    const places: string[] = [];
    const weather = tool({
      name: 'get_weather',
      description: 'The weather of a place.',
      parameters: z.object({ place: z.string() }),
      execute: async ({ place }) => {
        places.push(place);
        return `It rains in ${place}.`;
      },
    });
    const calls = ['London', 'Paris'].map((place) => ({ name: 'get_weather', arguments: JSON.stringify({ place }) }));
    // The SDK asks for a response after each output, so the character may speak more than once.
    const told = Array<string>(20).fill('It rains in both.');
    const engines = fakeEngines({ says: [{ text: 'Let me look.', calls }, ...told] });
    const { port } = await serve({ engines });
    const agent = new RealtimeAgent({ name: 'Guest', instructions: 'It rains.', tools: [weather] });
    const session = new RealtimeSession(agent, { transport: 'websocket', model: 'sherlock-holmes' });
    const events: RecordedEvent[] = [];
    const faults: unknown[] = [];
    let history: RealtimeItem[] = [];
    session.on('transport_event', (event) => events.push(event as RecordedEvent));
    session.on('error', ({ error }) => faults.push(error));
    session.on('history_updated', (updated) => (history = updated));
    await session.connect({ apiKey: 'any', url: `ws://127.0.0.1:${port}/v1/realtime?model=sherlock-holmes` });
    session.sendMessage('Will it rain?');
    const broughtBack = (): string[] =>
      engines.agent.histories.at(-1)?.flatMap((message) => (message.role === 'tool' ? [message.text] : [])) ?? [];
    const both = ['It rains in London.', 'It rains in Paris.'];
    await vi.waitFor(() => expect(broughtBack()).toEqual(both), { timeout: 10_000 });
    await vi.waitFor(() => expect(unfinishedResponses(events)).toEqual([]), { timeout: 10_000 });
    expect(places).toEqual(['London', 'Paris']);
    expect(history.filter((item) => item.type === 'function_call')).toMatchObject([
      { name: 'get_weather', status: 'completed' },
      { name: 'get_weather', status: 'completed' },
    ]);
    session.close();
    expect(faults).toEqual([]);
    expect(orderViolations(events)).toEqual([]);
  });
});
