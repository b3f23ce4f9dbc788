import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { jsonText } from '../../../server/terminal/text.ts';
import { openEngineServer } from '../../fakes/servers/engine-server.ts';
import { openJudgeServer } from '../../fakes/servers/judge-server.ts';
import { dramatis } from '../../rigs/command-rig.ts';
import { runOf } from '../../rigs/eval-rig.ts';
import { makeJudgedSet } from '../../eval/judged-set.ts';

/** Clears the screen, renames the window, and writes from right to left. */
const attack = '\u001B[2J\u001B]0;pwned\u0007\u009B2J\u202Egnp.exe';
// eslint-disable-next-line no-control-regex
const unsafe = /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u202A-\u202E\u2066-\u2069]/;
const repository = path.join(import.meta.dirname, '..', '..', '..');

afterEach(() => void vi.unstubAllEnvs());

describe('terminal output', () => {
  it('model ids of a hostile server move no cursor and rename no window in `doctor`', async () => {
    const models = JSON.stringify({ object: 'list', data: [{ id: `llama${attack}`, object: 'model' }] });
    await using server = await openEngineServer({
      'GET /v1/models': () => ({ headers: { 'content-type': 'application/json' }, body: models }),
      'POST /v1/chat/completions': () => ({ status: 404, body: `{"error":{"message":"no ${attack}"}}` }),
    });
    vi.stubEnv('DRAMATIS_DATA_DIR', path.join(tmpdir(), 'dramatis-names-data'));
    vi.stubEnv('DRAMATIS_LLM_BASE_URL', `${server.url}/v1`);
    vi.stubEnv('DRAMATIS_LLM_MODEL', 'mistral');
    const { stdout } = await dramatis('doctor');
    expect(stdout).toContain('pwned');
    expect(stdout).toMatch(/^✓ ffmpeg +(\S+ at \/|the bundled one)/m);
    expect(stdout).not.toMatch(unsafe);
  }, 60_000);

  it('names of hostile runs move no cursor in `eval leaderboard` and `eval compare`', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'dramatis-names-'));
    try {
      const set = await makeJudgedSet(folder, 2);
      await using judge = await openJudgeServer();
      const out = path.join(folder, 'run');
      await dramatis('eval', ...runOf(set, judge.url, out));
      const log = path.join(out, (await readdir(out)).find((name) => name.endsWith('.jsonl')) ?? 'log.jsonl');
      const hostile = JSON.stringify(`run${attack}`);
      await writeFile(
        log,
        (await readFile(log, 'utf8'))
          .replace('"name":""', `"name":${hostile}`)
          .replace('"model":"ear"', `"model":${hostile}`),
      );
      for (const words of [
        ['leaderboard', out],
        ['compare', out, out],
        ['leaderboard', out, '--json'],
      ]) {
        const { stdout } = await dramatis('eval', ...words);
        expect([words[0], stdout.includes('pwned')]).toEqual([words[0], true]);
        expect(stdout).not.toMatch(unsafe);
      }
    } finally {
      await rm(folder, { recursive: true });
    }
  }, 60_000);

  it('JSON for a terminal has no control character and loses none', () => {
    const json = jsonText({ name: attack });
    expect(json).not.toMatch(unsafe);
    expect(JSON.parse(json)).toEqual({ name: attack });
  });

  it('no command prints past the one place that makes text safe for a terminal', async () => {
    const files = await readdir(path.join(repository, 'server', 'cli'), { recursive: true });
    const direct: string[] = [];
    for (const file of files.filter((name) => name.endsWith('.ts'))) {
      const text = await readFile(path.join(repository, 'server', 'cli', file), 'utf8');
      for (const [call] of text.matchAll(/console\.\w+\(.*|process\.std(?:out|err)\.write\((?!printable).*/g))
        direct.push(`${file}: ${call}`);
    }
    // The microphone's conversation: `terminal-talk.ts` makes each text printable, and draws its own meter.
    expect(direct).toEqual(['talk/talk.ts: process.stdout.write(text);']);
  });
});
