import { describe, expect, it } from 'vitest';
import type { Scenario } from '../scenario.ts';
import { ask, commit, hearOut, meanwhile, say, send, update, until, wait } from '../step.ts';
import { wrongIn } from '../checks/suite.ts';

const byHand = update({ audio: { input: { turn_detection: null } } });
const byVoice = update({ audio: { input: { turn_detection: { type: 'server_vad' } } } });

describe('push to talk', () => {
  it.each<Scenario>([
    {
      name: 'speech is heard again after push to talk, even without silence in between',
      sendsSilence: false,
      script: [byHand, say('First this.'), byVoice, wait(2_000), say('Then that.'), hearOut],
      expect: { replies: ['completed'] },
    },
    {
      name: 'speech that continues after a commit is heard once',
      script: [say('One two three.'), commit, say('Four five six.'), hearOut],
      expect: { errors: [] },
    },
    {
      name: 'speech that continues after the buffer was cleared is heard',
      sendsSilence: false,
      script: [say('One two three.'), send({ type: 'input_audio_buffer.clear' }), say('Four five six.'), hearOut],
      expect: { errors: [] },
    },
    {
      name: 'a new VAD threshold applies from the next audio on',
      script: [
        update({ audio: { input: { turn_detection: { type: 'server_vad', threshold: 0.99 } } } }),
        until('session.updated'),
        say('Nobody hears this.'),
        wait(2_000),
      ],
      expect: { replies: [], history: [] },
    },
    {
      name: 'speech discarded by a change to push to talk is reported as cleared',
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
      name: 'committed speech is answered when a response is requested',
      script: [byHand, say('First this.'), commit, ask, hearOut],
      expect: { replies: ['completed'], errors: [] },
    },
    {
      name: 'the second of two commits finds an empty buffer',
      sendsSilence: false,
      script: [byHand, say('First this.'), commit, commit, ask, hearOut],
      expect: { replies: ['completed'], errors: ['input_audio_buffer_commit_empty'] },
    },
  ])('$name', async (scenario) => {
    expect(await wrongIn(scenario)).toEqual([]);
  });
});
