import { describe, expect, it } from 'vitest';
import { historyOf } from '../checks/outcome.ts';
import type { Scenario } from '../scenario.ts';
import { ask, cough, cut, freeze, hear, hearOut, meanwhile, say, until, wait } from '../step.ts';
import { wrongIn } from '../checks/suite.ts';

const story = { says: 'Once upon a time there was a king. He had three daughters and no sons at all.' };
const whole = `assistant: ${story.says}`;
const byMeaning = { audio: { input: { turn_detection: { type: 'semantic_vad' as const } } } };

describe('semantic turn detection', () => {
  it.each<Scenario>([
    {
      name: 'a pause within an unfinished sentence does not end the turn',
      session: byMeaning,
      engines: { thinks: [story], completeness: [0.05, 0.05, 0.05, 1] },
      script: [say('Tell me a'), wait(900), say('story.'), hearOut],
      expect: { history: ['user: Tell me a story.', whole] },
    },
    {
      name: 'a complete sentence is answered sooner than an incomplete one',
      session: byMeaning,
      engines: { thinks: [story, story], completeness: [1, 0] },
      script: [say('Tell me a story.'), hearOut, say('And a'), hearOut],
      expect: { replies: ['completed', 'completed'] },
    },
    {
      name: 'a speculative reply that started too early is dropped unheard',
      session: byMeaning,
      engines: { thinks: [{ says: 'Too early.' }, { says: 'Too early.' }], completeness: [0.3, 0.3, 1] },
      script: [say('Tell me a'), wait(450), say('long story.'), hearOut],
      expect: { replies: ['completed'] },
    },
  ])('$name', async (scenario) => {
    expect(await wrongIn(scenario)).toEqual([]);
  });
});

describe('sounds over a reply', () => {
  it.each<Scenario>([
    {
      name: 'a cough pauses the reply, which then resumes',
      engines: { thinks: [story] },
      script: [say('Tell me a story.'), hear(5), cough(250), hearOut],
      expect: { replies: ['completed'], history: ['user: Tell me a story.', whole] },
    },
    {
      name: 'a backchannel does not stop the reply',
      engines: { thinks: [story] },
      script: [say('Tell me a story.'), hear(5), say('mhm', 300), hearOut],
      expect: { replies: ['completed'], also: (run) => [!historyOf(run).includes(whole) && 'the reply was cut'] },
    },
    {
      name: 'three coughs in one reply lose no word of it',
      engines: { thinks: [story] },
      script: [say('Tell me a story.'), hear(3), cough(200), wait(800), cough(200), wait(800), cough(200), hearOut],
      expect: { replies: ['completed'], history: ['user: Tell me a story.', whole] },
    },
    {
      name: 'words stop the reply, however short',
      engines: { thinks: [story] },
      script: [say('Tell me a story.'), hear(5), say('Stop!', 400), hearOut],
      expect: { replies: ['cancelled turn_detected', 'completed'] },
    },
    {
      name: 'a cough over a slow network loses no word of the reply',
      weather: { latencyMs: 300 },
      engines: { thinks: [story] },
      script: [say('Tell me a story.'), hear(5), cough(250), hearOut],
      expect: { replies: ['completed'], history: ['user: Tell me a story.', whole] },
    },
    {
      name: 'a cough while the network stalls loses no word of the reply',
      engines: { thinks: [story] },
      script: [say('Tell me a story.'), hear(2), meanwhile(freeze(1_500)), cough(250), hearOut],
      expect: { replies: ['completed'], history: ['user: Tell me a story.', whole] },
    },
    {
      name: 'a sound between two replies leaves neither playing for ever',
      environment: { DRAMATIS_PLAYOUT_AHEAD_MS: '1000' },
      engines: { thinks: [story, { ...story, firstTokenMs: 1_500 }] },
      script: [say('Tell me a story.'), until('response.done'), ask, until('response.created'), cough(250), hearOut],
      expect: { replies: ['completed', 'completed'] },
    },
    {
      name: 'the history of a paused reply includes the audio that was heard before the pause',
      seed: 33,
      weather: { latencyMs: 60, jitterMs: 200 },
      engines: { thinks: [story], usual: { wordMs: 160 } },
      script: [say('Tell me a story.'), wait(700), meanwhile(wait(600), cut()), say('Stop!', 163), hearOut],
    },
    {
      name: 'text that was to be repeated after a pause, and never was, is not in the history',
      seed: 45,
      weather: { latencyMs: 60, jitterMs: 300 },
      engines: { thinks: [story], usual: { wordMs: 160 } },
      script: [say('Tell me a story.'), wait(700), meanwhile(wait(1_000), cut()), say('Stop!', 163), hearOut],
    },
    {
      name: 'words that arrive together after a disconnection and are transcribed late are all kept',
      engines: { thinks: [story], hears: [{}, { finalMs: 2_500 }] },
      script: [say('Tell me a story.'), hear(1), meanwhile(wait(30), cut(800)), say('No, stop.', 214), hearOut],
      expect: { also: (run) => [!historyOf(run).includes('user: No, stop.') && 'words were lost'] },
    },
    {
      name: 'words over a reply that are transcribed late are not lost to the following ones',
      engines: { thinks: [story], hears: [{}, { partialMs: 5_000, finalMs: 2_500 }] },
      script: [say('Tell me a story.'), hear(3), say('Stop.', 180), wait(500), say('That is enough.'), hearOut],
      expect: { also: (run) => [!historyOf(run).includes('user: Stop. That is enough.') && 'words were lost'] },
    },
    {
      name: 'a cough before the first audio of a reply does not stop it',
      engines: { thinks: [{ ...story, firstTokenMs: 1_500 }] },
      script: [say('Tell me a story.'), until('response.created'), cough(250), hearOut],
      expect: { replies: ['completed'], history: ['user: Tell me a story.', whole] },
    },
    {
      name: 'a recognizer that fails on words over a reply is asked again',
      engines: { thinks: [story], hears: [{}, { fails: 'at once' }] },
      script: [say('Tell me a story.'), hear(5), say('No, stop that right now please.'), hearOut],
      expect: { replies: ['cancelled turn_detected', 'completed'] },
    },
  ])('$name', async (scenario) => {
    expect(await wrongIn(scenario)).toEqual([]);
  });
});
