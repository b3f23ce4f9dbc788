import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { record, serve } from '../../../rigs/serve-rig.ts';

const token = 'twilio-auth-token';

/** As Twilio signs a handshake: HMAC-SHA1 of the address in the TwiML, in base64. */
function signed(address: string, by = token): Record<string, string> {
  return { 'x-twilio-signature': createHmac('sha1', by).update(address).digest('base64') };
}

async function serveSigned(flags: Record<string, string> = {}) {
  const server = await serve({ flags: { twilioAuthToken: token, ...flags } });
  const dial = (headers: Record<string, string>, path = '/v1/twilio') =>
    record(new WebSocket(`ws://${server.at}${path}`, { headers }));
  return { ...server, dial };
}

describe('Twilio signature', () => {
  it('accepts a phone call with the signature of its URL', async () => {
    const { at, dial } = await serveSigned();
    for (const address of [`wss://${at}/v1/twilio`, `wss://${at}/v1/twilio/`]) {
      const { socket } = dial(signed(address));
      await expect(once(socket, 'open')).resolves.toBeDefined();
      socket.close();
    }
  });

  it('accepts a phone call signed for the public name that a trusted proxy reports', async () => {
    const { dial } = await serveSigned({ trustProxy: '1' });
    const headers = { ...signed('wss://voice.example.com/v1/twilio'), 'x-forwarded-host': 'voice.example.com' };
    const { socket } = dial(headers);
    await expect(once(socket, 'open')).resolves.toBeDefined();
    socket.close();
  });

  it('refuses a phone call with a missing or wrong signature before the upgrade', async () => {
    const { at, dial, log, sessions } = await serveSigned();
    const address = `wss://${at}/v1/twilio`;
    const wrong: Record<string, string>[] = [
      {},
      { 'x-twilio-signature': '' },
      { 'x-twilio-signature': 'nonsense' },
      signed(address, 'another-token'),
      signed(`https://${at}/v1/twilio`),
      signed('wss://elsewhere.example/v1/twilio'),
      { ...signed('wss://voice.example.com/v1/twilio'), 'x-forwarded-host': 'voice.example.com' },
    ];
    for (const headers of wrong)
      expect(await dial(headers).refused).toMatchObject({ status: 403, code: 'invalid_twilio_signature' });
    expect(await dial(signed(address), '/v1/twilio?a=b').refused).toMatchObject({ status: 403 });
    expect(log.filter((line) => line.includes('invalid_twilio_signature'))).toHaveLength(wrong.length + 1);
    expect(log.join('')).not.toContain(token);
    expect(sessions.opened).toBe(0);
  });

  it('requires an API key in addition to the signature', async () => {
    const { at, dial } = await serveSigned({ apiKeys: 'key' });
    const { socket, closed } = dial(signed(`wss://${at}/v1/twilio`));
    await once(socket, 'open');
    socket.send(JSON.stringify({ event: 'start', start: { streamSid: 'MZ1', customParameters: {} } }));
    expect(await closed).toEqual({ code: 1008, reason: 'invalid_api_key' });
  });

  it('requires no signature from other clients', async () => {
    const { call } = await serveSigned();
    await expect(call().until('session.created')).resolves.toBeDefined();
  });
});
