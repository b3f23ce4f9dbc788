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

describe('a server that stops', () => {
  it.each<Scenario>([
    {
      name: 'lets a reply finish, and then hangs up',
      engines: { thinks: [story] },
      endsAlone: true,
      script: [say('Tell me a story.'), hear(3), stopServer(10_000), until('response.done'), wait(100), hangUp],
      expect: { replies: ['completed'] },
    },
    {
      name: 'hangs up at once where nobody speaks',
      endsAlone: true,
      script: [say('Tell me a story.'), hearOut, stopServer(10_000), wait(1_000), hangUp],
      expect: { replies: ['completed'] },
    },
    {
      name: 'lets nobody wait longer than its grace',
      engines: { thinks: [story] },
      endsAlone: true,
      script: [say('Tell me a story.'), hear(3), stopServer(500), wait(2_000), hangUp],
      expect: { replies: ['cancelled hung_up'] },
    },
    {
      name: 'by being killed in mid-reply: the session goes on where it was heard',
      environment: stored,
      engines: { thinks: [story] },
      script: [say('Tell me a story.'), hear(6), killServer, wait(4_000), say('Where were we?'), hearOut],
      expect: { sessions: 1 },
    },
    {
      name: 'by being killed in mid-question',
      environment: stored,
      script: [say('Tell me a'), killServer, wait(3_000), say('Tell me a story.'), hearOut],
      expect: { sessions: 1 },
    },
    {
      name: 'by being killed while nobody speaks',
      environment: stored,
      engines: { thinks: [story] },
      script: [say('Tell me a story.'), hearOut, killServer, wait(3_000), say('And another one.'), hearOut],
      expect: { sessions: 1 },
    },
    {
      name: 'by being killed, with nothing stored: a new session begins',
      engines: { usual: story },
      script: [say('Tell me a story.'), hear(6), killServer, wait(4_000), say('Where were we?'), hearOut],
      expect: { sessions: 2, history: ['user: Where were we?', `assistant: ${story.says}`] },
    },
  ])('$name', async (scenario) => {
    expect(await wrongIn(scenario)).toEqual([]);
  });
});
