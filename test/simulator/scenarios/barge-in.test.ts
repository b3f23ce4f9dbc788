import { describe, expect, it } from 'vitest';
import { ask, babble, cough, hear, hearOut, interrupt, say, send, until, wait, write } from '../step.ts';
import { historyOf } from '../checks/outcome.ts';
import type { Scenario } from '../scenario.ts';
import { wrongIn } from '../checks/suite.ts';

const cancel = send({ type: 'response.cancel' });
const story = { says: 'Once upon a time there was a king. He had three daughters and no sons at all.' };

describe('barge-in', () => {
  it.each<Scenario>([
    {
      name: 'an interrupted reply is kept as far as it was heard',
      engines: { thinks: [story] },
      script: [say('Tell me a story.'), hear(5), say('No, stop that.'), hearOut],
      expect: { replies: ['cancelled turn_detected', 'completed'] },
    },
    {
      name: 'an interruption before the first audio frame leaves nothing of the reply',
      engines: { thinks: [{ ...story, firstTokenMs: 1_500 }] },
      script: [say('Tell me a story.'), until('response.created'), wait(300), say('No, another one.'), hearOut],
      expect: { replies: ['cancelled turn_detected', 'completed'] },
    },
    {
      name: 'a cough that is too short to interrupt changes nothing',
      engines: { thinks: [story] },
      script: [say('Tell me a story.'), hear(5), cough(120), hearOut],
      expect: { replies: ['completed'], history: ['user: Tell me a story.', `assistant: ${story.says}`] },
    },
    {
      name: 'the stop button ends the reply at the heard position',
      engines: { thinks: [story] },
      script: [say('Tell me a story.'), hear(6), interrupt, wait(500)],
      expect: { replies: ['cancelled client_cancelled'] },
    },
    {
      name: 'typed text stops the reply and is answered',
      engines: { thinks: [story] },
      script: [say('Tell me a story.'), hear(6), write('Enough.'), hearOut],
      expect: { replies: ['cancelled client_cancelled', 'completed'] },
    },
    {
      name: 'over a slow network the history includes what was heard until the stop arrived',
      weather: { latencyMs: 400 },
      engines: { thinks: [story] },
      script: [say('Tell me a story.'), hear(5), say('No, stop that.'), hearOut],
      expect: { replies: ['cancelled turn_detected', 'completed'] },
    },
    {
      name: 'a second press of the stop button does not shorten what was heard',
      weather: { latencyMs: 150 },
      engines: { thinks: [story] },
      script: [say('Tell me a story.'), hear(5), interrupt, wait(50), interrupt, wait(1_000)],
      expect: { replies: ['cancelled client_cancelled'] },
    },
    {
      name: 'a reply that ended on the server but was stopped before any of it arrived was not heard',
      weather: { latencyMs: 800 },
      engines: { thinks: [{ says: 'Yes.', firstTokenMs: 600 }] },
      script: [say('Are you Holmes?'), until('response.created'), wait(100), interrupt, wait(4_000)],
      expect: { replies: ['completed'], history: ['user: Are you Holmes?', 'assistant:'] },
    },
    {
      name: 'a reply stopped before its first audio arrived was not heard',
      weather: { latencyMs: 300 },
      engines: { thinks: [{ ...story, firstTokenMs: 700 }] },
      script: [say('Tell me a story.'), until('response.created'), wait(250), write('Enough.'), hearOut],
      expect: {
        replies: ['cancelled client_cancelled', 'completed'],
        also: (run) => [historyOf(run).some((line) => line.includes('Once')) && 'the reply was kept'],
      },
    },
    {
      name: 'a reply that the server has finished is cut at the heard position while it still plays',
      engines: { thinks: [story] },
      script: [say('Tell me a story.'), until('response.done'), babble(3), hearOut],
      expect: { replies: ['completed', 'completed'] },
    },
    {
      name: 'two interruptions keep both replies as far as they were heard',
      engines: { thinks: [story, story, story] },
      script: [say('Tell me a story.'), hear(3), say('No, another one.'), hear(3), say('No, a third one.'), hearOut],
      expect: { replies: ['cancelled turn_detected', 'cancelled turn_detected', 'completed'] },
    },
    {
      name: 'with interrupt_response off, speech over a reply is heard and does not stop it',
      session: { audio: { input: { turn_detection: { type: 'server_vad', interrupt_response: false } } } },
      engines: { thinks: [story] },
      script: [say('Tell me a story.'), hear(3), say('But a short one.'), hearOut],
      expect: { also: (run) => [!historyOf(run).includes(`assistant: ${story.says}`) && 'the reply was stopped'] },
    },
    {
      name: 'with interrupt_response off, speech over a reply is answered after it',
      session: { audio: { input: { turn_detection: { type: 'server_vad', interrupt_response: false } } } },
      engines: { thinks: [story, { says: 'Very well.' }] },
      script: [say('Tell me a story.'), hear(3), say('But a short one.'), hearOut, wait(2_000)],
      expect: {
        replies: ['completed', 'completed'],
        history: [
          'user: Tell me a story.',
          `assistant: ${story.says}`,
          'user: But a short one.',
          'assistant: Very well.',
        ],
      },
    },
    {
      name: 'with interrupt_response off, two utterances over a reply are answered together',
      session: { audio: { input: { turn_detection: { type: 'server_vad', interrupt_response: false } } } },
      engines: { thinks: [{ ...story, words: 30 }, { says: 'Very well.' }] },
      script: [say('Tell me a story.'), hear(2), say('A short one.'), wait(900), say('Or none.'), hearOut, wait(3_000)],
      expect: { replies: ['completed', 'completed'] },
    },
    {
      name: 'with interrupt_response off, speech that outlasts the reply is answered when it ends',
      session: { audio: { input: { turn_detection: { type: 'server_vad', interrupt_response: false } } } },
      engines: { thinks: [story, { says: 'Very well.' }] },
      script: [say('Tell me a story.'), hear(3), say('A short one.'), hear(7), say('Or none at all, please.'), hearOut],
      expect: { replies: ['completed', 'completed'] },
    },
    {
      name: 'with interrupt_response off, speech over a reply is not answered if the client stops the reply',
      session: { audio: { input: { turn_detection: { type: 'server_vad', interrupt_response: false } } } },
      engines: { thinks: [{ says: `${story.says} ${story.says}` }] },
      script: [say('Tell me a story.'), hear(3), say('Enough now.'), wait(1_200), cancel, wait(3_000)],
      expect: { replies: ['cancelled client_cancelled'] },
    },
    {
      name: 'with interrupt_response and create_response off the server does neither',
      session: {
        audio: { input: { turn_detection: { type: 'server_vad', interrupt_response: false, create_response: false } } },
      },
      engines: { thinks: [story] },
      script: [say('Tell me a story.'), wait(1_500), ask, hear(3), say('But a short one.'), hearOut, wait(2_000)],
      expect: { replies: ['completed'] },
    },
    {
      name: 'an interruption over a stuttering network is kept at the heard position',
      weather: { latencyMs: 60, jitterMs: 200, lossShare: 0.05 },
      engines: { thinks: [story] },
      script: [say('Tell me a story.'), hear(5), say('No, stop that right now.'), hearOut],
      expect: { replies: ['cancelled turn_detected', 'completed'] },
    },
    {
      name: 'an interruption while the client waits for audio is kept at the heard position',
      weather: { bytesPerSecond: 45_000 },
      engines: { thinks: [story] },
      script: [say('Tell me a story.'), hear(5), say('No, stop that right now.'), hearOut],
      expect: { replies: ['cancelled turn_detected', 'completed'] },
    },
    {
      name: 'a client without our protocol extensions can interrupt',
      client: 'plain',
      engines: { thinks: [story] },
      script: [say('Tell me a story.'), hear(5), say('No, stop that right now.'), hearOut],
      expect: { replies: ['cancelled turn_detected', 'completed'] },
    },
    {
      name: 'a microphone that sends no silence can interrupt',
      sendsSilence: false,
      engines: { thinks: [story] },
      script: [say('Tell me a story.'), hear(5), say('No, stop that right now.'), hearOut],
      expect: { replies: ['cancelled turn_detected', 'completed'] },
    },
    {
      name: 'a mumble over a reply without silence after it does not make the server deaf',
      sendsSilence: false,
      engines: { thinks: [story], hears: [{}, { fails: 'while listening' }, { fails: 'while listening' }] },
      script: [say('Tell me a story.'), hear(3), say('mm', 140), hear(4, 4_000), say('hm', 140), wait(6_000)],
    },
    {
      name: 'a reply stopped by the button as it ended stays as it was heard, whatever is said later',
      engines: { thinks: [story] },
      script: [say('Tell me a story.'), until('response.done'), interrupt, wait(100), babble(4), hearOut],
      expect: { replies: ['completed', 'completed'] },
    },
    {
      name: 'interrupting a finished reply and then the next leaves the first as it was heard',
      environment: { DRAMATIS_PLAYOUT_AHEAD_MS: '3000' },
      engines: { thinks: [story, story] },
      script: [say('Tell me a story.'), until('response.done'), babble(3), hear(3), babble(3), hearOut],
    },
    {
      name: 'the stop button does nothing while nothing plays',
      script: [interrupt, say('Tell me a story.'), hearOut, interrupt, interrupt],
      expect: { replies: ['completed'], errors: [] },
    },
    {
      name: 'a reply is cancelled by response.cancel, and a second cancel is refused',
      engines: { thinks: [story] },
      script: [say('Tell me a story.'), hear(4), cancel, cancel, wait(1_000)],
      expect: { replies: ['cancelled client_cancelled'], errors: ['response_cancel_not_active'] },
    },
  ])('$name', async (scenario) => {
    expect(await wrongIn(scenario)).toEqual([]);
  });
});
