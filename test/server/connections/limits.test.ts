import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { Character } from '../../../characters/character.ts';
import { pricesIn } from '../../../server/connections/governed.ts';
import { fold } from '../../../server/journal/fold.ts';
import type { JournalLine } from '../../../server/journal/lines.ts';
import { restore } from '../../../server/journal/restore.ts';
import { leftOf, nothingSpent, Spending } from '../../../server/limits/spending.ts';
import { serverEventSchema } from '../../../server/protocol/server-events.ts';
import { cascade } from '../../../server/responders/responder.ts';
import { limited } from '../../../server/responders/limited.ts';
import { TurnTimings } from '../../../server/session/contract/turn-timings.ts';
import { systemClock } from '../../../server/session/contract/clock.ts';
import { fakeEngines } from '../../fakes/engines.ts';
import { dataFolder, type Call } from '../../rigs/memory-rig.ts';
import { characters, serve } from '../../rigs/serve-rig.ts';

const key = 'server-key';
const says = ['One two three.'];
type Server = Awaited<ReturnType<typeof serve>>;

/** Engines whose agent is the character's own, for its lines. */
function engines() {
  const made = fakeEngines({ says });
  const { agent, recognizer } = made;
  return {
    ...made,
    responderFor: (character: Character) =>
      cascade({ ...made.voiceOf(character), recognizer, agent: { ...agent, character } }),
  };
}

const opened = async (flags = {}) => serve({ engines: engines(), flags: { apiKeys: key, ...flags } });

async function issue(server: Server, limits: object): Promise<string> {
  const body = { session: { model: 'alice' }, x_dramatis: { limits } };
  const answer = await server.ask('/v1/realtime/client_secrets', { key, body });
  expect(answer.status).toBe(200);
  return answer.body.value as string;
}

async function open(server: Server, secret: string, query = '?x=notice'): Promise<Call> {
  const call = server.call(query, { authorization: `Bearer ${secret}` });
  await call.until('session.created');
  return call;
}

/** Asks for a reply and returns who made it, and its words. */
async function ask(call: Call, text: string): Promise<{ mind: any; said: string; last: number }> {
  const content = [{ type: 'input_text', text }];
  call.send({ type: 'conversation.item.create', item: { type: 'message', role: 'user', content } });
  call.send({ type: 'response.create', response: { output_modalities: ['text'] } });
  const { response, x_seq: last } = await call.until('response.done');
  expect(response.status).toBe('completed');
  return { mind: response.x_dramatis.mind, said: response.output[0].content[0].text, last };
}

const byLimit = { name: expect.any(String), because: 'limit' };

