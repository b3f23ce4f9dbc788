import { once } from 'node:events';
import * as fc from '../../fakes/property.ts';
import { WebSocket } from 'ws';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startFakeServer, type FakeServer } from '../../bench/load/callers.ts';
import { anyCase, type Case } from './surface-grammar.ts';

/** Every case is sent to four sessions of different kinds. */
const kindsOfSession = 4;
/** 64,000 in all; `DRAMATIS_TEST_HOSTILE_CASES=200000` for all that were promised, which takes 150 s on a quiet machine. */
const cases = Number(process.env['DRAMATIS_TEST_HOSTILE_CASES'] ?? 64_000);
const distinctCases = cases / kindsOfSession;
/** Cases of one session: fewer than the burst of events that the server takes. */
const perSession = 400;
const together = 8;
/** Sessions before the first measurement. */
const warmUp = 60;
const mostDelayMs = 250;
const mostGrowthMib = 100;
/** 200,000 cases have taken 600 s beside all other tests on two slow processors. */
const hangGuardMs = 1_500_000;

let server: FakeServer;
beforeAll(async () => {
  server = await startFakeServer('fake');
});
afterAll(() => server.stop());

/** Sends all wire cases over one session, and the others over HTTP. Throws if the server does not answer. */
async function attack(batch: readonly Case[], round: number): Promise<void> {
  const flags = ['', '&x=resume,cues,thoughts', '&x=binary', '&intent=transcription', '&x=opus,binary'][round % 5];
  const headers = round % 7 === 0 ? { 'openai-beta': 'realtime=v1' } : {};
  const socket = new WebSocket(`${server.url}${flags}`, { headers, perMessageDeflate: false });
  socket.on('error', () => undefined);
  await once(socket, 'open');
  const requests: Promise<unknown>[] = [];
  for (const one of batch) {
    if (one.kind === 'event') socket.send(one.text);
    else if (one.kind === 'frame') socket.send(one.bytes);
    else requests.push(requested(one));
  }
  await Promise.all(requests);
  // A pong comes after all that was sent before; a session that the server has closed sent a close frame instead.
  if (socket.readyState === WebSocket.OPEN) {
    socket.ping();
    await Promise.race([once(socket, 'pong'), once(socket, 'close')]);
  }
  socket.terminate();
  expect((await fetch(`${httpOf(server)}/healthz`)).status).toBe(200);
}

function httpOf({ url }: FakeServer): string {
  return url.replace(/^ws/, 'http').replace(/\/v1\/realtime.*$/, '');
}

async function requested(one: Exclude<Case, { kind: 'event' | 'frame' }>): Promise<void> {
  const path = one.kind === 'card' ? '/characters/import?as=copy' : one.path;
  // A request that is refused before its body was read may find its socket closed.
  const response = await fetch(`${httpOf(server)}${path}`, initOf(one)).catch(() => undefined);
  await response?.arrayBuffer();
  if (response === undefined) return;
  // Whatever a client sends, the fault is the client's; 503 is a server at its limit.
  expect([one, response.status < 500 || response.status === 503]).toEqual([one, true]);
}

function initOf(one: Exclude<Case, { kind: 'event' | 'frame' }>): RequestInit {
  if (one.kind === 'card')
    return { method: 'POST', headers: { 'content-type': 'application/octet-stream' }, body: one.text };
  if (one.kind === 'request') {
    if (one.body === undefined) return { method: one.method };
    return { method: one.method, headers: { 'content-type': 'application/json' }, body: one.body };
  }
  const form = new FormData();
  form.set('model', 'whisper-1');
  form.set(one.field, new Blob([Uint8Array.from(one.bytes)]), 'clip.wav');
  return { method: 'POST', body: form };
}

describe('the whole surface of the server', () => {
  it(
    `survives ${cases} hostile cases, answers others in time and keeps its memory`,
    { timeout: hangGuardMs },
    async () => {
      const all = fc.sample(anyCase, { numRuns: distinctCases, seed: 15 });
      const parts = Array.from({ length: distinctCases / perSession }, (_unused, place) =>
        all.slice(place * perSession, (place + 1) * perSession),
      );
      // The kind of a session goes by its place, so that a part meets another kind in each pass.
      const batches = Array.from({ length: kindsOfSession }, (_unused, pass) => [
        ...parts.slice(pass),
        ...parts.slice(0, pass),
      ]).flat();
      let round = 0;
      const attackWith = async (all: Case[][]): Promise<void> => {
        const attacker = async (): Promise<void> => {
          for (let batch = all.pop(); batch !== undefined; batch = all.pop()) await attack(batch, (round += 1));
        };
        await Promise.all(Array.from({ length: together }, attacker));
      };
      // Memory is compared under the same load: what eight busy clients take is no growth.
      await attackWith(batches.splice(0, warmUp));
      const { memoryMib: before } = await server.usage('memory');
      // The garbage collection that this asked for is not the attackers' doing.
      await server.usage();
      await attackWith(batches);
      const { longestOwnDelaysMs } = await server.usage();
      const { memoryMib: after } = await server.usage('memory');
      // Of the server's own work alone: how long anybody else waited for an answer on a machine with nothing else to do.
      // A case that blocks the server does so in each of its sessions; what happens less often is the machine's doing.
      expect(longestOwnDelaysMs).toHaveLength(kindsOfSession);
      expect(longestOwnDelaysMs.at(-1)).toBeLessThan(mostDelayMs);
      expect(after - before).toBeLessThan(mostGrowthMib);
    },
  );
});
