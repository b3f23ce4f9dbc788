import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { coserPipeline } from '../../../../eval/construction/coser/pipeline.ts';
import { dittoPipeline } from '../../../../eval/construction/ditto/pipeline.ts';
import { novelPipeline } from '../../../../eval/construction/novel/pipeline.ts';
import type { Dialogue } from '../../../../eval/construction/records/dialogue.ts';
import { roleLlmPipeline } from '../../../../eval/construction/rolellm/pipeline.ts';
import { openPrompts } from '../../../../eval/construction/runner/prompts.ts';
import type { Pipeline } from '../../../../eval/construction/runner/stage.ts';
import { speechRolePipeline } from '../../../../eval/construction/speechrole/pipeline.ts';
import { dimensions } from '../../../../eval/coser/penalties.ts';
import { startServer, type RunningServer } from '../../../../server/app/serve.ts';
import { readConfig } from '../../../../server/config/config.ts';
import { openJudgeServer } from '../../../fakes/servers/judge-server.ts';
import { lastOf, openTextModelServer, type TextModelServer } from '../../../fakes/servers/text-model-server.ts';
import { dramatis } from '../../../rigs/command-rig.ts';
import { evaluate } from '../../../rigs/eval-rig.ts';
import { record } from '../../../rigs/serve-rig.ts';
import { roleModels } from '../../autorp/role-models.ts';
import { sceneModels } from '../../coser/scene-models.ts';
import { coserScript } from '../coser/coser-script.ts';
import { dittoScript, wikiCharacters } from '../ditto/ditto-script.ts';
import { novelScript, roleTable } from '../novel/novel-script.ts';
import { build, jsonLines } from '../rig/build-rig.ts';
import { scriptedModel, type Answers } from '../rig/scripted-model.ts';
import { vectorOf } from '../rig/scripted-server.ts';
import { roleLlmScript } from '../rolellm/rolellm-script.ts';
import { speechRoleScript } from '../speechrole/speechrole-script.ts';
import { unitOf } from '../../../../agents/embeddings/embedder.ts';

/** Plays every part but the builders': the characters, their partners and their world, and the judges of all papers. */
const models: Parameters<typeof openTextModelServer>[0] = {
  ...sceneModels,
  ...roleModels,
  actor: (request) => `I remember it well. ${request.messages.length} words were said.`,
  judge(request) {
    const system = request.messages[0]?.content ?? '';
    if (dimensions.some(({ name }) => system.includes(`one respect only: ${name}`)))
      return sceneModels['judge']?.(request) ?? '';
    return roleModels['judge']?.(request) ?? '';
  },
  'wiki-judge': (request) => {
    const [, first = ''] = /\[([^\]\n]+)\]/.exec(lastOf(request)) ?? [];
    return `It is [${first}].\n1`;
  },
};

const book = path.resolve(import.meta.dirname, '../books-in-public-domain/a-scandal-in-bohemia.txt');
const people = ['Sherlock Holmes', 'Doctor Watson', 'King of Bohemia'] as const;
const common = { rights: 'public domain', promptOf: openPrompts() };

let scratch = '';
let llm: TextModelServer;
let server: RunningServer;
const at = (...parts: readonly string[]): string => path.join(scratch, ...parts);

async function buildAll(): Promise<void> {
  const make = (name: string, pipeline: Pipeline, script: Answers) =>
    build(pipeline, at(name), scriptedModel(script), {
      embedder: { name: 'words', model: 'words', embed: async (texts) => texts.map((text) => unitOf(vectorOf(text))) },
    });
  await make('coser', coserPipeline({ ...common, input: book, chunkTokens: 2_000 }), coserScript([...people]));
  await writeFile(at('roles.json'), roleTable('Holmes', 'cold', 'terse'));
  const novel = novelPipeline({ ...common, input: book, roles: at('roles.json'), chunkTokens: 2_000 });
  await make('novel', novel, novelScript('Holmes', 'Watson', 'cold', 'terse'));
  const instructed = roleLlmPipeline({ ...common, input: at('coser'), candidates: 60, questions: ['What is love?'] });
  await make('context-instruct', instructed, roleLlmScript());
  const thresholds = { context: { en: 0.3, zh: 0.3 }, duplicate: { en: 0.99, zh: 0.99 } };
  const sizes = { requests: 1, choices: 2, chunkTokens: 1_500 };
  const spoken = speechRolePipeline({ ...common, input: at('coser'), ...sizes, thresholds });
  await make('speechrole-dialogues', spoken, speechRoleScript());
  const rows = wikiCharacters(40, 'en').map((row) => `${JSON.stringify(row)}\n`);
  await writeFile(at('wiki.jsonl'), rows.join(''));
  await make('ditto', dittoPipeline({ ...common, input: at('wiki.jsonl') }), dittoScript());
}

/** Products by build: where they are, what they are called, one of the characters, and the flags of their benchmark. */
const products = [
  {
    build: 'coser',
    place: 'books',
    from: 'coser',
    role: 'Sherlock Holmes',
    flags: () => ['--task', 'coser', '--data', at('coser', 'circumstances.jsonl'), '--limit', '1', '--rounds', '4'],
  },
  {
    build: 'novel',
    place: 'roles_en',
    from: 'beyond-dialogue',
    role: 'Holmes',
    flags: () => ['--task', 'autorp', '--data', at('novel'), '--limit', '1'],
  },
  {
    build: 'context-instruct',
    place: '',
    from: 'rolebench',
    role: 'Doctor Watson',
    flags: () => ['--task', 'rolebench', '--data', at('context-instruct'), '--limit', '2'],
  },
  {
    build: 'ditto',
    place: 'characters.jsonl',
    from: 'wikidata',
    role: 'Person Number1',
    flags: () => ['--task', 'wikirole', '--data', at('ditto', 'test.jsonl'), '--limit', '1'],
  },
  { build: 'speechrole-dialogues', place: '', from: 'speechrole', role: 'King of Bohemia', flags: () => [] },
] as const;

