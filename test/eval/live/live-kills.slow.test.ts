import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { writePack } from '../../../characters/pack-folder.ts';
import { promptCard } from '../../../eval/prompt-card.ts';
import { startServer } from '../../../server/app/serve.ts';
import { readConfig } from '../../../server/config/config.ts';
import {
  lastOf,
  openTextModelServer,
  type ChatRequest,
  type TextFault,
} from '../../fakes/servers/text-model-server.ts';
import { runWithKills } from '../../rigs/killed-run-rig.ts';
import { makeRoles } from '../autorp/small-roles.ts';
import { roleModels } from '../autorp/role-models.ts';
import { sceneModels } from '../coser/scene-models.ts';
import { writeScenes } from '../coser/small-scenes.ts';
import { makeRoleBench } from '../rolebench/small-rolebench.ts';
import { openScratch } from '../scratch.ts';

/** In each run; `DRAMATIS_TEST_KILLS=20` for as many as the benchmarks promise to survive. */
const kills = Number(process.env['DRAMATIS_TEST_KILLS'] ?? 2);

const replies = ['I sold the boat.', 'My aunt knows the way.', 'It rained for a week.', 'We ate by the fire.'];

/** Answers by the length of the conversation alone, since what is heard may differ from one time to the next. */
function speak({ messages }: ChatRequest): string {
  return replies[messages.length % replies.length] ?? '';
}

/** About one judgment in ten is spoiled: some for good, the same in every run, and some until they are asked again. */
function faultAt(number: number, request: ChatRequest): TextFault | undefined {
  if (request.model !== 'judge') return undefined;
  const length = request.messages.reduce((sum, { content }) => sum + content.length, 0) % 40;
  if (length === 3) return 'garbled';
  if (length === 7) return 'refusal';
  return number % 10 === 9 ? (number % 20 === 9 ? 'status-429' : 'cut') : undefined;
}

interface Case {
  readonly task: string;
  readonly models: Readonly<Record<string, (request: ChatRequest) => string>>;
  readonly outputs: number;
  readonly asks: number;
  /** Writes the data into a folder, and returns the flags that name it. */
  prepare(folder: string, url: string): Promise<readonly string[]>;
}

/** Rows of WikiRoleEval in its schema, with texts of our own. */
async function writeWikiRoles(folder: string): Promise<string> {
  const names = ['Ada Stone', 'Ben Reed', 'Cora Hill', 'Dov Lane', 'Eve Marsh'];
  const rows = names.map((label, at) => ({
    system: `You are ${label}, a keeper of lighthouse ${at}.`,
    prompts: ['Where do you live?', 'Which phone do you use?'],
    meta: {
      label,
      lang: 'en',
      description: 'a keeper',
      summary: `${label} keeps a lighthouse.`,
      role_consist_cands: [label, 'X', 'Y', 'Z'],
      rejection_labels: [0, 1],
      evidence: ['By the sea.', 'There were no telephones.'],
    },
  }));
  const file = path.join(folder, 'wikirole.jsonl');
  await writeFile(file, rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
  return file;
}

function wikiJudge(request: ChatRequest): string {
  const prompt = lastOf(request);
  if (prompt.includes('most suitable role')) return 'By manner.\nThe most suitable role is [X].';
  return prompt.includes('Write 1 if') ? '0' : 'Mostly right.\n7';
}

const cases: readonly Case[] = [
  {
    task: 'rolebench',
    models: { judge: () => 'It fits.\nVerdict: A' },
    outputs: 10,
    asks: 20,
    async prepare(folder) {
      await makeRoleBench(folder);
      return ['--data', folder, '--limit', '5'];
    },
  },
  {
    task: 'wikirole',
    models: { judge: wikiJudge },
    outputs: 5,
    asks: 5 * 2 * 3,
    prepare: async (folder) => ['--data', await writeWikiRoles(folder), '--votes', '1'],
  },
  {
    task: 'autorp',
    models: roleModels,
    outputs: 10,
    asks: 80,
    async prepare(folder, url) {
      await makeRoles(folder);
      return ['--data', folder, '--language', 'en', '--partner', `${url}/v1#partner`, '--utterances', '4'];
    },
  },
  {
    task: 'coser',
    models: sceneModels,
    outputs: 6,
    asks: 24,
    async prepare(folder, url) {
      const { data } = await writeScenes(folder);
      const others = ['--environment', `${url}/v1#world`, '--next-speaker', `${url}/v1#chooser`];
      return ['--data', data, ...others, '--rounds', '4'];
    },
  },
];

describe('a run over the live speech path, with a judge of which one answer in ten is bad', () => {
  it.each(cases)(
    'of $task gives the same table after several kills as in one piece, and judges nothing twice',
    async ({ task, models, outputs, asks, ...each }) => {
      await using scratch = await openScratch();
      await using server = await openTextModelServer({ ...models, speaker: speak }, { delayMs: 2, faultAt });
      const charactersDir = path.join(scratch.path, 'characters');
      const card = promptCard({ id: 'stand-in', role: 'Somebody', language: 'en', source: 'a test' });
      await writePack(charactersDir, { card, lines: [] }, true);
      const environment = {
        DRAMATIS_LLM_BASE_URL: `${server.url}/v1`,
        DRAMATIS_LLM_MODEL: 'speaker',
        DRAMATIS_LOG_LEVEL: 'silent',
        DRAMATIS_PLAYOUT_AHEAD_MS: '5000',
        PORT: '0',
      };
      const live = await startServer(readConfig({ flags: { charactersDir }, environment }));
      try {
        const data = await each.prepare(scratch.path, server.url);
        const agent = ['--agent', live.url, '--character', 'stand-in', '--speech', '--speed', '8'];
        const judge = ['--judge', `${server.url}/v1`, '--judge-model', 'judge', '--parse-retries', '0'];
        const argsFor = (folder: string): string[] => [
          'run',
          '--task',
          task,
          '--out',
          folder,
          ...data,
          ...agent,
          ...judge,
        ];
        const {
          kills: killed,
          results,
          events,
        } = await runWithKills(argsFor, { scratch: scratch.path, kills, seed: 9 });
        const judged = events.flatMap((each) => (each.event === 'measured' ? [`${each.sample} ${each.ask}`] : []));
        expect(killed).toBe(kills);
        expect(results.killed).toBe(results.whole);
        expect(events.filter(({ event }) => event === 'output')).toHaveLength(outputs);
        expect(judged).toHaveLength(asks);
        expect(new Set(judged).size).toBe(asks);
        expect(Object.keys(server.faults).length).toBeGreaterThan(0);
      } finally {
        await live.close();
      }
    },
    1_200_000,
  );
});
