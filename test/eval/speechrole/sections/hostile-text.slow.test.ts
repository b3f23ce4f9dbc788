import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { reportHtml } from '../../../../eval/speechrole/sections/report.ts';
import { runPaths } from '../../../../eval/run-folder.ts';
import { readRun } from '../../../../eval/speechrole/run-view.ts';
import { openJudgeServer } from '../../../fakes/servers/judge-server.ts';
import { evaluate, runOf } from '../../../rigs/eval-rig.ts';
import { makeJudgedSet } from '../../judged-set.ts';
import { openScratch } from '../../scratch.ts';

const attack = `"'></title></style></script></pre><img src=x onerror=alert(1)><script>alert(1)</script>&lt;`;

describe('the report of a hostile system', () => {
  it.each(['v1', 'v2'])(
    'names, roles, transcripts, latency owners and judge replies of a hostile system become text, not markup (%s)',
    async (protocol) => {
      await using scratch = await openScratch();
      const set = await makeJudgedSet(scratch.path, 2);
      await using judge = await openJudgeServer();
      const out = path.join(scratch.path, 'run');
      await evaluate(runOf(set, judge.url, out, ['--protocol', protocol]));
      const { logFile } = runPaths(out);
      const log = await readFile(logFile, 'utf8');
      await writeFile(logFile, rewritten(log, ' harmless'));
      const harmless = elementsOf(await reportHtml(await readRun(out), { worst: 8 }));
      await writeFile(logFile, rewritten(log, attack));
      const report = await reportHtml(await readRun(out), { worst: 8 });
      expect(elementsOf(report)).toEqual(harmless);
      expect(report.split('alert(1)').length).toBeGreaterThan(100);
    },
  );

  it('a report whose text became markup after all could run no script and load nothing', async () => {
    await using scratch = await openScratch();
    const set = await makeJudgedSet(scratch.path, 1);
    await using judge = await openJudgeServer();
    const out = path.join(scratch.path, 'run');
    await evaluate(runOf(set, judge.url, out));
    const report = await reportHtml(await readRun(out), { worst: 1 });
    const found = /<meta http-equiv="Content-Security-Policy" content="([^"]*)" \/>/.exec(report)?.[1] ?? '';
    const policy = found.replaceAll('&#39;', "'").split('; ');
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain('media-src data:');
    expect(policy.filter((rule) => /script|connect|https?:|\*/.test(rule))).toEqual([]);
    expect(report.indexOf('http-equiv')).toBeLessThan(report.indexOf('<title>'));
  });
});

/** Puts `text` behind each text of the log that others wrote: system, judge, data and the name of the run. */
function rewritten(log: string, text: string): string {
  const lines = log.trimEnd().split('\n');
  return `${lines.map((line) => JSON.stringify(withText(JSON.parse(line) as LogLine, text))).join('\n')}\n`;
}

interface LogLine extends Record<string, unknown> {
  readonly event: string;
}

function withText(line: LogLine, text: string): unknown {
  const { event, sample } = line;
  switch (event) {
    case 'run':
      return {
        ...line,
        commit: `1234567${text}`,
        versions: { node: `24${text}`, dramatis: `1${text}` },
        config: deep({ ...(line['config'] as object), name: 'run' }, text, configTexts),
        prompts: { [`judge${text}`]: `0${text}` },
        seeds: { [`order${text}`]: 1 },
      };
    case 'sample':
      return { ...line, sample: `${String(sample)}${text}`, about: deep(line['about'], text, aboutTexts) };
    case 'output': {
      const output = deep(line['output'], text, answerTexts) as { readonly answers: readonly object[] };
      const latency = { owners: { [`ASR${text}`]: 50, [`network${text}`]: 20 } };
      const answers = output.answers.map((answer) => ({
        ...answer,
        heard: `heard${text}`,
        latency,
        firstAudioMs: 400,
      }));
      const system = { engines: { [`ASR${text}`]: `moonshine${text}` } };
      return { ...line, sample: `${String(sample)}${text}`, output: { answers, system } };
    }
    case 'measured': {
      const value = deep(line['value'], text, judgeTexts);
      return { ...line, sample: `${String(sample)}${text}`, value };
    }
    default:
      return line;
  }
}

const configTexts = new Set(['name', 'agent', 'model', 'data']);
const aboutTexts = new Set(['role', 'category', 'text']);
const answerTexts = new Set(['text']);
const judgeTexts = new Set(['text', 'model']);

/** Puts `text` behind the texts of the named keys; the judge's scores stay readable. */
function deep(value: unknown, text: string, keys: ReadonlySet<string>, key = ''): unknown {
  if (Array.isArray(value)) return value.map((each) => deep(each, text, keys, key));
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, deep(each, text, keys, name)]));
  if (typeof value !== 'string' || !keys.has(key)) return value;
  if (keys !== judgeTexts || key !== 'text') return `${value}${text}`;
  return value
    .replaceAll('A is plain', () => `A is plain${text}`)
    .replaceAll('"heard"', () => JSON.stringify(`heard${text}`));
}

/**
 * Reads the tags of a page: name and attributes of each, in order. Throws if a `<` begins anything else, so that no
 * unreadable markup is overlooked.
 */
function elementsOf(page: string): string[] {
  const body = page.replace(/<style>[^<]*<\/style>/, '<style></style>');
  const tags: string[] = [];
  for (const [whole, rest] of body.matchAll(/<(?:([^<>"]*(?:"[^"]*"[^<>"]*)*)>)?/g)) {
    if (rest === undefined) throw new Error(`not a tag: ${whole}`);
    const name = /^[!/]?[a-z][a-z0-9]*/i.exec(rest)?.[0];
    if (name === undefined) throw new Error(`not a tag: ${whole.slice(0, 80)}`);
    tags.push(rest.replaceAll(/"[^"]*"/g, '""'));
  }
  return tags;
}
