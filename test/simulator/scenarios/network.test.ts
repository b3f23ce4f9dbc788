import { describe, expect, it } from 'vitest';
import {
  babble,
  cut,
  freeze,
  hangUp,
  hear,
  hearOut,
  interrupt,
  meanwhile,
  say,
  until,
  vanish,
  wait,
  weather,
  write,
} from '../step.ts';
import { historyOf } from '../checks/outcome.ts';
import type { Scenario } from '../scenario.ts';
import { wrongIn } from '../checks/suite.ts';

const story = { says: 'Once upon a time there was a king. He had three daughters and no sons at all.' };

describe('bad networks', () => {
  it.each<Scenario>([
    {
      name: 'a connection cut in mid-reply loses no word of the reply',
      engines: { thinks: [story] },
      script: [say('Tell me a story.'), hear(5), cut(500), hearOut],
      expect: { history: ['user: Tell me a story.', `assistant: ${story.says}`], sessions: 1 },
    },
    {
      name: 'a connection cut in mid-question loses no word of the question',
      script: [meanwhile(wait(700), cut(800)), say('Tell me a story about a king.'), hearOut],
      expect: { replies: ['completed'], sessions: 1 },
    },
    {
      name: 'a reconnect during a barge-in ends the reply at the heard position',
      engines: { thinks: [story] },
      script: [say('Tell me a story.'), hear(5), meanwhile(wait(250), cut(300)), say('No, stop that.'), hearOut],
      expect: { sessions: 1 },
    },
    {
      name: 'a hanging connection is given up, and the session resumes on a new one',
      engines: { thinks: [story] },
      script: [say('Tell me a story.'), hear(3), freeze(60_000), until('response.done'), wait(10_000)],
      expect: { sessions: 1 },
    },
    {
      name: 'jitter and packet loss change no word of the conversation',
      weather: { latencyMs: 80, jitterMs: 150, lossShare: 0.05 },
      engines: { thinks: [story] },
      script: [weather({ jitterMs: 200 }), say('Tell me a story.'), hearOut],
      expect: { history: ['user: Tell me a story.', `assistant: ${story.says}`], replies: ['completed'] },
    },
    {
      name: 'a client that reads slowly receives everything',
      weather: { bytesPerSecond: 60_000 },
      engines: { thinks: [story] },
      script: [say('Tell me a story.'), hearOut],
      expect: { history: ['user: Tell me a story.', `assistant: ${story.says}`], replies: ['completed'] },
    },
    {
      name: 'a reply stopped without a connection, before any of its audio arrived, was not heard',
      engines: { thinks: [{ says: 'Yes.' }] },
      script: [say('Are you Holmes?'), until('response.output_item.added'), cut(2_000), interrupt, wait(6_000)],
      expect: { history: ['user: Are you Holmes?', 'assistant:'] },
    },
    {
      name: 'a reply whose end is played without a connection was heard to its end',
      environment: { DRAMATIS_PLAYOUT_AHEAD_MS: '3000' },
      weather: { latencyMs: 300 },
      engines: { thinks: [story] },
      script: [say('Tell me a story.'), until('response.done'), meanwhile(wait(600), cut(4_000)), babble(3), hearOut],
      expect: { also: (run) => [!historyOf(run).includes(`assistant: ${story.says}`) && 'its end is lost'] },
    },
    {
      name: 'a failed reply is kept as far as it was sent, even if the connection breaks while it still plays',
      weather: { latencyMs: 80 },
      engines: { thinks: [story], speaks: [{ failsAfter: 6 }] },
      script: [say('Tell me a story.'), until('response.done'), wait(250), cut(3_000), wait(5_000)],
      expect: {
        replies: ['failed ENGINE_UNAVAILABLE'],
        history: ['user: Tell me a story.', 'assistant: Once upon a time there was'],
      },
    },
    {
      name: 'a client dials a server that is unreachable at first until it answers',
      weather: { latencyMs: 40 },
      isDownMs: 3_000,
      engines: { thinks: [story] },
      script: [say('Tell me a story.'), hearOut],
      expect: { history: ['user: Tell me a story.', `assistant: ${story.says}`], sessions: 1 },
    },
    {
      name: 'a connection that breaks every second still carries a conversation',
      engines: { thinks: [story] },
      script: [
        meanwhile(...Array.from({ length: 12 }, () => [wait(1_000), cut(100)]).flat()),
        say('Tell me a story.'),
        hearOut,
        say('Thank you very much.'),
        hearOut,
      ],
      expect: { replies: ['completed', 'completed'], sessions: 1 },
    },
    {
      name: 'a client that returns after the grace period starts a new session',
      environment: { DRAMATIS_RESUME_GRACE_SECONDS: '2' },
      engines: { usual: story },
      script: [say('Tell me a story.'), hear(4), cut(6_000), wait(9_000), say('Where were we?'), hearOut],
      expect: { sessions: 2, history: ['user: Where were we?', `assistant: ${story.says}`] },
    },
    {
      name: 'after half a minute without a connection the last thirty seconds of speech are heard',
      script: [cut(40_000), babble(110), hearOut],
      expect: { sessions: 1, also: ({ people: [ann] }) => [ann?.person.record.lostMs === 0 && 'nothing was lost'] },
    },
    {
      name: 'a network stall of three seconds delays a reply and loses nothing',
      engines: { thinks: [story] },
      script: [say('Tell me a story.'), hear(4), freeze(3_000), hearOut],
      expect: { history: ['user: Tell me a story.', `assistant: ${story.says}`], sessions: 1 },
    },
    ...(['ours', 'plain'] as const).map((client): Scenario => ({
      name: `a stall in the middle of a question is no silence that ends it (${client})`,
      client,
      engines: { thinks: [story] },
      script: [meanwhile(wait(700), freeze(1_500)), say('Tell me a story about a king.'), hearOut],
      expect: { history: ['user: Tell me a story about a king.', `assistant: ${story.says}`] },
    })),
    {
      name: 'text typed without a connection is answered',
      engines: { thinks: [story] },
      script: [cut(2_000), wait(500), write('Tell me a story.'), hearOut],
      expect: { history: ['user: Tell me a story.', `assistant: ${story.says}`], sessions: 1 },
    },
    {
      name: 'a client that dies leaves no session behind',
      engines: { thinks: [story] },
      endsAlone: true,
      script: [say('Tell me a story.'), hear(4), vanish],
    },
    {
      name: 'a client that dies in mid-sentence leaves no session behind',
      endsAlone: true,
      script: [meanwhile(wait(900), vanish), say('Tell me a story about a king.')],
    },
    {
      name: 'a client that disconnects in mid-reply leaves no session behind',
      engines: { thinks: [story] },
      endsAlone: true,
      script: [say('Tell me a story.'), hear(4), hangUp],
    },
    {
      name: 'a client that disconnects while the LLM works leaves no session behind',
      engines: { thinks: [{ ...story, firstTokenMs: 5_000 }] },
      endsAlone: true,
      script: [say('Tell me a story.'), until('response.created'), hangUp],
    },
    {
      name: 'a client that disconnects while the recognizer works leaves no session behind',
      engines: { hears: [{ finalMs: 5_000 }] },
      endsAlone: true,
      script: [say('Tell me a story.'), until('input_audio_buffer.committed'), hangUp],
    },
  ])('$name', async (scenario) => {
    expect(await wrongIn(scenario)).toEqual([]);
  });
});
