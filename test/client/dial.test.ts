import { describe, expect, it } from 'vitest';
import { diagnose, dial } from '../../server/client/connection/dial.js';

/** What a WebSocket was opened with. */
interface Dialled {
  readonly url: URL;
  readonly protocols: readonly string[];
}

function dialled(options: { apiKey?: string }, query: Record<string, string | undefined>): Dialled {
  class Socket {
    binaryType = '';
    readonly url: string | URL;
    readonly protocols: readonly string[];
    constructor(url: string | URL, protocols: string[]) {
      this.url = url;
      this.protocols = protocols;
    }
  }
  const WebSocket = Socket as unknown as new (url: string | URL, protocols: string[]) => ReturnType<typeof dial>;
  return dial({ url: 'http://localhost:8080', WebSocket, ...options }, query) as unknown as Dialled;
}

describe('dial', () => {
  it('sends key and resume token as subprotocols, never in the address, which proxies log', () => {
    const { url, protocols } = dialled({ apiKey: 'ek_secret' }, { x: 'resume', after: '7', resume: 'rt_token' });
    expect(protocols).toEqual(['realtime', 'openai-insecure-api-key.ek_secret', 'dramatis-resume.rt_token']);
    expect(String(url)).toBe('ws://localhost:8080/v1/realtime?x=resume&after=7');
  });

  it('sends neither if there is none', () => {
    expect(dialled({}, { model: 'alice', resume: undefined }).protocols).toEqual(['realtime']);
  });
});

describe('diagnose', () => {
  it('sends its key, because a server reports its free places only to clients with a key', async () => {
    const asked: unknown[] = [];
    const fetch = async (_url: URL, init?: { headers: Record<string, string> }) => {
      asked.push(init?.headers);
      return { status: 200, ok: true, json: async () => ({ status: 'ok', sessions: { active: 2, most: 2 } }) };
    };
    expect(await diagnose({ url: 'http://localhost:8080', apiKey: 'ek_secret', fetch })).toBe('busy');
    expect(asked).toEqual([{ authorization: 'Bearer ek_secret' }]);
  });
});