describe('limits of a client secret', () => {
  it('let characters answer with their own lines once the replies are used up; they never fall silent', async () => {
    const server = await opened();
    const call = await open(server, await issue(server, { replies: 2 }));
    expect((await ask(call, 'Hello.')).said).toBe('One two three.');
    expect((await ask(call, 'Hello.')).mind.because).toBeUndefined();
    for (const text of ['Who are you?', 'Tell me of the Queen.', 'qwrtz?']) {
      const { mind, said } = await ask(call, text);
      expect(mind).toEqual(byLimit);
      expect(said).not.toBe('One two three.');
      expect(said.length).toBeGreaterThan(2);
    }
  });

  it('warn a client that asks for notices once, when a fifth is left', async () => {
    const server = await opened();
    const secret = await issue(server, { replies: 5, tokens: 1_000_000 });
    const notices = async (query: string, replies: number): Promise<unknown[]> => {
      const call = await open(server, secret, query);
      const told: unknown[] = [];
      call.socket.on('message', (data: Buffer) => {
        const event: unknown = JSON.parse(data.toString());
        if (JSON.stringify(event).includes('limit_near')) told.push(serverEventSchema.parse(event));
      });
      for (let index = 0; index < replies; index += 1) await ask(call, 'Hello.');
      return told;
    };
    expect(await notices('?x=notice', 3)).toEqual([]);
    expect(await notices('?x=notice', 2)).toMatchObject([
      { type: 'x_dramatis.limit_near', limit: 'replies', left: 1, of: 5 },
    ]);
    expect(await notices('', 1)).toEqual([]);
  });

  it('count over all sessions of the secret, and not for another secret', async () => {
    const server = await opened();
    const secret = await issue(server, { replies: 2 });
    const first = await open(server, secret);
    await ask(first, 'Hello.');
    first.socket.close();
    const second = await open(server, secret);
    await ask(second, 'Hello.');
    expect((await ask(second, 'Hello.')).mind).toEqual(byLimit);
    expect((await ask(await open(server, await issue(server, { replies: 2 })), 'Hello.')).mind.because).toBeUndefined();
  });

  it('count tokens as the model does, 8 a reply here', async () => {
    const server = await opened();
    const call = await open(server, await issue(server, { tokens: 16 }));
    await ask(call, 'Hello.');
    expect((await ask(call, 'Hello.')).mind.because).toBeUndefined();
    expect((await ask(call, 'Hello.')).mind).toEqual(byLimit);
  });

  it('count speech in seconds, and money at the prices of the server', async () => {
    const server = await opened({ prices: 'input=1000000,audio=6000' });
    const spoken = async (limits: object): Promise<unknown[]> => {
      const call = await open(server, await issue(server, limits));
      const minds: unknown[] = [];
      for (let index = 0; index < 3; index += 1) {
        call.send({ type: 'response.create' });
        minds.push((await call.until('response.done')).response.x_dramatis.mind.because ?? 'model');
      }
      return minds;
    };
    // Three words of 100 ms each; three input tokens of 1 each, and 0.3 s of 100 a second.
    expect(await spoken({ audio_s: 1 })).toEqual(['model', 'model', 'model']);
    expect(await spoken({ audio_s: 1, cost: 60 })).toEqual(['model', 'model', 'limit']);
  });

  it('cannot be changed by the client, nor asked for in a currency without prices', async () => {
    const server = await opened();
    const call = await open(server, await issue(server, { replies: 1 }));
    call.send({ type: 'session.update', session: { x_dramatis: { limits: { replies: 1_000 } } } });
    await call.until('session.updated');
    await ask(call, 'Hello.');
    expect((await ask(call, 'Hello.')).mind).toEqual(byLimit);
    const body = { x_dramatis: { limits: { cost: 5 } } };
    expect(await server.ask('/v1/realtime/client_secrets', { key, body })).toMatchObject({
      status: 400,
      body: { error: { code: 'invalid_value', param: 'x_dramatis.limits.cost' } },
    });
    for (const wrong of [{ replies: 0 }, { tokens: 1.5 }, { audio_s: -1 }, { cost: 'much' }])
      expect(
        await server.ask('/v1/realtime/client_secrets', { key, body: { x_dramatis: { limits: wrong } } }),
      ).toMatchObject({
        status: 400,
      });
  });

  it('hold for another character of the same session', async () => {
    const server = await opened();
    const body = {
      session: { model: 'alice' },
      x_dramatis: { characters: ['sherlock-holmes'], limits: { replies: 1 } },
    };
    const { body: made } = await server.ask('/v1/realtime/client_secrets', { key, body });
    const call = await open(server, made.value as string);
    await ask(call, 'Hello.');
    call.send({ type: 'session.update', session: { x_dramatis: { character: 'sherlock-holmes' } } });
    await call.until('session.updated');
    expect((await ask(call, 'Who are you?')).mind).toEqual(byLimit);
  });

  it('continue counting after a reconnect, also to another process', async () => {
    const flags = { store: true, dataDir: dataFolder() };
    const server = await opened(flags);
    const call = server.call('?x=resume', { authorization: `Bearer ${await issue(server, { replies: 1 })}` });
    const { session } = await call.until('session.created');
    const { token } = session.x_dramatis.resume;
    const { last } = await ask(call, 'Hello.');
    call.socket.terminate();
    await call.closed;
    const back = server.call(`?resume=${token}&after=${last}&x=resume`);
    await back.until('x_dramatis.resumed');
    expect((await ask(back, 'Hello.')).mind).toEqual(byLimit);
    await server.app.close();
    const again = await opened(flags);
    const restored = again.call(`?resume=${token}&after=100&x=resume`);
    await restored.until('x_dramatis.resumed');
    expect((await ask(restored, 'Hello.')).mind).toEqual(byLimit);
  });

  it('are in the journal with what was spent, also when that is shortened', () => {
    const spent = (replies: number): JournalLine => ({ type: 'spent', spent: { ...nothingSpent, replies } });
    const open: JournalLine = {
      type: 'open',
      version: 3,
      id: 'sess_1',
      character: 'alice',
      model: 'alice',
      bySecret: true,
      terms: { limits: { replies: 3 } },
      account: 'hash',
    };
    for (const lines of [[open, spent(1), spent(2)], fold([open, spent(1), spent(2)])])
      expect(restore(lines, 0)).toMatchObject({
        account: 'hash',
        terms: { limits: { replies: 3 } },
        spent: { replies: 2 },
      });
    expect(fold([open, spent(1), spent(2)])).toHaveLength(2);
  });
});

