import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../../eval/statistics.ts';
import { utterance } from '../../rigs/cluster/talkers.ts';
import { freePort, loadServer } from '../../rigs/kill-rig.ts';
import { recordTalk } from '../../rigs/talk-rig.ts';
import { silence } from '../../fakes/vad.ts';

/** `DRAMATIS_TEST_KILLS=20` for as many as were promised to be survived. */
const kills = Number(process.env['DRAMATIS_TEST_KILLS'] ?? 8);

/** Servers on one data folder and one port, one after the other; the next one is loaded while one runs. */
async function openServers() {
  const folder = await mkdtemp(path.join(tmpdir(), 'dramatis-kill-'));
  const port = await freePort();
  const load = () => loadServer(port, { DRAMATIS_DATA_DIR: folder });
  let running = load();
  let next = load();
  return {
    url: await running.listen(),
    kill: () => running.kill(),
    async start() {
      running = next;
      next = load();
      await running.listen();
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([running.kill(), next.kill()]);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** A conversation with these servers, through all their kills. */
function talkTo(servers: Awaited<ReturnType<typeof openServers>>) {
  const recorded = recordTalk({ url: servers.url });
  const { talk, of } = recorded;
  const opened = (): number => of('connection.open').length;
  return {
    ...recorded,
    async restart() {
      const before = opened();
      await servers.start();
      talk.reconnect();
      const { isNew, lostMs } = await recorded.until('connection.open', before + 1);
      expect({ isNew, lostMs }).toEqual({ isNew: false, lostMs: 0 });
    },
    heard: () => of('conversation.item.input_audio_transcription.completed').map(({ transcript }) => transcript),
    /** What each reply said, as far as the client was told. */
    replies: () => {
      const said = new Map<string, string>();
      for (const { response_id: id, delta } of of('response.output_audio_transcript.delta'))
        said.set(id, (said.get(id) ?? '') + delta);
      return [...said.values()];
    },
    /** Resolves when the events so far satisfy a condition. */
    untilDone: (isDone: () => boolean) =>
      new Promise<void>((resolve) => {
        const look = (): void => (isDone() ? resolve() : void setTimeout(look, 10));
        look();
      }),
    completed: () => of('response.done').filter(({ response }) => response.status === 'completed'),
  };
}

interface CutResponse {
  readonly output: readonly { readonly content: readonly { readonly transcript: string }[] }[];
}

function transcriptOf({ output: [item] }: CutResponse): string {
  return item?.content[0]?.transcript ?? '';
}

function lineOf(told: string, others: number): string {
  return `So you told me ${told} after ${others} others and that is it.`;
}

describe.concurrent('kill -9 of the server', () => {
  it(`loses nothing of what the user says if it comes in the middle of an utterance, ${kills} times`, async () => {
    await using servers = await openServers();
    const random = seededRandom(17);
    const client = talkTo(servers);
    await client.talk.opened;
    for (let number = 1; number <= kills; number += 1) {
      const completed = client.completed().length;
      const sound = Float32Array.of(...utterance(number + 2), ...silence(1_000));
      // Half of them in mid-word, half at any time until its reply may have begun.
      const block = Math.floor((number % 2 === 0 ? 600 : 1_600) * random()) * 24;
      client.send(sound.subarray(0, block));
      if (number % 2 === 0 && block > 24 * 250) {
        const begun = number;
        await client.untilDone(() => client.of('input_audio_buffer.speech_started').length >= begun);
      }
      await servers.kill();
      client.send(sound.subarray(block));
      await client.restart();
      await client.untilDone(() => client.heard().length === number && client.completed().length > completed);
      const last = lineOf(`utterance ${number + 2} of 600 ms`, number - 1);
      expect(client.heard().at(-1)).toBe(`utterance ${number + 2} of 600 ms`);
      expect(last).toMatch(new RegExp(`${client.replies().at(-1) ?? 'nothing'}$`));
    }
    expect(client.heard()).toHaveLength(kills);
    client.talk.close();
  }, 600_000);

  it(`lets a reply continue at the first sample that the client has not received if it comes in its middle, ${kills} times`, async () => {
    await using servers = await openServers();
    const random = seededRandom(18);
    const client = talkTo(servers);
    await client.talk.opened;
    for (let number = 1; number <= kills; number += 1) {
      const before = client.replies().length;
      client.talk.say(`story ${number}`);
      const words = Math.floor(random() * 12);
      const said = (): string[] => client.replies().slice(before);
      await client.untilDone(() => (said()[0] ?? '').split(' ').length > words);
      const done = client.of('response.done').length;
      await servers.kill();
      await client.restart();
      // The old reply ends with what has come of it; the new one continues there.
      const { response: cut } = await client.until('response.done', done + 1);
      expect(cut).toMatchObject({ status: 'incomplete', status_details: { reason: 'server_restarted' } });
      const { response: rest } = await client.until('response.done', done + 2);
      expect(rest.status).toBe('completed');
      const texts = [cut, rest].map((response) => transcriptOf(response as unknown as CutResponse));
      expect(texts.join(' ').trim()).toBe(lineOf(`story ${number}`, number - 1));
      const samples = lineOf('story 1', 0).split(' ').length * 2_400;
      expect(client.replySound().length / 2).toBe(number * samples);
    }
    client.talk.close();
  }, 600_000);
});
