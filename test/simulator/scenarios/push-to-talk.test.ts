import { describe, expect, it } from 'vitest';
import type { Scenario } from '../scenario.ts';
import { ask, commit, hearOut, meanwhile, say, send, update, until, wait } from '../step.ts';
import { wrongIn } from '../checks/suite.ts';

const byHand = update({ audio: { input: { turn_detection: null } } });
const byVoice = update({ audio: { input: { turn_detection: { type: 'server_vad' } } } });

describe('push to talk', () => {
  it.each<Scenario>([
    {
      name: 'speech is heard again after push to talk, though no silence was sent in between',
      sendsSilence: false,
      script: [byHand, say('First this.'), byVoice, wait(2_000), say('Then that.'), hearOut],
      expect: { replies: ['completed'] },
    },
    {
      name: 'what is said on after a commit is heard, and not heard twice',
      script: [say('One two three.'), commit, say('Four five six.'), hearOut],
      expect: { errors: [] },
    },
    {
      name: 'what is said on after the buffer was cleared is heard',
      sendsSilence: false,
      script: [say('One two three.'), send({ type: 'input_audio_buffer.clear' }), say('Four five six.'), hearOut],
      expect: { errors: [] },
    },
    {
      name: 'a new threshold counts from the next sound on',
      script: [
        update({ audio: { input: { turn_detection: { type: 'server_vad', threshold: 0.99 } } } }),
        until('session.updated'),
        say('Nobody hears this.'),
        wait(2_000),
      ],
      expect: { replies: [], history: [] },
    },
    {
      name: 'speech that a change to push to talk throws away is told to be gone',
      script: [meanwhile(wait(700), byHand), say('One two three four five.'), wait(500)],
      expect: {
        replies: [],
        also: ({ people: [first] }) => [
          first?.person.record.events.some(({ event }) => event.type === 'input_audio_buffer.cleared') !== true &&
            'the client was not told',
        ],
      },
    },
    {
      name: 'what was said before a commit is answered when it is asked for',
      script: [byHand, say('First this.'), commit, ask, hearOut],
      expect: { replies: ['completed'], errors: [] },
    },
    {
      name: 'the second of two commits has nothing to take',
      sendsSilence: false,
      script: [byHand, say('First this.'), commit, commit, ask, hearOut],
      expect: { replies: ['completed'], errors: ['input_audio_buffer_commit_empty'] },
    },
  ])('$name', async (scenario) => {
    expect(await wrongIn(scenario)).toEqual([]);
  });
});
