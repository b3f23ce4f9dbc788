import { describe, expect, it } from 'vitest';
import type { EngineScript } from '../engine-script.ts';
import type { Scenario } from '../scenario.ts';
import { babble, hear, hearOut, say, until, wait, write, type Step } from '../step.ts';
import { wrongIn } from '../checks/suite.ts';

const story = { says: 'Once upon a time there was a king. He had three daughters and no sons at all.' };
const question = say('Tell me a story.');
const again: Step[] = [wait(500), say('Tell me another.'), hearOut];
const failed = 'failed ENGINE_UNAVAILABLE';

/** One engine dies in the first turn; the second is as ever. */
function dies(name: string, engines: EngineScript, expected: Scenario['expect'], faults?: RegExp): Scenario {
  const script = [question, until('input_audio_buffer.committed'), wait(6_000), ...again];
  return { name, engines, script, expect: expected ?? {}, ...(faults === undefined ? {} : { faults }) };
}

describe('an engine that dies', () => {
  it.each<Scenario>([
    dies('the recognizer, before it hears anything', { hears: [{ fails: 'at once' }] }, { replies: ['completed'] }),
    dies('the recognizer, in mid-sentence', { hears: [{ fails: 'while listening' }] }, { replies: ['completed'] }),
    dies('the recognizer, when it should answer', { hears: [{ fails: 'at the end' }] }, { replies: ['completed'] }),
    dies('the mind, before its first word', { thinks: [{ failsAfter: 0 }] }, { replies: [failed, 'completed'] }),
    dies(
      'the mind, in its first phrase: nothing of it is said',
      { thinks: [{ ...story, failsAfter: 3 }] },
      { replies: [failed, 'completed'] },
    ),
    dies(
      'the mind, in its second sentence: what was said before is kept',
      { thinks: [{ ...story, failsAfter: 11, tokenMs: 60 }] },
      { replies: [failed, 'completed'] },
    ),
    dies('the voice, before its first sound', { speaks: [{ failsAfter: 0 }] }, { replies: [failed, 'completed'] }),
    dies(
      'the voice, in mid-reply: what was sent is heard and kept',
      { thinks: [story], speaks: [{ failsAfter: 6 }] },
      { replies: [failed, 'completed'] },
    ),
    dies(
      'the VAD, for a moment of silence',
      { deafAt: [90, 91, 92] },
      { errors: ['ENGINE_UNAVAILABLE'], replies: ['completed', 'completed'] },
      /It broke/u,
    ),
    dies(
      'the VAD, for a moment of speech',
      { deafAt: [20] },
      { errors: ['ENGINE_UNAVAILABLE'], replies: ['completed', 'completed'] },
      /It broke/u,
    ),
    {
      name: 'everything, five times in a row; then all is well',
      engines: {
        hears: [{ fails: 'at the end' }, {}, {}, {}, { fails: 'at once' }],
        thinks: [{ failsAfter: 0 }, { failsAfter: 2 }],
        speaks: [{}, {}, { failsAfter: 1 }],
      },
      script: Array.from({ length: 5 }, () => [babble(3), wait(5_000)]).flat(),
      expect: { replies: [failed, failed, failed] },
    },
    {
      name: 'a mind that says nothing ends its turn',
      engines: { thinks: [{ says: '' }] },
      script: [question, until('response.done'), ...again],
      expect: { replies: ['completed', 'completed'] },
    },
    {
      name: 'while somebody interrupts',
      engines: { thinks: [story], speaks: [{ failsAfter: 6 }] },
      script: [question, hear(4), say('Stop it now.'), hearOut],
    },
    {
      name: 'the recognizer, of what was said over a reply',
      engines: { thinks: [story], hears: [{}, { fails: 'at the end' }] },
      script: [question, hear(4), say('Stop it right now please.'), wait(4_000)],
    },
  ])('$name', async (scenario) => {
    expect(await wrongIn(scenario)).toEqual([]);
  });
});

describe('an engine that is slow', () => {
  it.each<Scenario>([
    {
      name: 'a recognizer that takes three seconds is waited for',
      engines: { hears: [{ finalMs: 3_000 }], thinks: [story] },
      script: [question, hearOut],
      expect: { history: ['user: Tell me a story.', `assistant: ${story.says}`] },
    },
    {
      name: 'who speaks on while a slow recognizer works is understood twice and answered',
      engines: { hears: [{ finalMs: 3_000 }] },
      script: [question, wait(1_200), say('Or rather a poem.'), hearOut],
    },
    {
      name: 'who types while a slow recognizer works is answered with both in mind',
      engines: { hears: [{ finalMs: 3_000 }], thinks: [story] },
      script: [question, until('input_audio_buffer.committed'), write('A short one.'), hearOut],
      expect: { replies: ['completed'] },
    },
    {
      name: 'a mind that takes five seconds is waited for',
      engines: { thinks: [{ ...story, firstTokenMs: 5_000 }] },
      script: [question, hearOut],
      expect: { history: ['user: Tell me a story.', `assistant: ${story.says}`] },
    },
    {
      name: 'a mind that stops in mid-sentence goes on',
      engines: { thinks: [{ ...story, stallsAfter: 10, stallMs: 4_000 }] },
      script: [question, hearOut],
      expect: { history: ['user: Tell me a story.', `assistant: ${story.says}`] },
    },
    {
      name: 'a voice that cannot keep up is heard to the end',
      engines: { thinks: [story], speaks: [{ work: 1.6 }] },
      script: [question, hearOut],
      expect: { history: ['user: Tell me a story.', `assistant: ${story.says}`] },
    },
    {
      name: 'a voice that stalls is interrupted where it was heard',
      engines: { thinks: [story], speaks: [{ stallsAfter: 6, stallMs: 4_000 }] },
      script: [question, hear(6), wait(1_500), say('Are you still there?'), hearOut],
    },
    {
      name: 'another mind takes over what has not been said yet',
      engines: { thinks: [{ says: 'I am afraid', givesWayAfter: 2, instead: 'It was a dark night. The wind blew.' }] },
      script: [question, hearOut],
      expect: { history: ['user: Tell me a story.', 'assistant: It was a dark night. The wind blew.'] },
    },
    {
      name: 'engines that take no time at all hold the same conversation',
      engines: {
        usual: { firstTokenMs: 0, tokenMs: 0, finalMs: 0, firstMs: 0, work: 0 },
        thinks: [story],
      },
      script: [question, hearOut, babble(3), hear(2), babble(3), hearOut],
    },
  ])('$name', async (scenario) => {
    expect(await wrongIn(scenario)).toEqual([]);
  });
});
