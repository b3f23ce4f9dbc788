import { describe, expect, it, vi } from 'vitest';
import { silence, tone } from '../../../fakes/vad.ts';
import { fakeEngines } from '../../../fakes/engines.ts';
import { serve as serveWith } from '../../../rigs/serve-rig.ts';
import { dialPhone } from '../../../rigs/phone-rig.ts';

const keys = ['hush-hush-one-two', 'hush-hush-two-one'] as const;
const resume = 'a-secret-of-the-application';

async function serve() {
  const engines = fakeEngines({ says: ['Good evening.', 'One two three four five six.'] });
  const flags = { apiKeys: `one:${keys[0]},two:${keys[1]}`, twilio: true };
  return { engines, ...(await serveWith({ engines, flags })) };
}

describe('phone call that comes back', () => {
  it('continues in the next stream with the same token, and hears again the audio that had not been played', async () => {
    const { at, engines, sessions } = await serve();
    const phone = await dialPhone(at);
    phone.start({ character: 'alice', key: keys[0], resume });
    await phone.listen(200);
    // Twilio drops the stream without a stop.
    phone.socket.close();
    await phone.hungUp();
    expect(sessions.active).toBe(1);
    const again = await dialPhone(at);
    again.start({ character: 'alice', key: keys[0], resume });
    again.speak(silence(800, 8_000));
    again.speak(tone(600, 8_000));
    again.speak(silence(1_500, 8_000));
    await again.listen(300);
    expect(sessions.active).toBe(1);
    // It did not greet twice, and it knows what it said.
    expect(engines.agent.situations).toEqual(['greeting', undefined]);
    expect(engines.agent.histories.at(-1)).toMatchObject([{ role: 'assistant' }, { role: 'user' }]);
    again.send({ event: 'stop', streamSid: 'MZ1', stop: {} });
    expect(await again.hungUp()).toMatchObject({ code: 1000 });
    expect(sessions.active).toBe(0);
    const next = await dialPhone(at);
    next.start({ character: 'alice', key: keys[0], resume });
    await next.listen(200);
    expect(engines.agent.situations).toEqual(['greeting', undefined, 'greeting']);
  });

  it('replaces a stream that has not been noticed to be broken', async () => {
    const { at, sessions } = await serve();
    const phone = await dialPhone(at);
    phone.start({ character: 'alice', key: keys[0], resume });
    await phone.listen(200);
    const again = await dialPhone(at);
    again.start({ character: 'alice', key: keys[0], resume });
    expect(await phone.hungUp()).toMatchObject({ code: 4001 });
    expect(sessions.active).toBe(1);
    again.send({ event: 'stop', streamSid: 'MZ1', stop: {} });
    await vi.waitFor(() => expect(sessions.active).toBe(0));
  });

  it('needs its key, and names no session of another account', async () => {
    const { at, sessions, log } = await serve();
    const phone = await dialPhone(at);
    phone.start({ character: 'alice', key: keys[0], resume });
    await phone.listen(200);
    const other = await dialPhone(at);
    other.start({ character: 'alice', key: keys[1], resume });
    await other.listen(200);
    expect(sessions.active).toBe(2);
    const wrong = await dialPhone(at);
    wrong.start({ character: 'alice', key: 'guess', resume });
    expect(await wrong.hungUp()).toMatchObject({ code: 1008, reason: 'invalid_api_key' });
    const guessable = await dialPhone(at);
    guessable.start({ character: 'alice', key: keys[0], resume: '1234' });
    expect(await guessable.hungUp()).toMatchObject({ code: 1008, reason: 'invalid_value' });
    expect(log.join('')).not.toContain(resume);
  });

  it('ends with its stream without a token', async () => {
    const { at, sessions } = await serve();
    const phone = await dialPhone(at);
    phone.start({ character: 'alice', key: keys[0] });
    await phone.listen(200);
    phone.socket.close();
    await vi.waitFor(() => expect(sessions.active).toBe(0));
  });
});
