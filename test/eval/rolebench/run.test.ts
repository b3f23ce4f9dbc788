import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { winnerIn } from '../../../eval/rolebench/task.ts';
import type { LogLine } from '../../../eval/run-log.ts';
import { rougeL } from '../../../eval/text-metrics/rouge-l.ts';
import type { TextSummary } from '../../../eval/text/summary.ts';
import {
  lastOf,
  openTextModelServer,
  type ChatRequest,
  type TextFault,
} from '../../fakes/servers/text-model-server.ts';
import { evaluate } from '../../rigs/eval-rig.ts';
import { openScratch } from '../scratch.ts';
import { makeRoleBench } from './small-rolebench.ts';
import { mean } from '../../../voices/dsp/statistics.ts';

/** Prefers the longer answer, so the order does not matter; the longest ones stand between the marks. */
function preferLonger(prompt: string): string {
  const [first = '', second = ''] = [...prompt.matchAll(/<<<\n([\s\S]*?)\n>>>/g)].map((match) => match[1] ?? '');
  const winner = first.length === second.length ? 'tie' : first.length > second.length ? 'A' : 'B';
  return prompt.includes('结论')
    ? `更像。\n结论：${winner === 'tie' ? '平' : winner}`
    : `It fits.\n**Verdict:** ${winner}`;
}

const models = {
  actor: (request: Parameters<typeof lastOf>[0]) => `I say: ${lastOf(request).trim()} And I never lose it.`,
  judge: (request: Parameters<typeof lastOf>[0]) => preferLonger(lastOf(request)),
};

async function summaryOf(folder: string): Promise<TextSummary> {
  return JSON.parse((await evaluate(['rescore', folder, '--json'])).printed) as TextSummary;
}

function argsOf(data: string, out: string, url: string, more: readonly string[] = []): string[] {
  const agent = ['--agent', `chat:${url}/v1#actor`];
  const judge = ['--judge', `${url}/v1`, '--judge-model', 'judge'];
  return ['run', '--task', 'rolebench', '--data', data, '--out', out, ...agent, ...judge, ...more];
}

