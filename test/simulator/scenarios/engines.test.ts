import { describe, expect, it } from 'vitest';
import type { EngineScript } from '../engine-script.ts';
import type { Scenario } from '../scenario.ts';
import { babble, hear, hearOut, say, until, wait, write, type Step } from '../step.ts';
import { wrongIn } from '../checks/suite.ts';

const story = { says: 'Once upon a time there was a king. He had three daughters and no sons at all.' };
const question = say('Tell me a story.');
const again: Step[] = [wait(500), say('Tell me another.'), hearOut];
const failed = 'failed ENGINE_UNAVAILABLE';

/** One engine fails in the first turn; the second turn is normal. */
function dies(name: string, engines: EngineScript, expected: Scenario['expect'], faults?: RegExp): Scenario {
  const script = [question, until('input_audio_buffer.committed'), wait(6_000), ...again];
  return { name, engines, script, expect: expected ?? {}, ...(faults === undefined ? {} : { faults }) };
}

describe('failing engine', () => {
  it.each<Scenario>([
    dies(
      'a recognizer that fails at once loses its utterance and nothing else',
      { hears: [{ fails: 'at once' }] },
      { replies: ['completed'] },
    ),
    dies(
      'a recognizer that fails in mid-sentence loses its utterance and nothing else',
      { hears: [{ fails: 'while listening' }] },
      { replies: ['completed'] },
    ),
    dies(
      'a recognizer that fails at the end of a turn loses its utterance and nothing else',
      { hears: [{ fails: 'at the end' }] },
      { replies: ['completed'] },
    ),
    dies(
      'an LLM that fails before its first word fails one reply',
      { thinks: [{ failsAfter: 0 }] },
      { replies: [failed, 'completed'] },
    ),
    dies(
      'an LLM that fails in its first phrase says nothing of it',
      { thinks: [{ ...story, failsAfter: 3 }] },
      { replies: [failed, 'completed'] },
    ),
    dies(
      'an LLM that fails in its second sentence keeps what was said before',
      { thinks: [{ ...story, failsAfter: 11, tokenMs: 60 }] },
      { replies: [failed, 'completed'] },
    ),
    dies(
      'a synthesizer that fails before its first audio fails one reply',
      { speaks: [{ failsAfter: 0 }] },
      { replies: [failed, 'completed'] },
    ),
    dies(
      'a synthesizer that fails in mid-reply leaves what was sent heard and kept',
      { thinks: [story], speaks: [{ failsAfter: 6 }] },
      { replies: [failed, 'completed'] },
    ),
    dies(
      'a VAD that fails during silence is reported and recovers',
      { deafAt: [90, 91, 92] },
      { errors: ['ENGINE_UNAVAILABLE'], replies: ['completed', 'completed'] },
      /It broke/u,
    ),
    dies(
      'a VAD that fails during speech is reported and recovers',
      { deafAt: [20] },
      { errors: ['ENGINE_UNAVAILABLE'], replies: ['completed', 'completed'] },
      /It broke/u,
    ),
    {
      name: 'five failures of different engines in a row leave a working session',
      engines: {
        hears: [{ fails: 'at the end' }, {}, {}, {}, { fails: 'at once' }],
        thinks: [{ failsAfter: 0 }, { failsAfter: 2 }],
        speaks: [{}, {}, { failsAfter: 1 }],
      },
      script: Array.from({ length: 5 }, () => [babble(3), wait(5_000)]).flat(),
      expect: { replies: [failed, failed, failed] },
    },
    {
      name: 'an LLM that says nothing completes its reply',
      engines: { thinks: [{ says: '' }] },
      script: [question, until('response.done'), ...again],
      expect: { replies: ['completed', 'completed'] },
    },
    {
      name: 'an interruption while the synthesizer fails leaves a working session',
      engines: { thinks: [story], speaks: [{ failsAfter: 6 }] },
      script: [question, hear(4), say('Stop it now.'), hearOut],
    },
    {
      name: 'a recognizer that fails on words over a reply leaves a working session',
      engines: { thinks: [story], hears: [{}, { fails: 'at the end' }] },
      script: [question, hear(4), say('Stop it right now please.'), wait(4_000)],
    },
  ])('$name', async (scenario) => {
    expect(await wrongIn(scenario)).toEqual([]);
  });
});

describe('slow engine', () => {
  it.each<Scenario>([
    {
      name: 'a recognizer that takes three seconds is waited for',
      engines: { hears: [{ finalMs: 3_000 }], thinks: [story] },
      script: [question, hearOut],
      expect: { history: ['user: Tell me a story.', `assistant: ${story.says}`] },
    },
    {
      name: 'speech that continues while a slow recognizer works gives two transcripts and an answer',
      engines: { hears: [{ finalMs: 3_000 }] },
      script: [question, wait(1_200), say('Or rather a poem.'), hearOut],
    },
    {
      name: 'text typed while a slow recognizer works is answered together with the speech',
      engines: { hears: [{ finalMs: 3_000 }], thinks: [story] },
      script: [question, until('input_audio_buffer.committed'), write('A short one.'), hearOut],
      expect: { replies: ['completed'] },
    },
    {
      name: 'an LLM that takes five seconds is waited for',
      engines: { thinks: [{ ...story, firstTokenMs: 5_000 }] },
      script: [question, hearOut],
      expect: { history: ['user: Tell me a story.', `assistant: ${story.says}`] },
    },
    {
      name: 'an LLM that stalls in mid-sentence continues',
      engines: { thinks: [{ ...story, stallsAfter: 10, stallMs: 4_000 }] },
      script: [question, hearOut],
      expect: { history: ['user: Tell me a story.', `assistant: ${story.says}`] },
    },
    {
      name: 'a synthesizer slower than real time is heard to the end',
      engines: { thinks: [story], speaks: [{ work: 1.6 }] },
      script: [question, hearOut],
      expect: { history: ['user: Tell me a story.', `assistant: ${story.says}`] },
    },
    {
      name: 'a stalled synthesizer is interrupted at the heard position',
      engines: { thinks: [story], speaks: [{ stallsAfter: 6, stallMs: 4_000 }] },
      script: [question, hear(6), wait(1_500), say('Are you still there?'), hearOut],
    },
    {
      name: 'a fallback LLM takes over what has not been said yet',
      engines: { thinks: [{ says: 'I am afraid', givesWayAfter: 2, instead: 'It was a dark night. The wind blew.' }] },
      script: [question, hearOut],
      expect: { history: ['user: Tell me a story.', 'assistant: It was a dark night. The wind blew.'] },
    },
    {
      name: 'engines without any delay hold the same conversation',
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
