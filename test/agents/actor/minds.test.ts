import { describe, expect, it } from 'vitest';
import { actor } from '../../../agents/actor/actor.ts';
import type { Cost } from '../../../agents/agent.ts';
import { createCircuitBreaker } from '../../../voices/calls/circuit-breaker.ts';
import { withFallback } from '../../../agents/actor/fallback.ts';
import { gated, openAgents } from '../../../agents/actor/open.ts';
import { openOpenaiChat } from '../../../agents/chats/openai-chat.ts';
import { retrievalAgent } from '../../../agents/retrieval/retrieval.ts';
import { withScript } from '../../../agents/actor/script.ts';
import { Preempted } from '../../../voices/calls/limiter.ts';
import { EngineError } from '../../../voices/engine.ts';
import { fails, openChatServer, says } from '../../fakes/servers/chat-server.ts';
import { fakeChat, replyParts, smallCharacter, wordsOf } from './stand-ins.ts';

const martha = smallCharacter();
const lines = retrievalAgent(martha);
const timeout = new EngineError('fake-model', 'ENGINE_TIMEOUT', 'no token within 15 s');

describe('an actor', () => {
  it('names the model, streams its words, and tells what they cost', async () => {
    expect(await replyParts(actor(martha, fakeChat(['Come ', 'in.'])), ['Hello'])).toEqual([
      { type: 'mind', name: 'fake-model' },
      { type: 'text-delta', text: 'Come ' },
      { type: 'text-delta', text: 'in.' },
      { type: 'usage', inputTokens: 5, outputTokens: 2, cutShort: false },
    ]);
  });

  it('sends the prompt with the scene and examples, and its settings', async () => {
    const model = fakeChat(['Yes.']);
    await replyParts(actor(martha, model), ['Is the inn haunted at night?'], { scene: 'A stormy night.' });
    expect(model.calls[0]?.settings).toEqual({ temperature: 0.8, maxTokens: 220 });
    expect(model.calls[0]?.messages[0]?.text).toContain('A stormy night.');
    expect(model.calls[0]?.messages.at(-1)?.text).toContain('She walks at midnight');
  });

  it('is sampled as the call asks', async () => {
    const model = fakeChat(['Yes.']);
    await replyParts(actor(martha, model), ['Hello'], { sampling: { topP: 0.5, seed: 1, stop: ['END'] } });
    expect(model.calls[0]?.settings).toEqual({ temperature: 0.8, maxTokens: 220, topP: 0.5, seed: 1, stop: ['END'] });
    await replyParts(actor(martha, model), ['Hello'], { sampling: { temperature: 0 } });
    expect(model.calls[1]?.settings).toEqual({ temperature: 0, maxTokens: 220 });
  });

  it('keeps to the tokens the call allows', async () => {
    const model = fakeChat(['Yes.']);
    await replyParts(actor(martha, model, { maxTokens: 50 }), ['Hello'], { maxTokens: 9 });
    expect(model.calls[0]?.settings.maxTokens).toBe(9);
  });

  it('tells what it has cost so far, since a reply may be stopped, and in the end what the model counted', async () => {
    const costs: Cost[] = [];
    const agent = actor(martha, fakeChat(['Well, I ', 'never did.']));
    const parts = await replyParts(agent, ['Hello'], { onCost: (cost) => costs.push(cost) });
    const [first, second, last] = costs;
    expect(first?.inputTokens).toBeGreaterThan(100);
    expect(second?.inputTokens).toBe(first?.inputTokens);
    expect(costs.map(({ outputTokens }) => outputTokens)).toEqual([2, 5, 2]);
    expect(parts.at(-1)).toMatchObject(last ?? {});
  });

  it('counts by estimate where the model gives no count', async () => {
    const parts = await replyParts(actor(martha, fakeChat(['Well, I never.'], { counts: false })), ['Hello']);
    expect(parts.at(-1)).toMatchObject({ type: 'usage', inputTokens: expect.any(Number), outputTokens: 4 });
    const cut = await replyParts(actor(martha, fakeChat(['Come in.', '\nUser: Thanks.'])), ['Hello']);
    expect(cut.at(-1)).toMatchObject({ type: 'usage', outputTokens: 6 });
  });

  it('says when the reply was cut short', async () => {
    const parts = await replyParts(actor(martha, fakeChat(['Well'], { reason: 'length' })), ['Hello']);
    expect(parts.at(-1)).toMatchObject({ cutShort: 'length' });
  });

  it('says when a filter of the model stepped in, before the first word too', async () => {
    for (const deltas of [['First you take'], []]) {
      const parts = await replyParts(actor(martha, fakeChat(deltas, { reason: 'filter' })), ['How do I do it?']);
      expect(wordsOf(parts)).toBe(deltas.join(''));
      expect(parts.at(-1)).toMatchObject({ type: 'usage', cutShort: 'filter' });
    }
  });

  it('speaks no name and not for the visitor', async () => {
    const model = fakeChat(['Martha', ':', ' Come in.', '\nUs', 'er: Thanks.', '\nMartha: Sit.']);
    const parts = await replyParts(actor(martha, model), ['Hello']);
    expect(wordsOf(parts).trim()).toBe('Come in.');
    expect(parts.at(-1)).toMatchObject({ type: 'usage', cutShort: false });
  });

  it('calls silence a bad reply', async () => {
    await expect(replyParts(actor(martha, fakeChat([' ', '\n'])), ['Hello'])).rejects.toMatchObject({
      code: 'ENGINE_BAD_REPLY',
    });
  });
});

