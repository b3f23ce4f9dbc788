import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { LogLine } from '../../../eval/run-log.ts';
import { writeWav } from '../../../voices/dsp/wav.ts';
import { makeJudgedSet } from '../../eval/judged-set.ts';
import { openScratch } from '../../eval/scratch.ts';
import { openChatServer, says } from '../../fakes/servers/chat-server.ts';
import { openJudgeServer } from '../../fakes/servers/judge-server.ts';
import { openSpeechServer } from '../../fakes/servers/speech-server.ts';
import { tone } from '../../fakes/vad.ts';

const main = path.resolve(import.meta.dirname, '../../../server/main.ts');

describe('dramatis eval run', () => {
  it('starts its own server with the prompt word for word, the role’s clip as voice and the LLM key kept nowhere', async () => {
    await using scratch = await openScratch();
    await using mind = await openChatServer(says(['I am ', 'Hu Tao.']));
    await using mouth = await openSpeechServer();
    const { data } = await makeJudgedSet(scratch.path, 1);
    const voices = path.join(scratch.path, 'role_voices');
    await mkdir(voices);
    await writeWav(path.join(voices, 'hutao.wav'), tone(4_000, 16_000), 16_000);
    await writeFile(path.join(voices, 'audios_text.json'), JSON.stringify({ hutao: '本堂主来也' }));
    const engines = path.join(scratch.path, 'engines.json');
    const clone = { kind: 'openai-speech', dialect: 'vllm-omni', baseUrl: `${mouth.url}/v1`, model: 'F5' };
    await writeFile(engines, JSON.stringify({ engines: { clone }, tts: 'clone' }));
    const out = path.join(scratch.path, 'run');
    const what = ['eval', 'run', '--data', data, '--out', out, '--user-text', '--mode', 'multi', '--limit', '1'];
    const engineFlags = ['--engines', engines, '--llm-base-url', mind.baseUrl, '--llm-model', 'llama'];
    const keyFlags = ['--llm-api-key', 'key-of-the-mind'];
    const child = spawn(
      process.execPath,
      [main, ...what, '--role-voices', voices, '--role-voices-consent', 'made by us', ...engineFlags, ...keyFlags],
      {
        stdio: ['ignore', 'pipe', 'ignore'],
      },
    );
    const printed = Buffer.concat(await Array.fromAsync(child.stdout as AsyncIterable<Buffer>)).toString('utf8');
    expect(printed).toContain('1 of 1 dialogues answered');
    const lines = (await readFile(path.join(out, 'log.jsonl'), 'utf8')).trimEnd().split('\n');
    expect(mind.requests[0]?.authorization).toBe('Bearer key-of-the-mind');
    expect(lines.join()).not.toContain('key-of-the-mind');
    const output = lines.map((line) => JSON.parse(line) as LogLine).find((line) => line.event === 'output');
    expect(JSON.stringify(output)).toContain('I am Hu Tao.');
    const messages = mind.requests.at(-1)?.body['messages'] as { role: string; content: string }[];
    expect(messages.map(({ role, content }) => `${role}: ${content}`)).toEqual([
      'system: I want you to act like hutao from somewhere.\nBe brief.',
      'user: Question 1 for hutao?',
      'assistant: I am Hu Tao.',
      'user: Question 2 for hutao?',
    ]);
    expect(mouth.requests.map((request) => request.json())).toContainEqual(
      expect.objectContaining({ input: 'I am Hu Tao.', ref_text: '本堂主来也' }),
    );
  });

  it('stops at once on Ctrl-C, explains how to continue and leaves only its folder behind', async () => {
    await using scratch = await openScratch();
    const set = await makeJudgedSet(scratch.path, 4);
    await using judge = await openJudgeServer({ delayMs: 200 });
    const out = path.join(scratch.path, 'run');
    const run = ['eval', 'run', '--data', set.data, '--outputs', set.outputs, '--out', out];
    const judged = ['--judge', `${judge.url}/v1`, '--judge-model', 'ear', '--judge-concurrency', '2'];
    const child = spawn(process.execPath, [main, ...run, ...judged], { stdio: ['ignore', 'pipe', 'ignore'] });
    const printed = Array.fromAsync(child.stdout as AsyncIterable<Buffer>);
    while (judge.answered < 5) await new Promise((resolve) => setImmediate(resolve));
    child.kill('SIGINT');
    expect(await once(child, 'exit')).toEqual([1, null]);
    expect(Buffer.concat(await printed).toString('utf8')).toContain('Not finished: interrupted');
    const last = (await readFile(path.join(out, 'log.jsonl'), 'utf8')).trimEnd().split('\n').at(-1) ?? '';
    expect(JSON.parse(last)).toMatchObject({ event: 'ended', reason: 'interrupted' });
    await expect(readFile(path.join(out, 'run.lock'))).rejects.toThrow('ENOENT');
  });
});