describe('counted spending', () => {
  it('is the cost of all replies together; of a discarded speculative reply, only its tokens', async () => {
    const spending = new Spending();
    const totals: unknown[] = [];
    const meter = { spending, account: 'a', limits: { replies: 10 }, prices: undefined, onNear: () => undefined };
    const within = limited(engines(), { ...meter, onSpent: (spent) => totals.push(spent) });
    const reply = async (confirmed?: Promise<void>): Promise<void> => {
      const options = { signal: new AbortController().signal, speaks: false, scene: '', speed: 1, confirmed };
      const parts = within.responderFor(characters.get('alice')!).reply([], {
        ...options,
        trace: new TurnTimings(systemClock),
      });
      for await (const _ of parts);
    };
    await reply();
    await reply(new Promise(() => undefined));
    await reply(Promise.resolve());
    expect(totals).toEqual(
      [1, 1, 2].map((replies, index) => ({ replies, tokens: 8 * (index + 1), audioMs: 0, cost: 0 })),
    );
  });

  it('refuses no more and no less than the limit when many replies are asked for at once', async () => {
    const spending = new Spending();
    const parts = { spending, account: 'a', limits: { replies: 7 }, prices: undefined };
    const within = limited(engines(), {
      ...parts,
      onNear: () => undefined,
      onSpent: () => undefined,
    });
    const minds = await Promise.all(
      Array.from({ length: 20 }, async () => {
        const options = { signal: new AbortController().signal, speaks: false, scene: '', speed: 1 };
        const made = within.responderFor(characters.get('alice')!).reply([{ role: 'user', text: 'Hm.' }], {
          ...options,
          trace: new TurnTimings(systemClock),
        });
        for await (const part of made) if (part.type === 'reply-source') return part.because;
        return 'nobody';
      }),
    );
    expect(minds.filter((because) => because === undefined)).toHaveLength(7);
    expect(minds.filter((because) => because === 'limit')).toHaveLength(13);
  });

  it('counts alone while the shared store does not answer, and never goes back', async () => {
    let isThere = true;
    const shared = [0, 0, 0, 0];
    const spending = new Spending(async (_account, amounts) => {
      await pause(0);
      if (!isThere) throw new Error('gone');
      return amounts.map((amount, at) => (shared[at] = (shared[at] ?? 0) + amount));
    });
    shared[0] = 5;
    expect((await spending.add('a', { replies: 1 })).replies).toBe(6);
    isThere = false;
    expect((await spending.add('a', { replies: 1 })).replies).toBe(2);
    spending.restore('a', { ...nothingSpent, replies: 9 });
    expect((await spending.add('a', { replies: 1 })).replies).toBe(10);
  });

  it('has the prices that the operator names; those that are left out are free', () => {
    expect(pricesIn([])).toBeUndefined();
    expect(pricesIn(['output=0.6', 'audio=2'])).toEqual({ input: 0, output: 0.6, audio: 2 });
  });

  it('leaves what the limits name, and nothing of what they do not', () => {
    expect(leftOf({ replies: 3, audio_s: 2 }, { replies: 4, tokens: 9, audioMs: 500, cost: 1 })).toEqual([
      { limit: 'replies', left: -1, of: 3 },
      { limit: 'audio_s', left: 1.5, of: 2 },
    ]);
  });
});
