import { describe, expect, it } from 'vitest';
import { actor } from '../../../agents/actor/actor.ts';
import type { Cost } from '../../../agents/agent.ts';
import { createCircuitBreaker } from '../../../voices/calls/circuit-breaker.ts';
import { withFallback } from '../../../agents/actor/fallback.ts';
import { gated, openAgents } from '../../../agents/actor/open.ts';
import { openOpenaiChat } from '../../../agents/chats/openai-chat.ts';
import { scriptedAgent } from '../../../agents/scripted/scripted.ts';
import { withScript } from '../../../agents/actor/script.ts';
import { Preempted } from '../../../voices/calls/limiter.ts';
import { EngineError } from '../../../voices/engine.ts';
import { fails, openChatServer, says } from '../../fakes/servers/chat-server.ts';
import { fakeChat, replyParts, smallCharacter, wordsOf } from './stand-ins.ts';

const martha = smallCharacter();
const lines = scriptedAgent(martha);
const timeout = new EngineError('fake-model', 'ENGINE_TIMEOUT', 'no token within 15 s');

describe('actor', () => {
  it('the actor names its model, streams the words and reports the tokens used', async () => {
    expect(await replyParts(actor(martha, fakeChat(['Come ', 'in.'])), ['Hello'])).toEqual([
      { type: 'reply-source', name: 'fake-model' },
      { type: 'text-delta', text: 'Come ' },
      { type: 'text-delta', text: 'in.' },
      { type: 'usage', inputTokens: 5, outputTokens: 2, cutShort: false },
    ]);
  });

  it('the actor sends the prompt with scene and examples, and its sampling settings', async () => {
    const model = fakeChat(['Yes.']);
    await replyParts(actor(martha, model), ['Is the inn haunted at night?'], { scene: 'A stormy night.' });
    expect(model.calls[0]?.settings).toEqual({ temperature: 0.8, maxTokens: 220 });
    expect(model.calls[0]?.messages[0]?.text).toContain('A stormy night.');
    expect(model.calls[0]?.messages.at(-1)?.text).toContain('She walks at midnight');
  });

  it('sampling settings of a call override those of the actor', async () => {
    const model = fakeChat(['Yes.']);
    await replyParts(actor(martha, model), ['Hello'], { sampling: { topP: 0.5, seed: 1, stop: ['END'] } });
    expect(model.calls[0]?.settings).toEqual({ temperature: 0.8, maxTokens: 220, topP: 0.5, seed: 1, stop: ['END'] });
    await replyParts(actor(martha, model), ['Hello'], { sampling: { temperature: 0 } });
    expect(model.calls[1]?.settings).toEqual({ temperature: 0, maxTokens: 220 });
  });

  it('the actor keeps to the token limit of the call', async () => {
    const model = fakeChat(['Yes.']);
    await replyParts(actor(martha, model, { maxTokens: 50 }), ['Hello'], { maxTokens: 9 });
    expect(model.calls[0]?.settings.maxTokens).toBe(9);
  });

  it('the actor reports the tokens used so far during a reply, and the model’s own count at the end', async () => {
    const costs: Cost[] = [];
    const agent = actor(martha, fakeChat(['Well, I ', 'never did.']));
    const parts = await replyParts(agent, ['Hello'], { onCost: (cost) => costs.push(cost) });
    const [first, second, last] = costs;
    expect(first?.inputTokens).toBeGreaterThan(100);
    expect(second?.inputTokens).toBe(first?.inputTokens);
    expect(costs.map(({ outputTokens }) => outputTokens)).toEqual([2, 5, 2]);
    expect(parts.at(-1)).toMatchObject(last ?? {});
  });

  it('the actor estimates tokens if the model reports no count', async () => {
    const parts = await replyParts(actor(martha, fakeChat(['Well, I never.'], { counts: false })), ['Hello']);
    expect(parts.at(-1)).toMatchObject({ type: 'usage', inputTokens: expect.any(Number), outputTokens: 4 });
    const cut = await replyParts(actor(martha, fakeChat(['Come in.', '\nUser: Thanks.'])), ['Hello']);
    expect(cut.at(-1)).toMatchObject({ type: 'usage', outputTokens: 6 });
  });

  it('the actor reports a reply that was cut short by its token limit', async () => {
    const parts = await replyParts(actor(martha, fakeChat(['Well'], { reason: 'length' })), ['Hello']);
    expect(parts.at(-1)).toMatchObject({ cutShort: 'length' });
  });

  it('the actor reports a content filter, even if it stepped in before the first word', async () => {
    for (const deltas of [['First you take'], []]) {
      const parts = await replyParts(actor(martha, fakeChat(deltas, { reason: 'filter' })), ['How do I do it?']);
      expect(wordsOf(parts)).toBe(deltas.join(''));
      expect(parts.at(-1)).toMatchObject({ type: 'usage', cutShort: 'filter' });
    }
  });

  it('the actor removes speaker labels and does not speak for the user', async () => {
    const model = fakeChat(['Martha', ':', ' Come in.', '\nUs', 'er: Thanks.', '\nMartha: Sit.']);
    const parts = await replyParts(actor(martha, model), ['Hello']);
    expect(wordsOf(parts).trim()).toBe('Come in.');
    expect(parts.at(-1)).toMatchObject({ type: 'usage', cutShort: false });
  });

  it('the actor treats an empty reply as ENGINE_BAD_REPLY', async () => {
    await expect(replyParts(actor(martha, fakeChat([' ', '\n'])), ['Hello'])).rejects.toMatchObject({
      code: 'ENGINE_BAD_REPLY',
    });
  });
});

