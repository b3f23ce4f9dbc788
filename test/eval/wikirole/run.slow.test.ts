import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { TextSummary } from '../../../eval/text/summary.ts';
import {
  lastOf,
  openTextModelServer,
  type ChatRequest,
  type TextFault,
} from '../../fakes/servers/text-model-server.ts';
import { evaluate } from '../../rigs/eval-rig.ts';
import { openScratch } from '../scratch.ts';
import { wikiModels, writeWikiRole } from './small-wikirole.ts';

describe('eval run --task wikirole', () => {
  it('runs on the true schema, with fields in either place, and loses no failure of a bad judge', async () => {
    await using scratch = await openScratch();
    const data = path.join(scratch.path, 'test.jsonl');
    await writeWikiRole(data);
    const faults: readonly TextFault[] = ['garbled', 'refusal', 'status-429', 'cut'];
    let judged = 0;
    await using server = await openTextModelServer(wikiModels, {
      faultAt(_, { model }) {
        if (model !== 'judge') return undefined;
        judged += 1;
        return judged % 10 === 0 ? faults[(judged / 10) % faults.length] : undefined;
      },
    });
    const out = path.join(scratch.path, 'run');
    const judge = ['--judge', `${server.url}/v1`, '--judge-model', 'judge', '--retries', '0', '--parse-retries', '0'];
    const where = ['--data', data, '--out', out, '--agent', `chat:${server.url}/v1#actor`];
    await evaluate(['run', '--task', 'wikirole', ...where, ...judge]);
    const { health, rows } = JSON.parse((await evaluate(['rescore', out, '--json'])).printed) as TextSummary;
    expect(health.asked + health.failed).toBe(6 * 2 * 9);
    expect(health).toMatchObject({
      unreadable: server.faults.garbled,
      refused: server.faults.refusal,
      failed: (server.faults['status-429'] ?? 0) + (server.faults.cut ?? 0),
    });
    const all = rows.find(({ key }) => key === 'all')?.cells ?? {};
    expect(all['consistency']).toMatchObject({ value: 1, of: 12 });
    expect(all['base']?.value).toBe(0.5);
    // The second turn is asked in the same conversation, with the first answer.
    const second = server.requests
      .map((seen) => seen.json() as unknown as ChatRequest)
      .find(({ model, messages }) => model === 'actor' && messages.length === 4);
    expect(second?.messages.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'user']);
    const outputs = (await evaluate(['export', out, '--format', 'outputs'])).printed;
    const check = await evaluate(['data', 'check', outputs, '--task', 'wikirole']);
    expect(check).toMatchObject({ status: 0, printed: expect.stringContaining('6 items: English 3, Chinese 3') });
  });

  it('resumes without asking twice, reads its own exports back, reports, compares and prints the paper’s rows', async () => {
    await using scratch = await openScratch();
    const data = path.join(scratch.path, 'test.jsonl');
    await writeWikiRole(data);
    let isDown = true;
    await using server = await openTextModelServer(wikiModels, {
      faultAt: (_, { model }) => (model === 'judge' && isDown ? 'status-500' : undefined),
    });
    const [first, second] = ['first', 'second'].map((name) => path.join(scratch.path, name)) as [string, string];
    const judge = ['--judge', `${server.url}/v1`, '--judge-model', 'judge', '--retries', '0'];
    const common = ['run', '--task', 'wikirole', '--data', data, ...judge];
    const down = await evaluate([...common, '--out', first, '--agent', `chat:${server.url}/v1#actor`]);
    expect(down).toMatchObject({ status: 1, printed: expect.stringContaining('consistency is missing: 12 × judge') });
    isDown = false;
    const before = server.requests.length;
    expect((await evaluate(['resume', first])).status).toBe(0);
    // The answers are known; only the judge is asked, twelve turns with nine questions each.
    expect(server.requests.length - before).toBe(12 * 9);

    const outputs = (await evaluate(['export', first, '--format', 'outputs'])).printed;
    expect((await evaluate([...common, '--out', second, '--outputs', outputs])).status).toBe(0);
    const cells = async (folder: string): Promise<unknown> =>
      (JSON.parse((await evaluate(['rescore', folder, '--json'])).printed) as TextSummary).rows[0]?.cells;
    expect(await cells(second)).toEqual(await cells(first));
    const { differences } = JSON.parse((await evaluate(['compare', first, second, '--json'])).printed) as {
      differences: { key: string; ties: number }[];
    };
    expect(differences.find(({ key }) => key === 'knowledge')).toMatchObject({ ties: 12 });
    const page = await readFile((await evaluate(['report', first])).printed, 'utf8');
    expect(page).toContain('Person 0');
    const csv = await readFile((await evaluate(['export', first, '--format', 'csv'])).printed, 'utf8');
    expect(csv.split('\n').filter((line) => line.includes(',knowledge,'))).toHaveLength(12);
    const board = (await evaluate(['leaderboard', first])).printed;
    expect(board).toMatch(/DITTO[^]*GPT-4[^]*JUDGE NOT CHECKED/);
    const other = [...common, '--out', `${first}2`, '--outputs', data];
    expect(await evaluate(other)).toMatchObject({ status: 1, printed: expect.stringContaining('with messages') });
  });

  it('checks a judge on pairs with an answer of a person who knows nothing, and a run then reports the check', async () => {
    await using scratch = await openScratch();
    const data = path.join(scratch.path, 'test.jsonl');
    await writeWikiRole(data);
    const fair = (request: ChatRequest): string => {
      const prompt = lastOf(request);
      const isEmpty = /program|程序/.test(prompt);
      if (/^Write 1 if|^拒绝回答写1/m.test(prompt)) return isEmpty ? '1' : '0';
      if (!/most suitable role|最符合的角色/.test(prompt)) return isEmpty ? 'Wrong.\n2' : 'Right.\n9';
      const name = isEmpty ? 'Other 1' : (/(?:I am |我是)([^.。]+)[.。]/.exec(prompt)?.[1] ?? '');
      return `So.\nThe most suitable role is [${name}].`;
    };
    await using server = await openTextModelServer({ ...wikiModels, judge: fair, blind: () => 'Right.\n9' });
    const common = ['--task', 'wikirole', '--data', data, '--judge', `${server.url}/v1`, '--judge-model'];
    const check = (model: string): string[] => {
      const out = ['--out', path.join(scratch.path, model), '--items', '2', '--parse-retries', '0'];
      return ['judge-check', ...common, model, ...out];
    };
    const passed = await evaluate(check('judge'));
    expect(passed.printed).toMatch(/consistency +consistency +2\/2 +0 +passed/);
    expect(passed.status).toBe(0);
    const blind = await evaluate(check('blind'));
    expect(blind).toMatchObject({
      status: 1,
      printed: expect.stringContaining('does not distinguish them: consistency'),
    });
    const run = (folder: string): string[] => {
      const where = ['--out', path.join(scratch.path, 'run'), '--agent', `chat:${server.url}/v1#actor`];
      return ['run', ...common, 'judge', ...where, '--judge-check', path.join(scratch.path, folder)];
    };
    expect(await evaluate(run('blind'))).toMatchObject({
      status: 2,
      printed: expect.stringContaining('is for the judge blind, not for judge'),
    });
    expect((await evaluate(run('judge'))).printed).not.toContain('JUDGE NOT CHECKED');
  });

  it('asks the system and the judge as DITTO does, with candidates in the order of the data if it is strict', async () => {
    await using scratch = await openScratch();
    const data = path.join(scratch.path, 'test.jsonl');
    await writeWikiRole(data);
    await using server = await openTextModelServer(wikiModels);
    const judge = ['--judge', `${server.url}/v1`, '--judge-model', 'judge', '--limit', '2'];
    const where = ['run', '--task', 'wikirole', '--data', data, '--agent', `chat:${server.url}/v1#actor`, ...judge];
    const asked = async (...more: readonly string[]): Promise<{ actor: ChatRequest[]; judged: ChatRequest[] }> => {
      const before = server.requests.length;
      expect((await evaluate([...where, '--out', path.join(scratch.path, more.join('')), ...more])).status).toBe(0);
      const all = server.requests.slice(before).map((seen) => seen.json() as unknown as ChatRequest);
      return {
        actor: all.filter(({ model }) => model === 'actor'),
        judged: all.filter(({ model }) => model === 'judge'),
      };
    };
    const plain = await asked('--seed', '1');
    expect(plain.actor[0]).toMatchObject({ max_tokens: 8_192 });
    for (const each of plain.judged) expect(each).toMatchObject({ temperature: 0.2, max_tokens: 2_048 });
    const orderOf = ({ judged }: { readonly judged: readonly ChatRequest[] }): string[] =>
      [
        ...new Set(judged.map(lastOf).flatMap((prompt) => /(?:^- .+\n?){4}/m.exec(prompt)?.[0].trim() ?? [])),
      ].toSorted();
    const given = ['Person 0', '人物1'].map((label) => [label, 'Other 1', 'Other 2', 'Other 3']);
    const inOrder = given.map((names) => names.map((name) => `- ${name}`).join('\n')).toSorted();
    expect(orderOf(await asked('--parser', 'strict'))).toEqual(inOrder);
    expect(orderOf(plain)).not.toEqual(inOrder);
    expect(orderOf(await asked('--seed', '1', '--name', 'again'))).toEqual(orderOf(plain));
    expect(orderOf(await asked('--seed', '2'))).not.toEqual(orderOf(plain));
    const joined = await asked('--system-in-question');
    const [first] = joined.actor[0]?.messages ?? [];
    expect(first).toEqual({ role: 'user', content: 'You are Person 0, somebody.\n\nWho are you?' });
    const profiled = await asked('--with-profile');
    expect(profiled.actor.map(({ messages }) => messages[0]?.content ?? '').join('')).toContain('short');
    const prices = ['--judge-prices', '1000,0,1000', '--max-cost', '0.3', '--judge-concurrency', '1'];
    const poor = await evaluate([...where, '--out', path.join(scratch.path, 'poor'), ...prices]);
    expect(poor).toMatchObject({ status: 1, printed: expect.stringContaining('Not finished: ') });
  });

  it('reports how many roles of the data people have checked', async () => {
    await using scratch = await openScratch();
    const data = path.join(scratch.path, 'test.jsonl');
    await writeWikiRole(data);
    const [first = '', ...rest] = (await readFile(data, 'utf8')).split('\n');
    const checked = JSON.stringify({ ...(JSON.parse(first) as object), checked_by: 'M. G.' });
    await writeFile(data, [checked, ...rest].join('\n'));
    await using server = await openTextModelServer(wikiModels);
    const where = ['--data', data, '--out', path.join(scratch.path, 'run'), '--agent', `chat:${server.url}/v1#actor`];
    const { printed } = await evaluate(['run', '--task', 'wikirole', ...where]);
    expect(printed).toContain('1 of 6 roles of the data were checked by people');
  });

  it('names a pointer of Git LFS as such', async () => {
    await using scratch = await openScratch();
    const file = path.join(scratch.path, 'test.jsonl');
    await writeFile(file, 'version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n');
    const checked = await evaluate(['data', 'check', file, '--task', 'wikirole']);
    expect(checked).toMatchObject({ status: 1, printed: expect.stringContaining('pointer of Git LFS') });
  });
});