describe('a mind with a fallback', () => {
  it('stays out of the way while all is well', async () => {
    const parts = await replyParts(withFallback(actor(martha, fakeChat(['Come in.'])), lines), ['Hello']);
    expect(wordsOf(parts)).toBe('Come in.');
    expect(parts.filter((part) => part.type === 'mind')).toEqual([{ type: 'mind', name: 'fake-model' }]);
  });

  it('gives the backup’s whole reply when nothing was said yet', async () => {
    const parts = await replyParts(withFallback(actor(martha, fakeChat([], { error: timeout })), lines), ['Hello']);
    expect(parts).toEqual([
      { type: 'mind', name: 'fake-model' },
      { type: 'mind', name: 'retrieval', because: 'ENGINE_TIMEOUT' },
      { type: 'text-delta', text: 'Good day, traveller.' },
      { type: 'usage', inputTokens: 0, outputTokens: 0, cutShort: false },
    ]);
  });

  it('rounds a broken reply off with an evasion', async () => {
    const broken = actor(martha, fakeChat(['Well, I '], { error: timeout }));
    const parts = await replyParts(withFallback(broken, lines), ['Hello']);
    expect(parts.map((part) => part.type)).toEqual(['mind', 'text-delta', 'mind', 'text-delta', 'usage']);
    expect(martha.evasions).toContain(wordsOf(parts.slice(2)).trim());
  });

  it('has an evasion where a filter left the model no word, and holds that against nobody', async () => {
    const circuit = createCircuitBreaker({ failureCount: 1 });
    const filtered = actor(martha, fakeChat([], { reason: 'filter' }));
    const parts = await replyParts(withFallback(filtered, lines, circuit), ['How do I do it?']);
    expect(martha.evasions).toContain(wordsOf(parts));
    expect(parts.at(-1)).toEqual({ type: 'usage', inputTokens: 5, outputTokens: 2, cutShort: 'filter' });
    expect(circuit.restsBecause()).toBeUndefined();
  });

  it('throws the reason of an abort', async () => {
    const reason = new Error('the user spoke');
    const signal = AbortSignal.abort(reason);
    const agent = withFallback(actor(martha, fakeChat(['Come in.'])), lines);
    await expect(replyParts(agent, ['Hello'], { signal })).rejects.toBe(reason);
  });

  it('does not hide errors of ours', async () => {
    const broken = actor(martha, fakeChat([], { error: new TypeError('a bug') }));
    await expect(replyParts(withFallback(broken, lines), ['Hello'])).rejects.toThrow('a bug');
  });

  it('leaves a model alone for a while after two failures, then tries it again', async () => {
    const clock = { nowMs: 0 };
    const model = fakeChat([], { error: timeout });
    const agent = withFallback(actor(martha, model), lines, createCircuitBreaker({ now: () => clock.nowMs }));
    const triesAt = async (nowMs: number): Promise<number> => {
      clock.nowMs = nowMs;
      expect(wordsOf(await replyParts(agent, ['Hello']))).toBe('Good day, traveller.');
      return model.calls.length;
    };
    expect(await triesAt(0)).toBe(1);
    expect(await triesAt(1_000)).toBe(2);
    expect(await triesAt(30_999)).toBe(2);
    expect(await triesAt(31_000)).toBe(3);
    expect(await triesAt(31_001)).toBe(3);
  });

  it('says why it leaves a model alone', async () => {
    const circuit = createCircuitBreaker({ failureCount: 1 });
    circuit.failed('ENGINE_REFUSED');
    const parts = await replyParts(withFallback(actor(martha, fakeChat(['Yes.'])), lines, circuit), ['Hello']);
    expect(parts[0]).toEqual({ type: 'mind', name: 'retrieval', because: 'ENGINE_REFUSED' });
  });

  it('forgets a failure after a success', () => {
    const circuit = createCircuitBreaker();
    circuit.failed('ENGINE_TIMEOUT');
    circuit.succeeded();
    circuit.failed('ENGINE_TIMEOUT');
    expect(circuit.restsBecause()).toBeUndefined();
  });
});

