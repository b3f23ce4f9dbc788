import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ActedScene } from '../../../eval/coser/acting.ts';
import { environment, transcriptOf } from '../../../eval/coser/messages.ts';
import type { LogLine } from '../../../eval/run-log.ts';
import { sentenceBleu } from '../../../eval/text-metrics/bleu.ts';
import type { TextSummary } from '../../../eval/text/summary.ts';
import {
  lastOf,
  openTextModelServer,
  type ChatRequest,
  type TextFault,
} from '../../fakes/servers/text-model-server.ts';
import { evaluate } from '../../rigs/eval-rig.ts';
import { openScratch } from '../scratch.ts';
import { sceneModels } from './scene-models.ts';
import { writeScenes } from './small-scenes.ts';

async function summaryOf(folder: string, more: readonly string[] = []): Promise<TextSummary> {
  return JSON.parse((await evaluate(['rescore', folder, '--json', ...more])).printed) as TextSummary;
}

function argsOf(data: string, out: string, url: string, more: readonly string[] = []): string[] {
  const agent = ['--agent', `chat:${url}/v1#actor`, '--environment', `${url}/v1#world`];
  const judge = ['--judge', `${url}/v1`, '--judge-model', 'judge', '--next-speaker', `${url}/v1#chooser`];
  return ['run', '--task', 'coser', '--data', data, '--out', out, ...agent, ...judge, ...more];
}

async function eventsOf(folder: string): Promise<LogLine[]> {
  const text = await readFile(path.join(folder, 'log.jsonl'), 'utf8');
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as LogLine);
}

