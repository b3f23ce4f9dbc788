import { appendFile, readFile, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import path from 'node:path';
import { json } from 'node:stream/consumers';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { expect, it } from 'vitest';
import { reviewedDialoguesIn } from '../../../../eval/construction/records/decisions.ts';
import { openReviewServer } from '../../../../eval/construction/review/review-server.ts';
import { drawDialogues, withPassages } from '../../../../eval/construction/review/samples.ts';
import { openScratch } from '../../scratch.ts';
import { spokenDialogues, writeDialogues } from '../speech/spoken-set.ts';

/** Status of a request with these headers. */
async function ask(
  url: string,
  { method = 'GET', headers = {}, body }: { method?: string; headers?: Record<string, string>; body?: string } = {},
): Promise<IncomingMessage> {
  const asked = request(url, { method, headers });
  asked.end(body);
  const [response] = (await once(asked, 'response')) as [IncomingMessage];
  return response;
}

it('the review page answers only requests with its token, and only under its own name', async () => {
  await using scratch = await openScratch();
  const folder = await writeDialogues(scratch.path);
  const samples = await withPassages(await drawDialogues(folder, 5, 1), undefined);
  await using server = await openReviewServer({ folder, samples, report: null, port: 0 });
  const state = server.url.replace('/?', '/state?');
  expect((await ask(state)).statusCode).toBe(200);
  const foreign = [
    ask(new URL('/state', server.url).href),
    ask(state, { headers: { host: 'evil.example' } }),
    ask(state, { headers: { origin: 'https://evil.example' } }),
  ];
  expect((await Promise.all(foreign)).map(({ statusCode }) => statusCode)).toEqual([403, 403, 403]);
  const told = await ask(server.url);
  expect(told.headers['content-security-policy']).toContain("default-src 'none'");
  const audio = server.url.replace('/?', '/audio?id=holmes%2Fsingle%2F0&turn=0&');
  expect((await ask(audio)).statusCode).toBe(404);
});

it('what is no decision is refused, and what is one is on disk when it is acknowledged', async () => {
  await using scratch = await openScratch();
  const folder = await writeDialogues(scratch.path);
  const samples = await withPassages(await drawDialogues(folder, 5, 1), undefined);
  await using server = await openReviewServer({ folder, samples, report: null, port: 0 });
  const post = async (body: unknown) =>
    (await ask(server.url.replace('/?', '/decisions?'), { method: 'POST', body: JSON.stringify(body) })).statusCode;
  const id = samples[0]?.dialogue.id;
  const bad = [
    {},
    { id, decision: 'burn' },
    { id: 'another', decision: 'accept' },
    { id, decision: 'edit', messages: ['one'] },
  ];
  expect(await Promise.all(bad.map(post))).toEqual([400, 400, 400, 400]);
  expect(await post({ id, decision: 'edit', messages: ['Where were you?', '(turns) Here.'] })).toBe(204);
  const state = (await json(await ask(server.url.replace('/?', '/state?')))) as { decisions: { messages: string[] }[] };
  expect(state.decisions[0]?.messages[1]).toBe('(turns) Here.');
  const [edited] = await Array.fromAsync(reviewedDialoguesIn(folder));
  expect(edited?.turns).toEqual([
    { speaker: 'User', kind: 'user', text: 'Where were you?' },
    { speaker: 'Sherlock Holmes', kind: 'character', target: true, text: 'Here.', action: 'turns' },
  ]);
});

it('a turn that was edited loses its recording, the others keep theirs', async () => {
  await using scratch = await openScratch();
  const spoken = spokenDialogues.map((dialogue) => ({
    ...dialogue,
    turns: dialogue.turns.map((turn) => ({ ...turn, audio: `${turn.kind}.wav` })),
  }));
  const folder = await writeDialogues(scratch.path, spoken);
  const { id, turns } = spokenDialogues[0] as (typeof spokenDialogues)[number];
  const messages = [turns[0]?.text, 'I walked.'];
  const line = { id, decision: 'edit', messages, at: new Date(0).toISOString() };
  await writeFile(path.join(folder, 'decisions.jsonl'), `${JSON.stringify(line)}\n`);
  const [edited] = await Array.fromAsync(reviewedDialoguesIn(folder));
  expect(edited?.turns.map(({ audio }) => audio)).toEqual(['user.wav', undefined]);
  await appendFile(path.join(folder, 'decisions.jsonl'), 'not a decision\n');
  await expect(Array.fromAsync(reviewedDialoguesIn(folder))).rejects.toThrow(/decisions\.jsonl:2 is not a decision/);
  expect(await readFile(path.join(folder, 'dialogues.jsonl'), 'utf8')).not.toContain('I walked.');
});