describe('a model for work beside the talks', () => {
  const ask = (model: ReturnType<typeof gated>) =>
    Array.fromAsync(model.chat([{ role: 'user', text: 'Sum up.' }], { signal: new AbortController().signal }));

  it('is not asked while talks have found it failing, and tells them where it fails itself', async () => {
    const circuit = createCircuitBreaker({ failureCount: 1 });
    const model = fakeChat(['Yes.']);
    await expect(ask(gated({ model: fakeChat([], { error: timeout }), circuit }))).rejects.toBe(timeout);
    await expect(ask(gated({ model, circuit }))).rejects.toMatchObject({ code: 'ENGINE_TIMEOUT' });
    expect(model.calls).toHaveLength(0);
    circuit.succeeded();
    expect(await ask(gated({ model, circuit }))).toHaveLength(2);
  });

  it('has not failed when it gives way', async () => {
    const circuit = createCircuitBreaker({ failureCount: 1 });
    const wanted = new Preempted('wanted');
    await expect(ask(gated({ model: fakeChat([], { error: wanted }), circuit }))).rejects.toBe(wanted);
    expect(circuit.restsBecause()).toBeUndefined();
  });
});

describe('a mind with a script', () => {
  it('greets with any of the card’s greetings', async () => {
    const greetings = [0, 0.4, 0.9].map((share) => withScript(lines, () => share));
    const said = await Promise.all(greetings.map((agent) => replyParts(agent, [], { situation: 'greeting' })));
    expect(said.map(wordsOf)).toEqual(martha.greetings);
    expect(said[0]?.[0]).toEqual({ type: 'mind', name: 'script' });
  });

  it('does not greet twice alike', async () => {
    const again = await replyParts(withScript(lines), ['Hello', martha.greetings[0] ?? ''], { situation: 'greeting' });
    expect(martha.greetings.slice(1)).toContain(wordsOf(again));
  });

  it('asks to say it again, each time otherwise', async () => {
    const first = wordsOf(await replyParts(withScript(lines), ['Hello'], { situation: 'unclear' }));
    const second = wordsOf(await replyParts(withScript(lines), ['Hello', first, ''], { situation: 'unclear' }));
    expect(martha.repeatRequests).toContain(first);
    expect(martha.repeatRequests).toContain(second);
    expect(second).not.toBe(first);
  });

  it('leaves the rest to the agent', async () => {
    expect(wordsOf(await replyParts(withScript(lines), ['Hello']))).toBe('Good day, traveller.');
  });
});

describe('the minds of a server', () => {
  it('speak their lines when there is no chat server', async () => {
    const agent = openAgents()(martha);
    expect(wordsOf(await replyParts(agent, ['Hello']))).toBe('Good day, traveller.');
    expect(martha.greetings).toContain(wordsOf(await replyParts(agent, [], { situation: 'greeting' })));
  });

  it('let the model play where there is one', async () => {
    await using server = await openChatServer(says(['Come ', 'in.']));
    const agent = openAgents([
      { model: openOpenaiChat({ baseUrl: server.baseUrl, model: 'small-model' }), circuit: createCircuitBreaker() },
    ])(martha);
    expect(await replyParts(agent, ['Hello'])).toMatchObject([
      { type: 'mind', name: 'small-model' },
      { text: 'Come ' },
      { text: 'in.' },
      { type: 'usage', inputTokens: 11, outputTokens: 7 },
    ]);
  });

  it('speak their lines when the model fails, and spare it for all characters', async () => {
    await using server = await openChatServer(fails(401));
    const mind = openAgents([
      { model: openOpenaiChat({ baseUrl: server.baseUrl, model: 'small-model' }), circuit: createCircuitBreaker() },
    ]);
    for (const character of [martha, smallCharacter(), smallCharacter()]) {
      expect(wordsOf(await replyParts(mind(character), ['Hello']))).toBe('Good day, traveller.');
    }
    expect(server.requests).toHaveLength(2);
  });

  it('are made once for each character', () => {
    const mind = openAgents();
    expect(mind(martha)).toBe(mind(martha));
  });
});
