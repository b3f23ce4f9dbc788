import { afterEach, describe, expect, it, vi } from 'vitest';
import { readConfig } from '../../../server/config/config.ts';
import { limits } from '../../../server/limits/limits.ts';
import { record, serve } from '../../rigs/serve-rig.ts';
import { WebSocket } from 'ws';

const key = 'key-of-the-first-account';
const flags = { apiKeys: key, trustProxy: '1', twilio: true };
const guesses = limits.failedKeys.value;

type Server = Awaited<ReturnType<typeof serve>>;

afterEach(() => void vi.useRealTimers());

const from = (address: string): Record<string, string> => ({ 'x-forwarded-for': address });

/** Tries as many wrong keys as an address may. */
async function guess({ ask }: Server, address: string): Promise<void> {
  for (let count = 0; count < guesses; count += 1)
    expect((await ask('/v1/models', { key: `guess-${count}`, headers: from(address) })).status).toBe(401);
}

describe('guessing of keys', () => {
  it('is throttled by address: the server answers 429, even to the right key, and says when to retry', async () => {
    const server = await serve({ flags });
    await guess(server, '192.0.2.1');
    for (const shown of ['one-more-guess', key]) {
      const { status, headers, body } = await server.ask('/v1/models', { key: shown, headers: from('192.0.2.1') });
      expect([status, body.error.code]).toEqual([429, 'rate_limit_exceeded']);
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    }
    expect((await server.ask('/v1/models', { key, headers: from('192.0.2.2') })).status).toBe(200);
  });

  it('over WebSockets and client secrets counts as much as over HTTP', async () => {
    const server = await serve({ flags });
    const guessed = (count: number): Record<string, string> => ({
      authorization: `Bearer ${count % 2 === 0 ? 'ek_' : ''}guess-${count}`,
      ...from('192.0.2.1'),
    });
    for (let count = 0; count < guesses; count += 1)
      expect((await server.call('', guessed(count)).refused).status).toBe(401);
    const { status, code, retryAfter } = await server.call('', guessed(0)).refused;
    expect([status, code, Number(retryAfter) > 0]).toEqual([429, 'rate_limit_exceeded', true]);
    expect((await server.ask('/v1/models', { key, headers: from('192.0.2.1') })).status).toBe(429);
  });

  it('in phone calls counts, too', async () => {
    const server = await serve({ flags: { apiKeys: key, twilio: true } });
    const call = async (guessed: string): Promise<string> => {
      const { socket, closed } = record(new WebSocket(`ws://${server.at}/v1/twilio`));
      socket.once('open', () =>
        socket.send(
          JSON.stringify({ event: 'start', start: { streamSid: 'MZ1', customParameters: { key: guessed } } }),
        ),
      );
      return (await closed).reason;
    };
    for (let count = 0; count < guesses; count += 1) expect(await call(`guess-${count}`)).toBe('invalid_api_key');
    expect(await call('one-more-guess')).toBe('rate_limit_exceeded');
  });

  it('locks no client out whose key the server has accepted from this address before', async () => {
    const server = await serve({ flags });
    expect((await server.ask('/v1/models', { key, headers: from('192.0.2.1') })).status).toBe(200);
    await guess(server, '192.0.2.1');
    expect((await server.ask('/v1/models', { key: 'guess', headers: from('192.0.2.1') })).status).toBe(429);
    expect((await server.ask('/v1/models', { key, headers: from('192.0.2.1') })).status).toBe(200);
  });

  it('is no matter of requests without any key', async () => {
    const server = await serve({ flags });
    for (let count = 0; count <= guesses; count += 1) expect((await server.ask('/v1/models')).status).toBe(401);
    expect((await server.ask('/v1/models', { key })).status).toBe(200);
  });

  it('leaves one line a minute and address in the log, and a count in the metrics', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const server = await serve({ flags });
    await guess(server, '192.0.2.1');
    for (let count = 0; count < 5; count += 1) await server.ask('/v1/models', { headers: from('192.0.2.1') });
    await server.ask('/v1/models', { key: 'guess', headers: from('192.0.2.1') });
    await server.ask('/v1/models', { key: 'guess', headers: from('192.0.2.2') });
    const lines = (): string[] => server.log.filter((line) => /refused/.test(line));
    const facts = (line: string | undefined): unknown => {
      const { address, times } = JSON.parse(line ?? '{}') as Record<string, unknown>;
      return { address, times };
    };
    expect(lines().map(facts)).toEqual([
      { address: '192.0.2.1', times: 1 },
      { address: '192.0.2.2', times: 1 },
    ]);
    vi.advanceTimersByTime(60_000);
    expect(lines().slice(2).map(facts)).toEqual([{ address: '192.0.2.1', times: guesses + 5 }]);
    expect(lines().join('')).not.toContain('guess-');
    const metrics = await (
      await fetch(`${server.url}/metrics`, { headers: { authorization: `Bearer ${key}` } })
    ).text();
    expect(metrics).toContain(`dramatis_failed_keys_total{reason="wrong"} ${guesses + 1}`);
    expect(metrics).toContain('dramatis_failed_keys_total{reason="missing"} 5');
    expect(metrics).toContain('dramatis_failed_keys_total{reason="throttled"} 1');
  });
});

describe('a short key', () => {
  const read = (HOST: string, DRAMATIS_API_KEYS: string) =>
    readConfig({ flags: {}, environment: { HOST, DRAMATIS_API_KEYS } });

  it('is refused at the start of a server that others can reach, with how to make a better one', () => {
    for (const keys of ['a', 'fifteen-letters', `${key},game:short`]) {
      expect(() => read('0.0.0.0', keys)).toThrow(/DRAMATIS_API_KEYS.*16 characters.*randomBytes/);
      expect(() => read('0.0.0.0', keys)).not.toThrow(/fifteen|short/);
    }
  });

  it('is accepted on loopback', () => {
    expect(read('127.0.0.1', 'a').apiKeys).toEqual(['a']);
    expect(read('0.0.0.0', `game:${key}`).apiKeys).toHaveLength(1);
  });
});