describe('eval run --task rolebench', () => {
  it('asks every question, scores CUS, RAW and SPE, and counts a win only if both orders agree', async () => {
    await using scratch = await openScratch();
    await makeRoleBench(scratch.path);
    await using server = await openTextModelServer(models);
    const out = path.join(scratch.path, 'run');
    const { status, printed } = await evaluate(argsOf(scratch.path, out, server.url));
    expect(printed).toContain('30 of 30 items answered, over text');
    expect(printed).toContain('JUDGE NOT CHECKED');
    expect(status).toBe(0);
    const asked = server.requests.map((seen) => seen.json() as unknown as ChatRequest);
    for (const { messages, max_tokens: most } of asked.filter(({ model }) => model === 'actor')) {
      expect([messages.map(({ role }) => role), most]).toEqual([['system', 'user'], 512]);
      expect(messages[1]?.content).toBe(messages[1]?.content.trim());
    }
    const checked = await evaluate(['data', 'check', scratch.path, '--task', 'rolebench']);
    expect(checked).toMatchObject({ status: 0, printed: expect.stringContaining('30 items: English 30, Chinese 0') });
    const { rows, health, protocol } = await summaryOf(out);
    expect(protocol).toMatch(/^ROUGE-L, tokens alnum, max of the references · own wording [0-9a-f]{8}$/);
    const cells = rows.find(({ key }) => key === 'en/instruction')?.cells ?? {};
    expect(cells['CUS']).toMatchObject({ n: 15, of: 15 });
    expect(cells['RAW']).toMatchObject({ n: 15, of: 15 });
    expect(cells['SPE']).toMatchObject({ n: 15, of: 15 });
    expect(cells['script_based']).toMatchObject({ n: 10, of: 10 });
    expect(cells['win']).toMatchObject({ value: 1, n: 30, of: 30 });
    expect(health).toMatchObject({ asked: 60, readable: 60, failed: 0, models: ['judge-2026'] });
    const csv = (await evaluate(['export', out, '--format', 'csv'])).printed;
    expect((await readFile(csv, 'utf8')).split('\n')[0]).toBe(
      'sample,system,role,group,language,item,metric,value,why',
    );
    // A recomputation from the log alone.
    const log = (await readFile(path.join(out, 'log.jsonl'), 'utf8')).trim().split('\n');
    const events = log.map((line) => JSON.parse(line) as LogLine);
    const outputs = new Map(
      events.flatMap((event) => (event.event === 'output' ? [[event.sample, event.output]] : [])),
    );
    const cus = events.flatMap((event) => {
      if (event.event !== 'sample') return [];
      const { part, references } = event.about as { part: string; references: string[] };
      const { answer } = outputs.get(event.sample) as { answer: { text: string } };
      return part === 'general' ? [rougeL(answer.text, references, { tokens: 'alnum', references: 'max' }) ?? 0] : [];
    });
    expect(cells['CUS']?.value).toBeCloseTo(mean(cus), 12);
  });

  it('counts every failure of a judge that answers badly, and resumes without judging anything twice', async () => {
    await using scratch = await openScratch();
    await makeRoleBench(scratch.path);
    const faults: readonly TextFault[] = ['garbled', 'refusal', 'status-429', 'cut'];
    let judged = 0;
    await using server = await openTextModelServer(models, {
      faultAt(_, { model }) {
        if (model !== 'judge') return undefined;
        judged += 1;
        return judged % 10 === 0 ? faults[(judged / 10) % faults.length] : undefined;
      },
    });
    const out = path.join(scratch.path, 'run');
    const noRetries = ['--retries', '0', '--parse-retries', '0'];
    const { status } = await evaluate(argsOf(scratch.path, out, server.url, noRetries));
    expect(status).toBe(1);
    const { health, missing, rows } = await summaryOf(out);
    expect(health).toMatchObject({
      unreadable: server.faults.garbled,
      refused: server.faults.refusal,
      failed: (server.faults['status-429'] ?? 0) + (server.faults.cut ?? 0),
    });
    const win = rows[0]?.cells['win'];
    const lost = Object.values(missing['win'] ?? {}).reduce((sum, count) => sum + count, 0);
    expect(win?.of).toBe(30);
    expect(win?.n).toBe(30 - lost);
    expect(lost).toBeGreaterThan(0);
    const before = server.requests.length;
    await evaluate(['resume', out]);
    expect(server.requests.length - before).toBe(health.failed);
  });

  it('scores stored answers, and the opponent may be any run', async () => {
    await using scratch = await openScratch();
    await makeRoleBench(scratch.path);
    await using server = await openTextModelServer(models);
    const first = path.join(scratch.path, 'first');
    await evaluate(argsOf(scratch.path, first, server.url));
    const outputs = (await evaluate(['export', first, '--format', 'outputs'])).printed;
    const judge = ['--judge', `${server.url}/v1`, '--judge-model', 'judge'];
    const second = path.join(scratch.path, 'second');
    const where = ['--data', scratch.path, '--out', second, '--outputs', outputs, '--opponent', outputs];
    expect((await evaluate(['run', '--task', 'rolebench', ...where, ...judge])).status).toBe(0);
    const [row] = (await summaryOf(second)).rows;
    expect(row?.cells['win']?.value).toBe(0.5);
    const compared = await evaluate(['compare', first, second, '--anyway', '--json']);
    const { differences } = JSON.parse(compared.printed) as { differences: { key: string; difference: number }[] };
    expect(differences.find(({ key }) => key === 'CUS')?.difference).toBe(0);
    // Runs of one protocol are ranked by their win rate: this one is first, and its copy too.
    const ranked = (await evaluate(['leaderboard', first, first])).printed.split('\n');
    expect(ranked.filter((line) => line.startsWith('▸')).map((line) => line.replace(/^.*\(text\) +/, '')[0])).toEqual([
      '1',
      '1',
    ]);
    expect(ranked.find((line) => line.startsWith('Vicuna'))).toMatch(/^Vicuna +4 /);
    const spoken = path.join(scratch.path, 'spoken');
    await mkdir(spoken);
    const log = await readFile(path.join(first, 'log.jsonl'), 'utf8');
    await writeFile(path.join(spoken, 'log.jsonl'), log.replace('"speech":false', '"speech":true'));
    const paths = (await evaluate(['compare', first, spoken])).printed.split('\n');
    expect(paths.find((line) => line.includes('difference'))).toMatch(/\(text\).*\(speech\)/);
    const refused = await evaluate(['compare', first, second]);
    expect(refused).toMatchObject({ status: 2, printed: expect.stringContaining('opponent (RoleGPT;') });
  });

  it('reads Chinese with Han tokens and Chinese prompts, and reports it with every text as text', async () => {
    await using scratch = await openScratch();
    await makeRoleBench(scratch.path);
    const hostile = { ...models, actor: () => '<script>alert(1)</script>俺老孙' };
    await using server = await openTextModelServer(hostile);
    const out = path.join(scratch.path, 'run');
    await evaluate(argsOf(scratch.path, out, server.url, ['--language', 'zh', '--name', '<b>我</b>']));
    const { rows, protocol } = await summaryOf(out);
    expect(protocol).toContain('tokens han');
    expect(rows[0]?.cells['SPE']?.value).toBeGreaterThan(0);
    const file = (await evaluate(['report', out])).printed;
    const page = await readFile(file, 'utf8');
    expect(page).not.toContain('<script>');
    expect(page).toContain('&lt;script&gt;');
    expect(page).toContain('&lt;b&gt;我');
    const [prompt] = server.requests.map((seen) => seen.json() as { messages: { content: string }[] });
    expect(prompt?.messages.map(({ content }) => content).join('')).not.toMatch(/[a-z]{3,}/);
    const board = await evaluate(['leaderboard', out]);
    expect(board.printed).toMatch(/▸ <b>我<\/b> \(text\)|▸ .*我/);
    expect(board.printed).toContain('RoleGLM');
  });

  it('refuses a character whose own lines hold a question of the test', async () => {
    await using scratch = await openScratch();
    await makeRoleBench(scratch.path);
    const pack = path.join(scratch.path, 'packs', 'thor');
    await mkdir(pack, { recursive: true });
    await writeFile(path.join(pack, 'card.json'), JSON.stringify({ name: 'Thor' }));
    await writeFile(
      path.join(pack, 'lines.jsonl'),
      JSON.stringify({ asks: ['Thor, what is thing number 2?'], reply: 'x' }),
    );
    const args = argsOf(scratch.path, path.join(scratch.path, 'run'), 'http://127.0.0.1:9', [
      '--characters',
      path.dirname(pack),
    ]);
    expect(await evaluate(args)).toMatchObject({ status: 1, printed: expect.stringContaining('contain a question') });
  });

  it('checks a judge on answers of which one is plainly out of the role', async () => {
    await using scratch = await openScratch();
    await makeRoleBench(scratch.path);
    const fair = (prompt: string): string => {
      const [first = ''] = [...prompt.matchAll(/<<<\n([\s\S]*?)\n>>>/g)].map((match) => match[1] ?? '');
      const second = prompt.slice(prompt.lastIndexOf('<<<'));
      const isMachine = (text: string): boolean => text.includes('AI language model');
      return `Verdict: ${isMachine(first) ? 'B' : isMachine(second) ? 'A' : 'tie'}`;
    };
    await using server = await openTextModelServer({ ...models, judge: (request) => fair(lastOf(request)) });
    const check = path.join(scratch.path, 'check');
    const judge = ['--judge', `${server.url}/v1`, '--judge-model', 'judge'];
    const common = ['--task', 'rolebench', '--data', scratch.path];
    const checked = await evaluate(['judge-check', ...common, '--out', check, ...judge, '--items', '4']);
    expect(checked).toMatchObject({ status: 0, printed: expect.stringContaining('4/4') });
    const out = path.join(scratch.path, 'run');
    const { printed } = await evaluate(argsOf(scratch.path, out, server.url, ['--judge-check', check]));
    expect(printed).not.toContain('JUDGE NOT CHECKED');
    const other = ['--prompts', scratch.path, '--judge-check', check];
    expect((await evaluate(argsOf(scratch.path, `${out}2`, server.url, other))).status).toBe(2);
  });

  it.each([
    ['Because.\nVerdict: A', 'A', 'A'],
    ['**Verdict: B**', 'B', undefined],
    ['verdict: tie.', 'tie', undefined],
    ['结论：平', 'tie', 'tie'],
    ['First I thought verdict: A, but\nVerdict: B', 'B', 'B'],
    ['Verdict: Answer', undefined, undefined],
  ])('reads the verdict of %j', (text, tolerant, strict) => {
    expect(winnerIn(text, 'tolerant')).toBe(tolerant);
    expect(winnerIn(text, 'strict')).toBe(strict);
  });
});