const home = (name: string): string => at('homes', name);

/** Talks to a character over the wire, in text. Resolves to the answer, and to what its model was told. */
async function ask(id: string, text: string): Promise<{ readonly answer: string; readonly told: string }> {
  const call = record(new WebSocket(`${server.url.replace(/^http/, 'ws')}/v1/realtime?model=${id}`));
  await call.until('session.created');
  call.send({ type: 'session.update', session: { type: 'realtime', output_modalities: ['text'] } });
  call.send({
    type: 'conversation.item.create',
    item: { type: 'message', role: 'user', content: [{ type: 'input_text', text }] },
  });
  call.send({ type: 'response.create' });
  const { response } = await call.until('response.done');
  call.socket.terminate();
  const told = JSON.stringify(llm.requests.at(-1)?.json());
  return { answer: JSON.stringify(response), told };
}

beforeAll(async () => {
  scratch = await mkdtemp(path.join(tmpdir(), 'dramatis-built-'));
  await buildAll();
  for (const { build: name, place, from } of products) {
    const ran = await dramatis('characters', 'import', at(name, place), '--from', from, '--data-dir', home(name));
    expect(ran).toMatchObject({ status: 0, stdout: expect.stringMatching(/[1-9]\d* characters/) as string });
  }
  llm = await openTextModelServer(models);
}, 120_000);

afterAll(async () => {
  await llm?.[Symbol.asyncDispose]();
  await rm(scratch, { recursive: true, force: true });
});

async function serveHome(name: string): Promise<RunningServer> {
  const flags = { port: '0', logLevel: 'error', dataDir: home(name), memory: false, llmBaseUrl: `${llm.url}/v1` };
  return startServer(readConfig({ flags: { ...flags, llmModel: 'actor' }, environment: {} }));
}

/** The packs of a build, by name. */
async function idsOf(name: string): Promise<ReadonlyMap<string, string>> {
  const folder = path.join(home(name), 'characters');
  const cards = (await readdir(folder)).map(async (id) => {
    const card = JSON.parse(await readFile(path.join(folder, id, 'card.json'), 'utf8')) as { name: string };
    return [card.name, id] as const;
  });
  return new Map(await Promise.all(cards));
}

it.each(products)(
  'a character of the build $build is talked to, shares no conversation with the test, and is measured by the paper’s benchmark',
  async ({ build: name, role, flags }) => {
    const characters = path.join(home(name), 'characters');
    const checked = await dramatis('data', 'check', at(name), '--characters', characters);
    expect(checked.stdout).toMatch(/packs +[1-9]\d* of characters/);
    expect(checked.stdout).not.toMatch(/character [\w-]+: same/);
    server = await serveHome(name);
    try {
      const id = (await idsOf(name)).get(role) ?? '';
      const { answer, told } = await ask(id, 'What do you remember?');
      expect(answer).toContain('I remember it well.');
      expect(told).toContain(role);
      const out = at('runs', name);
      const url = `${llm.url}/v1`;
      const wire = server.url.replace(/^http/, 'ws');
      if (name === 'speechrole-dialogues') return await measureSpeech(id, wire, out);
      const parts = {
        coser: ['--environment', `${url}#world`, '--next-speaker', `${url}#chooser`],
        novel: ['--partner', `${url}#partner`],
        'context-instruct': [],
        ditto: [],
      }[name];
      const judge = ['--judge', url, '--judge-model', name === 'ditto' ? 'wiki-judge' : 'judge'];
      const system = ['--agent', wire, '--characters', characters];
      const { status, printed } = await evaluate(['run', ...flags(), '--out', out, ...system, ...parts, ...judge]);
      expect(printed).toMatch(/(\d+) of \1 items answered, over text/);
      expect(status).toBe(0);
    } finally {
      await server.close();
    }
  },
  120_000,
);

/** Speaks one held-out dialogue, and lets the server answer it in speech. */
async function measureSpeech(id: string, wire: string, out: string): Promise<void> {
  const dialogues = jsonLines<Dialogue>(await readFile(at('speechrole-dialogues', 'dialogues.jsonl'), 'utf8'));
  const [held] = dialogues.filter(({ labels }) => labels?.['split'] === 'test' && labels['mode'] === 'single');
  await rm(at('held'), { recursive: true, force: true });
  await mkdir(at('held'));
  await writeFile(at('held', 'dialogues.jsonl'), `${JSON.stringify(held)}\n`);
  const spoken = await dramatis(
    'data',
    'speak',
    at('held'),
    '--out',
    at('spoken'),
    '--data-dir',
    home('none'),
    '--retakes',
    '0',
  );
  expect(spoken.status).toBe(0);
  await using judge = await openJudgeServer();
  const data = ['--data', at('spoken'), '--character', id, '--agent', wire, '--speed', '50'];
  const judged = ['--judge', `${judge.url}/v1`, '--judge-model', 'ear'];
  const { status, printed } = await evaluate(['run', ...data, ...judged, '--out', out]);
  expect(printed).toContain('1 of 1 dialogues answered');
  expect(status).toBe(0);
}
