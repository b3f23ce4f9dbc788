import { readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import type { LogLine } from '../../eval/run-log.ts';
import { seededRandom } from '../../eval/statistics.ts';
import { writePacks } from '../../eval/speechrole/data/character-packs.ts';
import { readTestData } from '../../eval/speechrole/data/test-data.ts';
import { readConfig } from '../../server/config/config.ts';
import { startServer } from '../../server/app/serve.ts';
import { openChatServer, says } from '../fakes/servers/chat-server.ts';
import { openJudgeServer } from '../fakes/servers/judge-server.ts';
import { evaluate } from '../rigs/killed-run-rig.ts';
import { openScratch } from './scratch.ts';
import { makeSmallSet } from './small-set.ts';

const judgeConcurrency = 4;
const kills = 20;

/** Makes all fallback lines of a card equal, for speech that was not understood. */
async function answerAlike(file: string): Promise<void> {
  const card = JSON.parse(await readFile(file, 'utf8')) as Record<string, string[]>;
  const line = card['evasions']?.[1] ?? '';
  for (const lines of ['evasions', 'repeatRequests']) card[lines] = card[lines]?.map(() => line) ?? [];
  await writeFile(file, JSON.stringify(card));
}

it('a run killed at 20 moments and resumed gives the same results and judges nothing twice', async () => {
  await using scratch = await openScratch();
  const data = path.join(scratch.path, 'data');
  const characters = path.join(scratch.path, 'characters');
  await makeSmallSet(data);
  const { samples } = await readTestData(data);
  for (const id of (await writePacks(samples, characters, 'benchmark')).values()) {
    await answerAlike(path.join(characters, id, 'card.json'));
  }
  // Always the same reply, so that the machine's speed does not change the dialogue.
  await using llm = await openChatServer(says(['I would rather ', 'not say.']));
  const config = readConfig({
    flags: { charactersDir: characters, llmBaseUrl: llm.baseUrl, llmModel: 'constant' },
    environment: { DRAMATIS_LOG_LEVEL: 'silent', DRAMATIS_PLAYOUT_AHEAD_MS: '5000', PORT: '0' },
  });
  const server = await startServer(config);
  // The same words may differ in single samples when spoken again, but have the same length.
  await using judge = await openJudgeServer({ delayMs: 30, scoredBy: 'lengths' });
  const judgeFlags = [
    '--judge',
    `${judge.url}/v1`,
    '--judge-model',
    'ear',
    '--judge-concurrency',
    String(judgeConcurrency),
  ];
  const run = (name: string): string[] => {
    const out = path.join(scratch.path, name);
    return [
      'run',
      '--data',
      data,
      '--out',
      out,
      '--agent',
      server.url,
      '--allow-fallback',
      '--speed',
      '8',
      ...judgeFlags,
    ];
  };
  try {
    expect(await evaluate(run('whole'))).toBe(0);
    const askedForWhole = judge.answered;
    expect(askedForWhole).toBe(6 * 16);

    const random = seededRandom(20);
    const folder = path.join(scratch.path, 'killed');
    const logSize = async (): Promise<number> =>
      (await stat(path.join(folder, 'log.jsonl')).catch(() => undefined))?.size ?? 0;
    let killed = 0;
    for (let round = 0; round < kills; round += 1) {
      // Within the next few lines of the log, anywhere in a line or between two.
      const before = await logSize();
      const killAt = before + random() * 2_000;
      const status = await evaluate(before > 0 ? ['resume', folder] : run('killed'), async () => {
        await new Promise((resolve) => setImmediate(resolve));
        return (await logSize()) >= killAt;
      });
      if (status === null) killed += 1;
    }
    expect(killed).toBe(kills);
    expect(await evaluate(['resume', folder])).toBe(0);

    const text = (name: string, file: string): Promise<string> => readFile(path.join(scratch.path, name, file), 'utf8');
    expect(await text('killed', 'results.json')).toBe(await text('whole', 'results.json'));
    const lines = (await text('killed', 'log.jsonl'))
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as LogLine);
    const judged = lines.flatMap((line) => (line.event === 'measured' ? [`${line.sample} ${line.ask}`] : []));
    expect(judged).toHaveLength(askedForWhole);
    expect(new Set(judged).size).toBe(askedForWhole);
    expect(lines.filter((line) => line.event === 'output')).toHaveLength(6);
    // At most the calls in progress at the kill were repeated.
    expect(judge.answered - askedForWhole).toBeLessThanOrEqual(askedForWhole + kills * judgeConcurrency);
  } finally {
    await server.close();
  }
}, 300_000);
