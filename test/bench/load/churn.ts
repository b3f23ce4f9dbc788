import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { wireSampleRate } from '../../../server/protocol/limits.ts';
import { summarize, type BenchRow } from '../kit/stats.ts';
import { startServerProcess, type ServerProcess } from './server-process.ts';

const bench = 'churn';
const characters = ['alice', 'sherlock-holmes', 'captain-nemo', 'coriolanus'];
const together = 15;
/** A session that gets no answer in this time counts as unanswered. */
const longestMs = 20_000;
const appendBytes = (wireSampleRate / 10) * 2;
const silenceAfter = Buffer.alloc(wireSampleRate * 2 * 1.5);

type Event = Record<string, unknown> & { readonly type: string };

/** One open session of the bench. */
interface Session {
  send(event: Event): void;
  /** Waits for an event of this type. */
  until(type: string): Promise<void>;
}

const kinds: Readonly<Record<string, (session: Session, speech: Buffer) => Promise<void>>> = {
  'connect only': async () => undefined,
  async 'one typed turn'(session) {
    const content = [{ type: 'input_text', text: 'Who are you?' }];
    session.send({ type: 'conversation.item.create', item: { type: 'message', role: 'user', content } });
    session.send({ type: 'response.create', response: { output_modalities: ['text'] } });
    await session.until('response.done');
  },
  async 'one spoken turn cut short'(session, speech) {
    const sound = Buffer.concat([speech, silenceAfter]);
    for (let offset = 0; offset < sound.length; offset += appendBytes) {
      const audio = sound.toString('base64', offset, offset + appendBytes);
      session.send({ type: 'input_audio_buffer.append', audio });
    }
    await session.until('response.output_audio.delta');
  },
};

interface Tally {
  refused: number;
  unanswered: number;
  readonly openedMs: number[];
}

/**
 * Sessions that come and go, 15 at a time, of three kinds in turn: what each leaves behind. `--sessions N`, 3,000 unless
 * given. The server is a separate process with the embedded engines and its default limits, but for the number of
 * handshakes a minute.
 */
export async function* run(args: readonly string[]): AsyncIterable<BenchRow> {
  const sessions = args.includes('--sessions') ? Number(args[args.indexOf('--sessions') + 1]) : 3_000;
  const server = await startServerProcess({ DRAMATIS_MAX_HANDSHAKES_PER_MINUTE: '100000' });
  try {
    const speech = await speechOf(server);
    const tally: Tally = { refused: 0, unanswered: 0, openedMs: [] };
    const memoryMib: number[] = [];
    const begunCpuS = server.cpuSeconds();
    let next = 0;
    const client = async (): Promise<void> => {
      while (next < sessions) {
        next += 1;
        await visit(server, next, speech, tally);
        memoryMib.push(server.memoryMib());
      }
    };
    await Promise.all(Array.from({ length: together }, client));
    const leftCpuS = server.cpuSeconds();
    await idle(server);
    const afterMib = server.memoryMib();
    const plateauMib = memoryMib.slice(Math.floor(memoryMib.length / 2)).toSorted((a, b) => a - b);
    const each = (seconds: number): number => (seconds * 1_000) / sessions;
    yield summarize(bench, 'handshake', 'ms', tally.openedMs);
    yield summarize(bench, 'refused', 'count', [tally.refused]);
    yield summarize(bench, 'unanswered', 'count', [tally.unanswered]);
    yield summarize(bench, 'CPU of a session', 'ms', [each(leftCpuS - begunCpuS)]);
    yield summarize(bench, 'CPU of a session after the last has left', 'ms', [each(server.cpuSeconds() - leftCpuS)]);
    yield summarize(bench, 'memory, second half', 'MiB', plateauMib);
    yield summarize(bench, 'memory once idle', 'MiB', [afterMib]);
  } finally {
    await server.stop();
  }
}

/** Opens a session, does what its kind does, and leaves. */
async function visit({ url }: ServerProcess, number: number, speech: Buffer, tally: Tally): Promise<void> {
  const model = characters[number % characters.length] ?? '';
  const act = Object.values(kinds)[number % 3];
  const startMs = performance.now();
  const socket = new WebSocket(`${url.replace('http', 'ws')}/v1/realtime?model=${model}`, { perMessageDeflate: false });
  const waiting = new Map<string, () => void>();
  socket.on('message', (data: Buffer) => {
    const type = /"type":"([a-z_.]+)"/.exec(data.toString('latin1', 0, 160))?.[1] ?? '';
    waiting.get(type)?.();
  });
  const signal = AbortSignal.timeout(longestMs);
  const until = async (type: string): Promise<void> => {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    waiting.set(type, resolve);
    const onAbort = (): void => reject(signal.reason);
    signal.addEventListener('abort', onAbort);
    await promise.finally(() => signal.removeEventListener('abort', onAbort));
  };
  const created = until('session.created');
  created.catch(() => undefined);
  try {
    await once(socket, 'open', { signal });
  } catch {
    tally.refused += 1;
    socket.on('error', () => undefined).terminate();
    return;
  }
  try {
    await created;
    tally.openedMs.push(performance.now() - startMs);
    await act?.({ send: (event) => socket.send(JSON.stringify(event)), until }, speech);
  } catch {
    tally.unanswered += 1;
  }
  socket.close();
  await once(socket, 'close');
}

/** The question that is asked by voice, spoken by the server itself. */
async function speechOf({ url }: ServerProcess): Promise<Buffer> {
  const response = await fetch(`${url}/v1/audio/speech`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'tts', voice: 'abraham-lincoln', input: 'Who are you?', response_format: 'pcm' }),
  });
  if (!response.ok) throw new Error(`the server does not speak: ${await response.text()}`);
  return Buffer.from(await response.arrayBuffer());
}

/** Waits until the server has used less than 3 % of a core for a second; a minute at most. */
async function idle(server: ServerProcess): Promise<void> {
  for (let seconds = 0; seconds < 60; seconds += 1) {
    const before = server.cpuSeconds();
    await pause(1_000);
    if (server.cpuSeconds() - before < 0.03) return;
  }
}