describe('fallback', () => {
  it('the fallback stays out of the way while the model works', async () => {
    const parts = await replyParts(withFallback(actor(martha, fakeChat(['Come in.'])), lines), ['Hello']);
    expect(wordsOf(parts)).toBe('Come in.');
    expect(parts.filter((part) => part.type === 'reply-source')).toEqual([
      { type: 'reply-source', name: 'fake-model' },
    ]);
  });

  it('the fallback gives its whole reply if the model failed before its first word', async () => {
    const parts = await replyParts(withFallback(actor(martha, fakeChat([], { error: timeout })), lines), ['Hello']);
    expect(parts).toEqual([
      { type: 'reply-source', name: 'fake-model' },
      { type: 'reply-source', name: 'retrieval', because: 'ENGINE_TIMEOUT' },
      { type: 'text-delta', text: 'Good day, traveller.' },
      { type: 'usage', inputTokens: 0, outputTokens: 0, cutShort: false },
    ]);
  });

  it('the fallback ends a reply that broke off with an evasion', async () => {
    const broken = actor(martha, fakeChat(['Well, I '], { error: timeout }));
    const parts = await replyParts(withFallback(broken, lines), ['Hello']);
    expect(parts.map((part) => part.type)).toEqual([
      'reply-source',
      'text-delta',
      'reply-source',
      'text-delta',
      'usage',
    ]);
    expect(martha.evasions).toContain(wordsOf(parts.slice(2)).trim());
  });

  it('an evasion replaces a reply that a content filter emptied, and the circuit breaker does not count it', async () => {
    const circuit = createCircuitBreaker({ failureCount: 1 });
    const filtered = actor(martha, fakeChat([], { reason: 'filter' }));
    const parts = await replyParts(withFallback(filtered, lines, circuit), ['How do I do it?']);
    expect(martha.evasions).toContain(wordsOf(parts));
    expect(parts.at(-1)).toEqual({ type: 'usage', inputTokens: 5, outputTokens: 2, cutShort: 'filter' });
    expect(circuit.openBecause()).toBeUndefined();
  });

  it('an abort throws its reason and reaches no fallback', async () => {
    const reason = new Error('the user spoke');
    const signal = AbortSignal.abort(reason);
    const agent = withFallback(actor(martha, fakeChat(['Come in.'])), lines);
    await expect(replyParts(agent, ['Hello'], { signal })).rejects.toBe(reason);
  });

  it('the fallback does not hide our own bugs', async () => {
    const broken = actor(martha, fakeChat([], { error: new TypeError('a bug') }));
    await expect(replyParts(withFallback(broken, lines), ['Hello'])).rejects.toThrow('a bug');
  });

  it('the circuit breaker skips a model after two failures, then tries it again', async () => {
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

  it('the fallback reports why it skips a model', async () => {
    const circuit = createCircuitBreaker({ failureCount: 1 });
    circuit.failed('ENGINE_REFUSED');
    const parts = await replyParts(withFallback(actor(martha, fakeChat(['Yes.'])), lines, circuit), ['Hello']);
    expect(parts[0]).toEqual({ type: 'reply-source', name: 'retrieval', because: 'ENGINE_REFUSED' });
  });
});

describe('background model', () => {
  const ask = (model: ReturnType<typeof gated>) =>
    Array.fromAsync(model.chat([{ role: 'user', text: 'Sum up.' }], { signal: new AbortController().signal }));

  it('a background model is not asked while conversations find it failing, and reports its own failures to them', async () => {
    const circuit = createCircuitBreaker({ failureCount: 1 });
    const model = fakeChat(['Yes.']);
    await expect(ask(gated({ model: fakeChat([], { error: timeout }), circuit }))).rejects.toBe(timeout);
    await expect(ask(gated({ model, circuit }))).rejects.toMatchObject({ code: 'ENGINE_TIMEOUT' });
    expect(model.calls).toHaveLength(0);
    circuit.succeeded();
    expect(await ask(gated({ model, circuit }))).toHaveLength(2);
  });

  it('a background call that gives way to a conversation is no failure', async () => {
    const circuit = createCircuitBreaker({ failureCount: 1 });
    const wanted = new Preempted('wanted');
    await expect(ask(gated({ model: fakeChat([], { error: wanted }), circuit }))).rejects.toBe(wanted);
    expect(circuit.openBecause()).toBeUndefined();
  });
});

describe('scripted lines', () => {
  it('the greeting is one of the card’s greetings, and any of them may come', async () => {
    const greetings = [0, 0.4, 0.9].map((share) => withScript(lines, () => share));
    const said = await Promise.all(greetings.map((agent) => replyParts(agent, [], { situation: 'greeting' })));
    expect(said.map(wordsOf)).toEqual(martha.greetings);
    expect(said[0]?.[0]).toEqual({ type: 'reply-source', name: 'script' });
  });

  it('the same greeting does not come twice in a row', async () => {
    const again = await replyParts(withScript(lines), ['Hello', martha.greetings[0] ?? ''], { situation: 'greeting' });
    expect(martha.greetings.slice(1)).toContain(wordsOf(again));
  });

  it('an unclear utterance is met with a request to repeat it, worded differently each time', async () => {
    const first = wordsOf(await replyParts(withScript(lines), ['Hello'], { situation: 'unclear' }));
    const second = wordsOf(await replyParts(withScript(lines), ['Hello', first, ''], { situation: 'unclear' }));
    expect(martha.repeatRequests).toContain(first);
    expect(martha.repeatRequests).toContain(second);
    expect(second).not.toBe(first);
  });

  it('everything else is left to the agent', async () => {
    expect(wordsOf(await replyParts(withScript(lines), ['Hello']))).toBe('Good day, traveller.');
  });
});

describe('character agents of a server', () => {
  it('characters answer with the lines of their pack if there is no chat server', async () => {
    const agent = openAgents()(martha);
    expect(wordsOf(await replyParts(agent, ['Hello']))).toBe('Good day, traveller.');
    expect(martha.greetings).toContain(wordsOf(await replyParts(agent, [], { situation: 'greeting' })));
  });

  it('a chat model plays the character if there is one', async () => {
    await using server = await openChatServer(says(['Come ', 'in.']));
    const agent = openAgents([
      { model: openOpenaiChat({ baseUrl: server.baseUrl, model: 'small-model' }), circuit: createCircuitBreaker() },
    ])(martha);
    expect(await replyParts(agent, ['Hello'])).toMatchObject([
      { type: 'reply-source', name: 'small-model' },
      { text: 'Come ' },
      { text: 'in.' },
      { type: 'usage', inputTokens: 11, outputTokens: 7 },
    ]);
  });

  it('characters fall back to their lines if the model fails, and the breaker spares it for all of them', async () => {
    await using server = await openChatServer(fails(401));
    const mind = openAgents([
      { model: openOpenaiChat({ baseUrl: server.baseUrl, model: 'small-model' }), circuit: createCircuitBreaker() },
    ]);
    for (const character of [martha, smallCharacter(), smallCharacter()]) {
      expect(wordsOf(await replyParts(mind(character), ['Hello']))).toBe('Good day, traveller.');
    }
    expect(server.requests).toHaveLength(2);
  });

  it('a character’s agent is made once', () => {
    const mind = openAgents();
    expect(mind(martha)).toBe(mind(martha));
  });
});
