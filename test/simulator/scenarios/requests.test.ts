import { describe, expect, it } from 'vitest';
import type { Scenario } from '../scenario.ts';
import {
  ask,
  babble,
  commit,
  cut,
  hear,
  hearOut,
  interrupt,
  meanwhile,
  say,
  send,
  until,
  update,
  wait,
} from '../step.ts';
import { wrongIn } from '../checks/suite.ts';

const story = { says: 'Once upon a time there was a king. He had three daughters and no sons at all.' };
const lamp = { type: 'function' as const, name: 'light_lamp', parameters: { type: 'object', properties: {} } };
const isLit = send({
  type: 'conversation.item.create',
  item: { type: 'function_call_output', call_id: 'call_0_0', output: 'It is lit.' },
});
const detection = (change: Record<string, unknown>): ReturnType<typeof update> =>
  update({ audio: { input: { turn_detection: { type: 'server_vad', ...change } } } });

describe('client requests', () => {
  it.each<Scenario>([
    {
      name: 'a character calls a function after it speaks and continues with the result',
      session: { tools: [lamp] },
      engines: { thinks: [{ says: 'I light the lamp.', calls: ['light_lamp'] }, { says: 'There is light.' }] },
      script: [say('It is dark in here.'), until('response.done'), isLit, ask, hearOut],
      expect: { replies: ['completed', 'completed'], errors: [] },
    },
    {
      name: 'an interruption keeps a character from calling a function',
      session: { tools: [lamp] },
      engines: { thinks: [{ says: `I light the lamp. ${story.says}`, calls: ['light_lamp'] }] },
      script: [say('It is dark in here.'), hear(4), say('No, leave it off please.'), hearOut],
      expect: {
        also: ({ people: [ann] }) => [
          ann?.person.record.items.some(({ item }) => item.type === 'function_call') === true && 'it acted',
        ],
      },
    },
    {
      name: 'an interruption between a function call and its result is answered',
      session: { tools: [lamp] },
      engines: { thinks: [{ says: 'I light the lamp.', calls: ['light_lamp'] }] },
      script: [say('It is dark in here.'), until('response.done'), babble(4), isLit, hearOut],
      expect: { errors: [] },
    },
    {
      name: 'a response requested during speech does not consume the speech',
      script: [meanwhile(wait(600), ask), say('One two three four five.'), wait(4_000)],
    },
    {
      name: 'a commit during speech splits the turn and loses no word',
      script: [meanwhile(wait(600), commit), say('One two three four five.'), hearOut],
    },
    {
      name: 'an item deleted while it is spoken stays deleted',
      engines: { thinks: [story] },
      script: [
        say('Tell me a story.'),
        hear(3),
        send({ type: 'conversation.item.delete', item_id: 'no such item' }),
        hearOut,
      ],
      expect: { replies: ['completed'], errors: ['item_not_found'] },
    },
    {
      name: 'an endpointing setting changed in mid-sentence applies to this sentence',
      script: [
        meanwhile(wait(400), detection({ silence_duration_ms: 1_500 })),
        say('One two three'),
        wait(1_000),
        say('four five.'),
        hearOut,
      ],
      expect: { replies: ['completed'] },
    },
    {
      name: 'switching off turn detection during a reply leaves the reply alone',
      engines: { thinks: [story] },
      script: [
        say('Tell me a story.'),
        hear(3),
        update({ audio: { input: { turn_detection: null } } }),
        babble(3),
        hearOut,
      ],
      expect: { history: ['user: Tell me a story.', `assistant: ${story.says}`] },
    },
    {
      name: 'with create_response off the server does not answer by itself',
      session: { audio: { input: { turn_detection: { type: 'server_vad', create_response: false } } } },
      script: [say('Do not answer this.'), wait(3_000)],
      expect: { replies: [], history: ['user: Do not answer this.'] },
    },
    {
      name: 'with create_response off the client requests the response',
      session: { audio: { input: { turn_detection: { type: 'server_vad', create_response: false } } } },
      engines: { thinks: [story] },
      script: [say('Tell me a story.'), until('input_audio_buffer.committed'), ask, hearOut],
      expect: { history: ['user: Tell me a story.', `assistant: ${story.says}`] },
    },
    {
      name: 'a session at its time limit is replaced by a new one',
      environment: { DRAMATIS_MAX_SESSION_MINUTES: '1' },
      engines: { usual: story },
      script: [say('Tell me a story.'), hearOut, wait(62_000), say('Another one.'), hearOut],
      expect: { sessions: 2, errors: ['session_expired'] },
    },
    {
      name: 'a client that floods is rate limited, and heard again when it stops',
      environment: { DRAMATIS_MAX_EVENTS_PER_SECOND: '10' },
      engines: { thinks: [story] },
      script: [
        ...Array.from({ length: 200 }, () => send({ type: 'input_audio_buffer.clear' })),
        wait(20_000),
        say('Tell me a story.'),
        hearOut,
      ],
      expect: { errors: ['rate_limit_exceeded'], history: ['user: Tell me a story.', `assistant: ${story.says}`] },
    },
    {
      name: 'a commit, a question, a stop and a cut at the same moment lose nothing',
      engines: { thinks: [story, story, story] },
      script: [say('Tell me a story.'), hear(2), commit, ask, interrupt, cut(200), ask, babble(3), wait(5_000)],
    },
  ])('$name', async (scenario) => {
    expect(await wrongIn(scenario)).toEqual([]);
  });
});
