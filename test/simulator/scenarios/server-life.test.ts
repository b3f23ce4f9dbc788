import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { Scenario } from '../scenario.ts';
import { hangUp, hear, hearOut, killServer, say, stopServer, until, wait } from '../step.ts';
import { wrongIn } from '../checks/suite.ts';

const dataDir = mkdtempSync(path.join(tmpdir(), 'dramatis-simulator-'));
afterAll(() => rmSync(dataDir, { recursive: true }));

const stored = { DRAMATIS_STORE: 'true', DRAMATIS_DATA_DIR: dataDir };
const story = { says: 'Once upon a time there was a king. He had three daughters and no sons at all.' };

describe('server that stops', () => {
  it.each<Scenario>([
    {
      name: 'a stopping server lets a reply finish and then disconnects',
      engines: { thinks: [story] },
      endsAlone: true,
      script: [say('Tell me a story.'), hear(3), stopServer(10_000), until('response.done'), wait(100), hangUp],
      expect: { replies: ['completed'] },
    },
    {
      name: 'a stopping server disconnects at once if nobody speaks',
      endsAlone: true,
      script: [say('Tell me a story.'), hearOut, stopServer(10_000), wait(1_000), hangUp],
      expect: { replies: ['completed'] },
    },
    {
      name: 'a stopping server cuts off a reply after its grace period',
      engines: { thinks: [story] },
      endsAlone: true,
      script: [say('Tell me a story.'), hear(3), stopServer(500), wait(2_000), hangUp],
      expect: { replies: ['cancelled hung_up'] },
    },
    {
      name: 'a server killed in mid-reply resumes the session at the heard position',
      environment: stored,
      engines: { thinks: [story] },
      script: [say('Tell me a story.'), hear(6), killServer, wait(4_000), say('Where were we?'), hearOut],
      expect: { sessions: 1 },
    },
    {
      name: 'a server killed in mid-question resumes the session',
      environment: stored,
      script: [say('Tell me a'), killServer, wait(3_000), say('Tell me a story.'), hearOut],
      expect: { sessions: 1 },
    },
    {
      name: 'a server killed while nobody speaks resumes the session',
      environment: stored,
      engines: { thinks: [story] },
      script: [say('Tell me a story.'), hearOut, killServer, wait(3_000), say('And another one.'), hearOut],
      expect: { sessions: 1 },
    },
    {
      name: 'a server killed without a store starts a new session',
      engines: { usual: story },
      script: [say('Tell me a story.'), hear(6), killServer, wait(4_000), say('Where were we?'), hearOut],
      expect: { sessions: 2, history: ['user: Where were we?', `assistant: ${story.says}`] },
    },
  ])('$name', async (scenario) => {
    expect(await wrongIn(scenario)).toEqual([]);
  });
});