describe('eval run --task coser', () => {
  it('acts every scene, judges four dimensions, and gives intervals by book', async () => {
    await using scratch = await openScratch();
    const { data } = await writeScenes(scratch.path);
    await using server = await openTextModelServer(sceneModels);
    const out = path.join(scratch.path, 'run');
    const { status, printed } = await evaluate(argsOf(data, out, server.url));
    expect(printed).toContain('6 of 6 items answered, over text');
    expect(status).toBe(0);
    const { rows, health, protocol } = await summaryOf(out);
    expect(protocol).toMatch(/^coser · length correction coser · own wording [0-9a-f]{8}$/);
    expect(rows.map(({ key, samples }) => [key, samples])).toEqual([
      ['all', 6],
      ['id', 3],
      ['ood', 3],
    ]);
    expect(health).toMatchObject({ asked: 24, readable: 24, failed: 0, models: ['judge-2026'] });
    const cells = rows[0]?.cells ?? {};
    expect(cells['case']).toMatchObject({ n: 6, of: 6 });
    expect(cells['case']?.low).not.toBeNull();
    expect(rows[1]?.cells['case']?.low).toBeNull();
    expect(cells['average']?.value).toBeCloseTo(cells['case']?.value ?? 0, 10);

    // A recomputation from the log alone.
    const events = await eventsOf(out);
    const outputs = new Map(
      events.flatMap((each) => (each.event === 'output' ? [[each.sample, each.output as ActedScene]] : [])),
    );
    const judged = events.flatMap((each) => {
      if (each.event !== 'measured' || each.ask !== 'anthropomorphism') return [];
      const { replies } = each.value as { replies: { text: string }[] };
      const { Anthropomorphism: found } = JSON.parse(replies[0]?.text ?? '') as {
        Anthropomorphism: { flaws: { severity: number }[] };
      };
      const rounds =
        outputs.get(each.sample)?.messages.filter(({ character }) => character !== environment).length ?? 0;
      const sum = found.flaws.reduce((total, { severity }) => total + severity, 0);
      return [Math.max(0, Math.min(100, 100 - 5 * sum + 1.5 * rounds))];
    });
    expect(cells['anthropomorphism']?.value).toBeCloseTo(judged.reduce((sum, score) => sum + score, 0) / 6, 10);
    const bleus = events.flatMap((each) => {
      if (each.event !== 'sample') return [];
      const { reference } = each.about as { reference: { character: string; text: string }[] };
      return [sentenceBleu(transcriptOf(outputs.get(each.sample)?.messages ?? []), transcriptOf(reference))];
    });
    expect(cells['bleu']?.value).toBeCloseTo(bleus.reduce((sum, value) => sum + value, 0) / 6, 12);
  });

  it('counts every failure of a judge that answers badly, and a missing score is null, never 0', async () => {
    await using scratch = await openScratch();
    const { data } = await writeScenes(scratch.path);
    const faults: readonly TextFault[] = ['garbled', 'refusal', 'status-429', 'cut'];
    let judged = 0;
    await using server = await openTextModelServer(sceneModels, {
      faultAt(_, { model }) {
        if (model !== 'judge') return undefined;
        judged += 1;
        return judged % 10 === 0 ? faults[(judged / 10 - 1) % faults.length] : undefined;
      },
    });
    const out = path.join(scratch.path, 'run');
    const { status } = await evaluate(
      argsOf(data, out, server.url, ['--retries', '0', '--parse-retries', '0', '--repeats', '2']),
    );
    expect(status).toBe(1);
    const { health, missing, rows, overRepeats } = await summaryOf(out);
    expect(server.faults).toEqual({ garbled: 1, refusal: 1, 'status-429': 1, cut: 1 });
    expect(health).toMatchObject({ readable: 44, unreadable: 1, refused: 1, failed: 2 });
    const dimensions = ['storyline-consistency', 'anthropomorphism', 'character-fidelity', 'storyline-quality'];
    const lost = dimensions.flatMap((key) => Object.entries(missing[key] ?? {}));
    expect(lost.reduce((sum, [, count]) => sum + count, 0)).toBe(4);
    expect(new Set(lost.map(([why]) => why))).toEqual(
      new Set(['unreadable reply', 'the judge refused', 'the judge failed']),
    );
    const all = rows[0]?.cells['case'];
    expect(all?.of).toBe(12);
    expect(all?.n).toBe(12 - Object.values(missing['case'] ?? {}).reduce((sum, count) => sum + count, 0));
    const [one = NaN, other = NaN] = rows
      .filter(({ key }) => key.startsWith('repeat-'))
      .map(({ cells }) => cells['bleu']?.value ?? NaN);
    expect(overRepeats['bleu']?.mean).toBeCloseTo((one + other) / 2, 12);
    expect(overRepeats['bleu']?.deviation).toBeCloseTo(Math.abs(one - other) / Math.SQRT2, 12);
    expect((await evaluate(['rescore', out])).printed).toMatch(/Over repeats +mean +deviation +repeats/);
    const before = server.requests.length;
    await evaluate(['resume', out]);
    expect(server.requests.length - before).toBe(2);
  });

  it('asks again for what it could not read, and again for what failed', async () => {
    await using scratch = await openScratch();
    const { data } = await writeScenes(scratch.path);
    let asked = 0;
    await using server = await openTextModelServer(sceneModels, {
      faultAt(_, { model }) {
        if (model !== 'judge') return undefined;
        asked += 1;
        return asked === 3 ? 'garbled' : asked === 7 ? 'status-429' : undefined;
      },
    });
    const out = path.join(scratch.path, 'run');
    expect((await evaluate(argsOf(data, out, server.url))).status).toBe(0);
    expect((await summaryOf(out)).health).toMatchObject({ asked: 24, readable: 24, repeated: 1 });
  });

  it('names the reason if a character says nothing, and scores the other scenes', async () => {
    await using scratch = await openScratch();
    const { data } = await writeScenes(scratch.path);
    const mute = (request: ChatRequest): string =>
      request.messages[0]?.content.includes('from Alba') === true ? ' ' : (sceneModels['actor']?.(request) ?? '');
    await using server = await openTextModelServer({ ...sceneModels, actor: mute });
    const out = path.join(scratch.path, 'run');
    const { status, printed } = await evaluate(argsOf(data, out, server.url));
    expect(status).toBe(1);
    expect(printed).toMatch(/failed 1 × eval_agent: Alba-2-0: Ben has said nothing/);
    const { rows } = await summaryOf(out);
    expect(rows[0]?.cells['case']).toMatchObject({ n: 5, of: 6 });
  });

  it('judges stored scenes in the form of the released code, and reads its own exports back', async () => {
    await using scratch = await openScratch();
    const { data } = await writeScenes(scratch.path);
    await using server = await openTextModelServer(sceneModels);
    const [first, second] = ['first', 'second'].map((name) => path.join(scratch.path, name)) as [string, string];
    await evaluate(argsOf(data, first, server.url));
    const outputs = (await evaluate(['export', first, '--format', 'outputs'])).printed;
    const rows = (await readFile(outputs, 'utf8'))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as object);
    expect(rows[0]).toMatchObject({ book_title: 'Alba', i_p: 2, i_c: 0 });
    const judge = ['--judge', `${server.url}/v1`, '--judge-model', 'judge'];
    const again = ['run', '--task', 'coser', '--data', data, '--out', second, '--outputs', outputs, ...judge];
    expect((await evaluate(again)).status).toBe(0);
    const [a, b] = await Promise.all([summaryOf(first), summaryOf(second)]);
    for (const key of ['case', 'bleu', 'rouge-l', 'messages'])
      expect(b.rows[0]?.cells[key]?.value).toBe(a.rows[0]?.cells[key]?.value);
    const compared = await evaluate(['compare', first, second, '--anyway', '--json']);
    const { differences } = JSON.parse(compared.printed) as { differences: { key: string; ties: number }[] };
    expect(differences.find(({ key }) => key === 'case')?.ties).toBe(6);
    expect((await evaluate(['compare', first, second])).printed).toContain('environment (world; none)');
    const csv = (await evaluate(['export', first, '--format', 'csv'])).printed;
    expect(await readFile(csv, 'utf8')).toContain('Alba-2-0');
  });

  it('recalls plots before the held-out ones, and reports a leak below its tables', async () => {
    await using scratch = await openScratch();
    const { data, books } = await writeScenes(scratch.path);
    await using server = await openTextModelServer(sceneModels);
    const out = (name: string): string => path.join(scratch.path, name);
    const recall = ['--books', books, '--retrieval', 'expr3-conv1', '--limit', '1'];
    await evaluate(argsOf(data, out('fair'), server.url, recall));
    const prompts = (): string => server.requests.map(({ bytes }) => bytes.toString('utf8')).join('\n');
    expect(prompts()).toContain('Ada burns a pie in a storm');
    expect(prompts()).not.toContain('Ada lives through plot 2');
    const leaky = await evaluate(argsOf(data, out('leaky'), server.url, [...recall, '--leaky']));
    expect(prompts()).toContain('Ada lives through plot 2');
    expect(leaky.printed).toContain('HELD-OUT PLOTS INCLUDED');
    expect((await evaluate(['compare', out('fair'), out('leaky')])).printed).toContain(
      'retrieval (expr3-conv1; expr3-conv1, leaky)',
    );
  });

  it('reports every text as text, prints the leaderboard with rows of CoSER, and checks data', async () => {
    await using scratch = await openScratch();
    const { data } = await writeScenes(scratch.path);
    const hostile = { ...sceneModels, actor: () => '<script>alert(1)</script> Well.' };
    await using server = await openTextModelServer(hostile);
    const out = path.join(scratch.path, 'run');
    await evaluate(argsOf(data, out, server.url));
    const page = await readFile((await evaluate(['report', out])).printed, 'utf8');
    expect(page).not.toContain('<script>');
    expect(page).toContain('&lt;script&gt;');
    const board = await evaluate(['leaderboard', out]);
    expect(board.printed).toContain('CoSER-70B');
    expect(board.printed).toContain('62.42');
    const checked = await evaluate(['data', 'check', data, '--task', 'coser']);
    expect(checked).toMatchObject({ status: 0, printed: expect.stringContaining('6 items: English 6, Chinese 0') });
    expect(
      await evaluate([
        'run',
        '--task',
        'coser',
        '--data',
        data,
        '--out',
        `${out}2`,
        '--agent',
        'chat:http://127.0.0.1:9/v1#x',
      ]),
    ).toMatchObject({
      status: 2,
      printed: expect.stringContaining('--environment is required'),
    });
  });

  it('checks a judge on scenes of the books, spoiled in one respect each', async () => {
    await using scratch = await openScratch();
    const { data } = await writeScenes(scratch.path);
    const fair = (request: ChatRequest): string => {
      const system = request.messages[0]?.content ?? '';
      const [, name = ''] = /\{"([A-Za-z ]+)": \{"flaws"/.exec(system) ?? [];
      const isOriginal = system.includes(lastOf(request).slice(0, 60)) && system.includes(lastOf(request).slice(-40));
      const flaws = isOriginal
        ? []
        : [
            { instance: 'all', type: name, severity: 5 },
            { instance: 'x', type: name, severity: 5 },
          ];
      return JSON.stringify({ [name]: { flaws } });
    };
    await using server = await openTextModelServer({ judge: fair });
    const judge = ['--judge', `${server.url}/v1`, '--judge-model', 'judge'];
    const out = path.join(scratch.path, 'check');
    const args = ['judge-check', '--task', 'coser', '--data', data, '--out', out, ...judge];
    const { status, printed } = await evaluate(args);
    expect(printed).toContain('6/6');
    expect(status).toBe(0);
  });
});
