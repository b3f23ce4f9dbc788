import fastify from 'fastify';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { readConfig } from '../../../server/config/config.ts';
import { addConnectionBounds } from '../../../server/http/connection-bounds.ts';

describe('time for a body', () => {
  afterEach(() => void vi.useRealTimers());

  it('an injected request, which has no socket, left a timer that failed seconds later', async () => {
    const app = fastify();
    addConnectionBounds(app, readConfig({ flags: {}, environment: {} }));
    app.post('/', async ({ body }) => body);
    await app.ready();
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const reply = await app.inject({ method: 'POST', url: '/', payload: { name: 'Ann' } });
    expect(reply.json()).toEqual({ name: 'Ann' });
    expect(vi.getTimerCount()).toBe(0);
    vi.useRealTimers();
    await app.close();
  });
});
