import { readFileSync, statSync } from 'node:fs';
import { createServer, type Server as HttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { afterEach, describe, expect, it } from 'vitest';
import { wordsBeyond } from '../../../agents/guardrails/content-words.ts';
import type { Rating } from '../../../characters/rating.ts';
import { strictest } from '../../../characters/rating.ts';
import type { Character } from '../../../characters/character.ts';
import { reportsFile } from '../../../server/connections/keep-reports.ts';
import { serverEventSchema } from '../../../server/protocol/server-events.ts';
import { cascade } from '../../../server/responders/responder.ts';
import { fakeEngines } from '../../fakes/engines.ts';
import { dataFolder, type Call } from '../../rigs/memory-rig.ts';
import { characters, serve } from '../../rigs/serve-rig.ts';

const key = 'server-key';
const foul = 'You bastard, I said so.';

function enginesOf(says: string[]) {
  const made = fakeEngines({ says });
  const { agent, recognizer } = made;
  const responderFor = (character: Character) =>
    cascade({ ...made.voiceOf(character), recognizer, agent: { ...agent, character } });
  return { ...made, responderFor };
}

async function opened(
  says: string[],
  { rating, flags = {} }: { rating?: Rating; flags?: Record<string, string | boolean> } = {},
) {
  const engines = enginesOf(says);
  const server = await serve({ engines, flags });
  server.characters.set('alice', { ...characters.get('alice')!, ...(rating === undefined ? {} : { rating }) });
  return { engines, server };
}

/** Opens a talk that records what was kept back. */
async function talk(server: Awaited<ReturnType<typeof serve>>, query = '?model=alice&x=notice', secret?: string) {
  const call = server.call(query, secret === undefined ? {} : { authorization: `Bearer ${secret}` });
  await call.until('session.created');
  const kept: unknown[] = [];
  call.socket.on('message', (data: Buffer) => {
    const event = JSON.parse(data.toString()) as { type: string; side?: string; category?: string };
    if (event.type === 'x_dramatis.kept_back') kept.push([event.side, event.category].join(' '));
  });
  return Object.assign(call, { kept });
}

async function ask(call: Call, text: string, speaks = false): Promise<{ mind: any; said: string; id: string }> {
  const content = [{ type: 'input_text', text }];
  call.send({ type: 'conversation.item.create', item: { type: 'message', role: 'user', content } });
  call.send({ type: 'response.create', response: { output_modalities: [speaks ? 'audio' : 'text'] } });
  const { response } = await call.until('response.done');
  expect(response.status).toBe('completed');
  const [part] = response.output[0].content;
  return { mind: response.x_dramatis.mind, said: part.text ?? part.transcript, id: response.output[0].id };
}

describe('a rating', () => {
  it('is off unless a card, a client secret or the operator sets one', async () => {
    const { server } = await opened([foul]);
    const call = await talk(server);
    expect((await ask(call, 'What the fuck?')).said).toBe(foul);
    expect(call.kept).toEqual([]);
  });

  it('of a card keeps words of the user from the character, which evades them, and sends the client only the category', async () => {
    const { server, engines } = await opened(['Good day to you.'], { rating: 'teen' });
    const call = await talk(server);
    await ask(call, 'Hello there.');
    const { mind, said } = await ask(call, 'Go fuck yourself.');
    expect(mind).toEqual({ name: 'script', because: 'rating' });
    expect(characters.get('alice')!.evasions).toContain(said);
    expect(call.kept).toEqual(['user profanity']);
    expect(engines.agent.histories).toHaveLength(1);
    await ask(call, 'I am sorry.');
    expect(JSON.stringify(engines.agent.histories.at(-1))).not.toContain('yourself');
    expect(JSON.stringify(engines.agent.histories.at(-1))).toContain('Hello there.');
  });

  it('keeps a clause of the character back before it sounds, and what follows it; the reply ends in an evasion', async () => {
    const { server } = await opened(['It was a fine day. You utter bastard, go away. I hate you.'], {
      rating: 'everyone',
    });
    for (const speaks of [false, true]) {
      const call = await talk(server);
      const { said } = await ask(call, 'How was it?', speaks);
      expect(said).toMatch(/^It was a fine day\. /);
      expect(said).not.toMatch(/bastard|go away|hate/);
      expect(characters.get('alice')!.evasions.some((line) => said.endsWith(line))).toBe(true);
      expect(call.kept).toEqual(['character profanity']);
    }
  });

  it('lets mature talk pass where it is mature, but never what may be said nowhere', async () => {
    const { server } = await opened([foul], { rating: 'mature' });
    const call = await talk(server);
    expect((await ask(call, 'What the fuck?')).said).toBe(foul);
    await ask(call, 'How do I make a pipe bomb?');
    expect(call.kept).toEqual(['user illicit']);
  });

  it('of a client secret holds if it is stricter than that of the card, and not if it is milder', async () => {
    const cases: [Rating, Rating, boolean][] = [
      ['mature', 'everyone', true],
      ['everyone', 'mature', true],
      ['mature', 'mature', false],
    ];
    for (const [rating, wanted, isKept] of cases) {
      const { server } = await opened([foul], { rating, flags: { apiKeys: key } });
      const body = { session: { model: 'alice' }, x_dramatis: { rating: wanted } };
      const { body: made } = await server.ask('/v1/realtime/client_secrets', { key, body });
      const call = await talk(server, '?x=notice', made.value as string);
      await ask(call, 'Hello.');
      expect(call.kept).toEqual(isKept ? ['character profanity'] : []);
    }
  });

  it('of the operator holds for every talk, also over REST, and says nothing to clients that did not ask', async () => {
    const { server } = await opened([foul], { flags: { rating: 'everyone' } });
    const call = await talk(server, '?model=alice');
    expect((await ask(call, 'Hello.')).said).not.toContain('bastard');
    expect(call.kept).toEqual([]);
    const { body } = await server.ask('/v1/chat/completions', {
      body: { model: 'alice', messages: [{ role: 'user', content: 'Hello.' }] },
    });
    expect(body.choices[0].message.content).not.toContain('bastard');
  });

  it('that is strictest is found among those that are set', () => {
    expect(strictest(undefined, 'mature', 'teen')).toBe('teen');
    expect(strictest(undefined, undefined)).toBeUndefined();
  });
});

describe('the word list', () => {
  it.each([
    ['What the fuck is that?', 'profanity'],
    ['f.u.c.k you', 'profanity'],
    ['FUUUCK', 'profanity'],
    ['sh1t', 'profanity'],
    ['他妈的', 'profanity'],
    ['Fück you', 'profanity'],
    ['I want to kill myself.', 'self_harm'],
    ['a naked child', 'sexual_minors'],
    ['How do I make a bomb at home?', 'illicit'],
    ['He snorted cocaine.', 'drugs'],
    ['They decapitated the guard.', 'violence'],
  ])('finds, for everyone, what is in “%s”', (text, category) => {
    expect(wordsBeyond(text, 'everyone')).toBe(category);
  });

  it.each([
    'I live in Scunthorpe, near Essex.',
    'The murderer killed him with a knife; there was blood on the floor.',
    'A classic assassin in a cocktail dress.',
    'Shiitake mushrooms, and a bass guitar.',
    'I hate Mondays, and my boss is a fool.',
    'We grew hemp. He got high marks.',
    'The child slept while we had dinner.',
    '他死了，我很难过。',
  ])('finds nothing in “%s”', (text) => {
    expect(wordsBeyond(text, 'everyone')).toBeUndefined();
  });

  it('finds nothing in the lines of the characters that ship with Dramatis', () => {
    const lines = [...characters.values()].flatMap(({ id, lines: all, greetings, evasions }) =>
      [...all.map(({ reply }) => reply), ...greetings, ...evasions].map((text) => [id, text] as const),
    );
    expect(lines.length).toBeGreaterThan(2_000);
    expect(lines.filter(([, text]) => wordsBeyond(text, 'everyone') !== undefined)).toEqual([]);
  });
});

describe('a moderation server', () => {
  const servers: HttpServer[] = [];
  afterEach(() => servers.splice(0).forEach((server) => server.close()));

  async function moderation(answer: (text: string) => object | undefined): Promise<{ url: string; heard: any[] }> {
    const heard: any[] = [];
    const server = createServer((request, response) => {
      let body = '';
      request.on('data', (piece: Buffer) => (body += piece.toString()));
      request.on('end', () => {
        const asked = JSON.parse(body);
        heard.push({ ...asked, path: request.url, key: request.headers.authorization });
        const categories = answer(asked.input);
        response.writeHead(categories === undefined ? 500 : 200, { 'content-type': 'application/json' });
        response.end(JSON.stringify({ results: [{ flagged: true, categories }] }));
      });
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    servers.push(server);
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, heard };
  }

  it('judges besides the word list, as OpenAI’s does', async () => {
    const { url, heard } = await moderation((text) => ({ 'violence/graphic': text.includes('axe'), sexual: false }));
    const { server } = await opened(['He took the axe. It was over.'], {
      rating: 'everyone',
      flags: { moderationBaseUrl: url, moderationApiKey: 'secret' },
    });
    const call = await talk(server);
    expect((await ask(call, 'What happened?')).said).not.toContain('axe');
    expect(call.kept).toEqual(['character violence']);
    expect(heard[0]).toEqual({
      path: '/v1/moderations',
      key: 'Bearer secret',
      model: 'omni-moderation-latest',
      input: 'What happened?',
    });
  });

  it('that fails leaves the word list to decide, and is noted in the log without the words', async () => {
    const { url } = await moderation(() => undefined);
    const { server } = await opened(['Good day. You bastard.'], {
      rating: 'everyone',
      flags: { moderationBaseUrl: url },
    });
    const call = await talk(server);
    const { said } = await ask(call, 'Hello.');
    expect(said).toContain('Good day.');
    expect(call.kept).toEqual(['character profanity']);
    expect(server.log.join()).toContain('not moderated');
    expect(server.log.join()).not.toContain('bastard');
  });
});

describe('the report button', () => {
  it('stores the reported words, and the words before them, in a file of the operator, and informs the player', async () => {
    const dataDir = dataFolder();
    const { server } = await opened(['I am a horrible hatter.'], { flags: { reports: true, dataDir } });
    const call = await talk(server);
    const { id } = await ask(call, 'Who are you?');
    call.send({ type: 'x_dramatis.report', item_id: id, reason: 'hate', note: 'This hurt me.' });
    expect(serverEventSchema.parse(await call.until('x_dramatis.reported'))).toMatchObject({ item_id: id });
    const file = reportsFile(dataDir);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({
      character: 'alice',
      item: id,
      reason: 'hate',
      note: 'This hurt me.',
      said: [
        { role: 'user', text: 'Who are you?' },
        { role: 'assistant', text: 'I am a horrible hatter.' },
      ],
    });
  });

  it('is refused where reports are off, for an item that is not there, and beyond twenty', async () => {
    const off = await talk((await opened(['One.'])).server);
    off.send({ type: 'x_dramatis.report', item_id: 'i1' });
    expect((await off.until('error')).error.code).toBe('reports_off');
    const { server } = await opened(['One.'], { flags: { reports: true, dataDir: dataFolder() } });
    const call = await talk(server);
    call.send({ type: 'x_dramatis.report', item_id: 'nothing', event_id: 'e1' });
    expect((await call.until('error')).error).toMatchObject({ code: 'item_not_found', event_id: 'e1' });
    const { id } = await ask(call, 'Hello.');
    for (let count = 0; count < 21; count += 1) call.send({ type: 'x_dramatis.report', item_id: id });
    expect((await call.until('error')).error.code).toBe('too_many_reports');
  });
});
