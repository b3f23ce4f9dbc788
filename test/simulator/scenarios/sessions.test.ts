import { describe, expect, it } from 'vitest';
import type { Part, Scenario } from '../scenario.ts';
import { babble, cut, hear, hearOut, say, vanish, wait } from '../step.ts';
import { wrongIn } from '../checks/suite.ts';

const talk: Part = { script: [babble(4), hear(3), babble(3), hearOut, babble(5), hearOut] };

describe('several people on one server', () => {
  it.each<Scenario>([
    {
      name: 'two people who speak at the same time are each heard and answered separately',
      ...talk,
      others: { bob: talk },
    },
    {
      name: 'two people whose audio is interleaved block by block are each heard separately',
      ...talk,
      weather: { jitterMs: 30 },
      others: { bob: { ...talk, afterMs: 17, weather: { jitterMs: 30 } } },
    },
    {
      name: 'twelve concurrent sessions do not affect each other',
      ...talk,
      others: Object.fromEntries(
        Array.from({ length: 12 }, (_, place) => [`p${place}`, { ...talk, afterMs: place * 130 }]),
      ),
    },
    {
      name: 'failing engines of one session do not affect another',
      ...talk,
      expect: { replies: ['cancelled turn_detected', 'completed', 'completed'] },
      others: {
        bob: {
          ...talk,
          engines: { hears: [{ fails: 'at once' }], thinks: [{ failsAfter: 0 }, { failsAfter: 0 }] },
          script: [babble(3), wait(3_000), babble(3), wait(3_000)],
        },
      },
    },
    {
      name: 'a broken network of one session does not affect another',
      ...talk,
      expect: { replies: ['cancelled turn_detected', 'completed', 'completed'], sessions: 1 },
      others: {
        bob: {
          weather: { latencyMs: 300, jitterMs: 400, lossShare: 0.1 },
          script: [babble(4), hear(2), cut(3_000), hearOut],
        },
      },
    },
    {
      name: 'a client that dies does not affect another that speaks',
      ...talk,
      others: { bob: { script: [say('Tell me a story.'), hear(4), vanish] } },
    },
    {
      name: 'a client refused by a full server is admitted when a place is free',
      environment: { DRAMATIS_MAX_SESSIONS: '1' },
      script: [say('Tell me a story.'), hearOut],
      others: { bob: { script: [say('Me too.'), hearOut], afterMs: 500 } },
      expect: { replies: ['completed'], sessions: 1 },
    },
  ])('$name', async (scenario) => {
    expect(await wrongIn(scenario)).toEqual([]);
  });
});
