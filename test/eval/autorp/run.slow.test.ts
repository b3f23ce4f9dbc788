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
import { roleModels } from './role-models.ts';
import { alignmentRows, makeRoles } from './small-roles.ts';
import { judgedMetrics } from '../../../eval/autorp/judging.ts';

async function summaryOf(folder: string): Promise<TextSummary> {
  return JSON.parse((await evaluate(['rescore', folder, '--json'])).printed) as TextSummary;
}

function argsOf(data: string, out: string, url: string, more: readonly string[] = []): string[] {
  const agent = ['--agent', `chat:${url}/v1#actor`, '--partner', `${url}/v1#partner`];
  const judge = ['--judge', `${url}/v1`, '--judge-model', 'judge'];
  return ['run', '--task', 'autorp', '--data', data, '--out', out, ...agent, ...judge, ...more];
}

describe('eval run --task autorp', () => {
  it('lets every role meet its partners, who speak first, and reads eight metrics out of the talk', async () => {
    await using scratch = await openScratch();
    await makeRoles(scratch.path);
    await using server = await openTextModelServer(roleModels);
    const out = path.join(scratch.path, 'run');
    const { status, printed } = await evaluate(argsOf(scratch.path, out, server.url));
    expect(printed).toContain('14 of 14 items answered, over text');
    expect(printed).toContain('Intervals come from only 7 roles or books');
    expect(status).toBe(0);
    const { rows, health, protocol } = await summaryOf(out);
    expect(protocol).toMatch(/^AutoRPEval, candidates distractors, 10 utterances · own wording [0-9a-f]{8}$/);
    expect(rows.map(({ key, samples }) => [key, samples])).toEqual([
      ['all', 14],
      ['en', 10],
      ['zh', 4],
    ]);
    expect(health).toMatchObject({ asked: 14 * 8, readable: 14 * 8, failed: 0 });
    const cells = rows[0]?.cells ?? {};
    expect(cells['emotion']?.value).toBeCloseTo(0.1, 12);
    expect(cells['relationship']?.value).toBe(0.25);
    expect(cells['role-choice']).toMatchObject({ value: 1, n: 14 });
    expect(cells['coherence']?.low).toBe(1);
    const values = ['character', 'style', 'emotion', 'relationship', 'personality'].map(
      (key) => cells[key]?.value ?? NaN,
    );
    const [character = NaN, style = NaN, emotion = NaN, relationship = NaN, personality = NaN] = values;
    const average = (character + style + (1 - emotion) + (1 - relationship) + personality) / 5;
    expect(cells['average']?.value).toBeCloseTo(average, 12);

    const asked = server.requests.map((seen) => seen.json() as unknown as ChatRequest);
    const ofPartner = asked.filter(({ model }) => model === 'partner');
    expect(ofPartner).toHaveLength(14 * 5);
    expect(ofPartner.every((request) => lastOf(request) !== '')).toBe(true);
    const ofActor = asked.filter(({ model }) => model === 'actor');
    expect(ofActor[0]?.messages[0]?.content).toMatch(/anger: 7|愤怒：7/);
    expect(JSON.stringify(ofActor)).not.toContain('{scene}');
    const judged = asked.filter(({ model }) => model === 'judge').map(lastOf);
    expect(judged.join('')).not.toContain('A second line');
    // The name is masked where it must be guessed: first names too.
    const guessed = judged.filter((prompt) => prompt.includes('Behind [Role]'));
    expect(guessed).toHaveLength(10);
    for (const prompt of guessed)
      expect(prompt.slice(0, prompt.indexOf('Behind [Role]'))).not.toMatch(/\bAda\b|\bBen\b/);
  });

  it('counts every failure of a judge that answers badly, and asks nothing twice after a resume', async () => {
    await using scratch = await openScratch();
    await makeRoles(scratch.path);
    const faults: readonly TextFault[] = ['garbled', 'refusal', 'status-429', 'cut'];
    let judged = 0;
    await using server = await openTextModelServer(roleModels, {
      faultAt(_, { model }) {
        if (model !== 'judge') return undefined;
        judged += 1;
        return judged % 10 === 0 ? faults[(judged / 10) % faults.length] : undefined;
      },
    });
    const out = path.join(scratch.path, 'run');
    const { status } = await evaluate(
      argsOf(scratch.path, out, server.url, ['--retries', '0', '--parse-retries', '0']),
    );
    expect(status).toBe(1);
    const { health, missing, rows } = await summaryOf(out);
    const { garbled = 0, refusal = 0, cut = 0 } = server.faults;
    const failed = (server.faults['status-429'] ?? 0) + cut;
    expect(health).toMatchObject({ unreadable: garbled, refused: refusal, failed });
    const lost = judgedMetrics.flatMap((key) => Object.values(missing[key] ?? {}));
    expect(lost.reduce((sum, count) => sum + count, 0)).toBe(garbled + refusal + failed);
    const scored = judgedMetrics.map((key) => rows[0]?.cells[key]?.n ?? 0);
    expect(scored.reduce((sum, n) => sum + n, 0)).toBe(14 * 8 - garbled - refusal - failed);
    const before = server.requests.length;
    await evaluate(['resume', out]);
    expect(server.requests.length - before).toBe(failed);
  });

  it('reads its own exports back, reports, compares and prints the papers’ rows', async () => {
    await using scratch = await openScratch();
    await makeRoles(scratch.path);
    const hostile = { ...roleModels, actor: () => '<script>alert(1)</script> Well.' };
    await using server = await openTextModelServer(hostile);
    const [first, second] = ['first', 'second'].map((name) => path.join(scratch.path, name)) as [string, string];
    await evaluate(argsOf(scratch.path, first, server.url));
    const outputs = (await evaluate(['export', first, '--format', 'outputs'])).printed;
    const judge = ['--judge', `${server.url}/v1`, '--judge-model', 'judge'];
    const again = ['run', '--task', 'autorp', '--data', scratch.path, '--out', second, '--outputs', outputs, ...judge];
    expect((await evaluate(again)).status).toBe(0);
    const [a, b] = await Promise.all([summaryOf(first), summaryOf(second)]);
    expect(b.rows[0]?.cells).toEqual(a.rows[0]?.cells);
    expect((await evaluate(['compare', first, second])).printed).toContain('partner (partner; none)');
    const compared = await evaluate(['compare', first, second, '--anyway', '--json']);
    const { differences } = JSON.parse(compared.printed) as {
      differences: { key: string; ties: number; t: unknown }[];
    };
    expect(differences.find(({ key }) => key === 'emotion')).toMatchObject({ ties: 14 });
    const page = await readFile((await evaluate(['report', first])).printed, 'utf8');
    expect(page).not.toContain('<script>');
    expect(page).toContain('&lt;script&gt;');
    const board = await evaluate(['leaderboard', first]);
    expect(board.printed).toContain('Baichuan-NPC-Turbo');
    expect(board.printed).toContain('78.83');
    const csv = await readFile((await evaluate(['export', first, '--format', 'csv'])).printed, 'utf8');
    expect(csv).toContain('human-likeness');
    const checked = await evaluate(['data', 'check', scratch.path, '--task', 'autorp']);
    expect(checked).toMatchObject({ status: 0, printed: expect.stringContaining('14 items: English 10, Chinese 4') });
    const unnamed = argsOf(scratch.path, `${first}3`, server.url).filter((arg) => !arg.includes('partner'));
    expect(await evaluate(unnamed)).toMatchObject({
      status: 2,
      printed: expect.stringContaining('--partner is required'),
    });
  });

  it('takes partners and scenes of a file of your own, and names rows that it cannot use', async () => {
    await using scratch = await openScratch();
    await makeRoles(scratch.path);
    await using server = await openTextModelServer(roleModels);
    const emotions = { happiness: 1, sadness: 2, disgust: 3, fear: 4, surprise: 5, anger: 6 };
    const row = {
      role: 'Ben',
      chat_role: 'Old Tom',
      role_des: 'An ostler.',
      scene: 'A stable.',
      relationship_score: 2,
    };
    const rows = [{ ...row, emotions }, { ...row, emotions: { anger: 6 } }, { ...row, role: 'Nobody', emotions }, {}];
    const meetings = path.join(scratch.path, 'meetings.jsonl');
    await writeFile(meetings, rows.map((each) => `${JSON.stringify(each)}\n`).join(''));
    const out = path.join(scratch.path, 'run');
    const { printed } = await evaluate(argsOf(scratch.path, out, server.url, ['--meetings', meetings]));
    expect(printed).toContain('1 of 1 items answered');
    expect(printed).toContain(`Ben and row 2 of ${meetings}`);
    expect(printed).toContain('the six emotions are happiness');
    expect(printed).toContain('meetings.jsonl:3: no role "Nobody" in the data');
    expect(printed).toContain('meetings.jsonl:4: no role');
    const [asked] = server.requests.map((seen) => seen.json() as unknown as ChatRequest);
    expect(JSON.stringify(asked)).toContain('A stable.');
  });

  it('examines a model by the alignment items without any judge', async () => {
    await using scratch = await openScratch();
    const data = path.join(scratch.path, 'CESRP_test.json');
    await writeFile(data, JSON.stringify(alignmentRows));
    const analyst = (request: ChatRequest): string => {
      const [, wanted = ''] = /Read the (\w+)/.exec(lastOf(request)) ?? [];
      if (wanted === 'style') return 'I cannot say.';
      const six = { happiness: 5, sadness: 0, disgust: 1, fear: 1, surprise: 0, anger: 8 };
      const replies: Record<string, unknown> = { character: 'kind', relationship: 4.5, personality: 'INTJ' };
      return `So: ${JSON.stringify(wanted === 'emotion' ? six : { [wanted]: replies[wanted] })}`;
    };
    await using server = await openTextModelServer({ analyst });
    const out = path.join(scratch.path, 'run');
    const args = ['run', '--task', 'autorp', '--data', data, '--out', out, '--agent', `chat:${server.url}/v1#analyst`];
    expect((await evaluate(args)).status).toBe(0);
    const cells = (await summaryOf(out)).rows[0]?.cells ?? {};
    expect(cells['character']?.value).toBe(0.5);
    expect(cells['style']).toMatchObject({ value: null, n: 0, of: 1 });
    expect(cells['emotion']?.value).toBeCloseTo(0.1, 12);
    expect(cells['relationship']?.value).toBe(0.25);
    expect(cells['personality']?.value).toBe(0.75);
    const strict = JSON.parse(
      (await evaluate(['rescore', out, '--parser', 'strict', '--json'])).printed,
    ) as TextSummary;
    expect(strict.rows[0]?.cells['style']?.value).toBe(0);
  });

  it('compares the judge with people, and refuses impossible labels', async () => {
    await using scratch = await openScratch();
    await makeRoles(scratch.path);
    await using server = await openTextModelServer(roleModels);
    const out = path.join(scratch.path, 'run');
    await evaluate(argsOf(scratch.path, out, server.url, ['--language', 'en', '--candidates', 'own']));
    const csv = await readFile((await evaluate(['export', out, '--format', 'csv'])).printed, 'utf8');
    const ids = [
      ...new Set(
        csv
          .split('\n')
          .slice(1)
          .flatMap((line) => line.split(',')[0] || []),
      ),
    ];
    const labels = path.join(scratch.path, 'people.csv');
    const rows = ids.flatMap((id, at) => [
      `${id},relationship,${at === 0 ? 9 : 4.5},1`,
      `${id},emotion,5 0 1 1 0 8,${at === 0 ? 0 : 1}`,
      `${id},personality,INTJ,`,
      `${id},role-choice,${at === 0 ? 'A' : 'B'},`,
    ]);
    await writeFile(labels, `sample,metric,label,valid\n${rows.join('\n')}\n`);
    const { printed, status } = await evaluate(['agreement', out, '--human', labels, '--json']);
    expect(status).toBe(0);
    const found = JSON.parse(printed) as { metric: string; n: number; validity: number; cosine: number }[];
    const of = (metric: string) => found.find((each) => each.metric === metric);
    expect(of('emotion')).toMatchObject({ n: 10, validity: 0.9, cosine: expect.closeTo(1, 12) });
    expect(of('role-choice')?.cosine).toBeCloseTo(0.9, 12);
    expect(of('personality')?.cosine).toBe(1);
    expect(of('coherence')).toMatchObject({ n: 0, validity: null });
    await writeFile(labels, `sample,metric,label\n${ids[0]},personality,XXXX\n`);
    const refused = await evaluate(['agreement', out, '--human', labels]);
    expect(refused).toMatchObject({ status: 1, printed: expect.stringContaining('not a label of personality') });
  });

  it('checks a judge on pairs of conversations, one for each metric', async () => {
    await using scratch = await openScratch();
    await makeRoles(scratch.path);
    const fair = (request: ChatRequest): string => {
      const prompt = lastOf(request);
      const isGood = !/this and that|wonderful question|Potatoes|I do not know you/i.test(prompt);
      const has = (word: string): boolean => prompt.slice(-200).includes(word);
      if (has('"character"')) return JSON.stringify({ character: isGood ? 'brave, kind' : '' });
      if (has('"style"')) return JSON.stringify({ style: isGood ? 'plain' : '' });
      if (has('"happiness"')) {
        const anger = prompt.includes('furious') ? 8 : 0;
        return JSON.stringify({ happiness: 3, sadness: 0, disgust: 0, fear: 1, surprise: 2, anger });
      }
      if (has('"relationship"')) return JSON.stringify({ relationship: isGood ? 7 : 0 });
      if (has('"personality"')) {
        const of = (mark: string, yes: string, no: string): string => (prompt.includes(mark) ? yes : no);
        const type = of('alone with', 'I', 'E') + of('what it means', 'N', 'S') + of('coldly', 'T', 'F');
        return JSON.stringify({ personality: type + of('have a plan', 'J', 'P') });
      }
      if (has('"answer"'))
        return JSON.stringify({ answer: /: quiet\n/.test(prompt.split('Behind')[0] ?? '') ? 'A' : 'B' });
      return JSON.stringify(
        has('real_dialogue') ? { is_real_dialogue: String(isGood) } : { is_coherent: String(isGood) },
      );
    };
    await using server = await openTextModelServer({ judge: fair });
    const judge = ['--judge', `${server.url}/v1`, '--judge-model', 'judge', '--language', 'en', '--items', '4'];
    const out = path.join(scratch.path, 'check');
    const args = ['judge-check', '--task', 'autorp', '--data', scratch.path, '--out', out, ...judge];
    const { status, printed } = await evaluate(args);
    expect(printed.match(/4\/4/g)).toHaveLength(8);
    expect(status).toBe(0);
  });
});
