import { connect, type Socket } from 'node:net';
import { z } from 'zod';
import type { Adapter, EngineContext } from '../calls/context.ts';
import { badReply, brokenOff, connectionFault } from '../calls/http-faults.ts';
import type { PcmBlock } from '../calls/pcm-stream.ts';
import { EngineError, type CallOptions } from '../engine.ts';
import { languageTags } from '../text/language-tags.ts';
import { Queue } from '../runtime/streams.ts';
import type { SpeechSynthesizer } from '../synthesizer.ts';
import { speakByPhrase, type RenderOptions } from '../synthesis/by-phrase.ts';

const settings = z.strictObject({
  /** URL of `f5_tts/socket_server.py`. */
  baseUrl: z.url({ protocol: /^tcp$/ }).default('tcp://127.0.0.1:9998'),
  languages: languageTags.default(['zh', 'en']),
});

export type F5SocketSettings = z.infer<typeof settings>;

const sampleRate = 24_000;
/** Maximum size of a text: the server makes one read of this size. */
const mostTextBytes = 1_024;
const endMark = Buffer.from('END', 'latin1');
/** Wait after the end mark for a server that does not close the connection, in milliseconds. */
const quietMs = 300;
/** Maximum magnitude of a sample; text read as floats exceeds it. */
const loudest = 8;

/** F5-TTS's or E2-TTS's socket server: one voice, one connection at a time, a new one per text (begins soonest). */
export const adapter: Adapter<SpeechSynthesizer, F5SocketSettings> = {
  settings,
  callPolicy: () => ({ concurrency: 1, timeouts: { firstByteMs: 60_000 } }),
  open: (chosen, context) => ({
    ...speakByPhrase(
      {
        languages: chosen.languages,
        // At most three bytes a unit, and room for an unspeakable neighbour that `pieces` may join.
        maxCharacters: 250,
        comesWhole: false,
        render: (text, options) => render(text, chosen, context, options),
      },
      context,
    ),
    check: (options) => check(chosen, context, options),
  }),
};

async function* render(
  text: string,
  chosen: F5SocketSettings,
  context: EngineContext,
  { signal }: RenderOptions,
): AsyncGenerator<PcmBlock> {
  const bytes = Buffer.from(text, 'utf8');
  if (bytes.length > mostTextBytes) {
    const detail = `the text has ${bytes.length} bytes; the limit is ${mostTextBytes}`;
    throw new EngineError(context.name, 'ENGINE_REFUSED', detail);
  }
  const connection = await openConnection(chosen, context, signal);
  try {
    connection.send(bytes);
    yield* samplesUpToMark(connection, context);
  } finally {
    connection.close();
  }
}

/** Yields audio up to its end mark: three letters where the next sample would begin, with nothing after them. */
async function* samplesUpToMark(connection: Connection, context: EngineContext): AsyncGenerator<PcmBlock> {
  const { firstByteMs, betweenBytesMs } = context.timeouts;
  let held: Buffer = Buffer.alloc(0);
  for (let limitMs = firstByteMs; ; limitMs = betweenBytesMs) {
    const mayBeOver = held.equals(endMark);
    // Once it has sent everything, the server reads again, sees that we have closed our end, and closes too. If the
    // mark occurs by chance, more audio follows.
    if (mayBeOver) connection.end();
    const piece = await connection.receive(mayBeOver ? quietMs : limitMs).catch((cause: unknown) => {
      if (mayBeOver && cause instanceof EngineError && cause.code === 'ENGINE_TIMEOUT') return undefined;
      throw cause;
    });
    if (piece === undefined) break;
    const joined = Buffer.concat([held, piece]);
    const whole = joined.length - (joined.length % 4);
    held = joined.subarray(whole);
    const samples = Float32Array.from({ length: whole / 4 }, (_, index) => joined.readFloatLE(index * 4));
    // `NaN` fails the comparison too, as it should.
    if (!samples.every((sample) => Math.abs(sample) <= loudest)) throw badReply(context, 'data that is not audio');
    if (samples.length > 0) yield { samples, sampleRate };
  }
  if (!held.equals(endMark)) throw brokenOff(context);
}

async function check(chosen: F5SocketSettings, context: EngineContext, { signal }: CallOptions): Promise<string> {
  (await openConnection(chosen, context, signal)).close();
  return `${new URL(chosen.baseUrl).host} accepts connections`;
}

interface Connection {
  send(bytes: Buffer): void;
  /** Closes our end: nothing more will be sent. */
  end(): void;
  /** The next bytes; undefined once the server has closed its end. Throws `ENGINE_TIMEOUT` after `limitMs`. */
  receive(limitMs: number): Promise<Buffer | undefined>;
  close(): void;
}

async function openConnection(
  { baseUrl }: F5SocketSettings,
  context: EngineContext,
  signal: AbortSignal,
): Promise<Connection> {
  signal.throwIfAborted();
  const { hostname, port } = new URL(baseUrl);
  const socket = connect({ host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || 9_998), noDelay: true });
  const pieces = new Queue<Buffer>();
  // A server that only writes notices a reset at once; after we have closed our end, no reset can be sent.
  const close = (): void => void (socket.writable ? socket.resetAndDestroy() : socket.destroy());
  const fail = (cause: unknown): void => {
    pieces.fail(cause);
    close();
  };
  const onAbort = (): void => fail(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  let isConnected = false;
  socket
    .on('data', (bytes) => pieces.push(bytes))
    .on('error', (cause) => fail(connectionFault(context, cause, isConnected)))
    .once('end', () => pieces.end())
    .once('close', () => {
      signal.removeEventListener('abort', onAbort);
      pieces.fail(brokenOff(context));
    });
  const reader = pieces[Symbol.asyncIterator]();
  const receive = async (limitMs: number, what = 'no data'): Promise<Buffer | undefined> => {
    const detail = `${what} within ${limitMs / 1_000} s. Is the server busy with another client, or still loading its model?`;
    const timer = setTimeout(() => fail(new EngineError(context.name, 'ENGINE_TIMEOUT', detail)), limitMs);
    try {
      const next = await reader.next();
      return next.done === true ? undefined : next.value;
    } finally {
      clearTimeout(timer);
    }
  };
  await connected(socket, context, signal);
  isConnected = true;
  return {
    send: (bytes) => void socket.write(bytes),
    end: () => void socket.end(),
    receive,
    close,
  };
}

function connected(socket: Socket, context: EngineContext, signal: AbortSignal): Promise<void> {
  const { connectMs } = context.timeouts;
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      const detail = `no connection within ${connectMs / 1_000} s. Check ${context.settingNames.baseUrl}.`;
      reject(new EngineError(context.name, 'ENGINE_TIMEOUT', detail));
      socket.destroy();
    }, connectMs);
    socket.once('connect', resolve).once('error', (cause) => reject(connectionFault(context, cause, false)));
    socket.once('close', () => reject(signal.aborted ? (signal.reason as Error) : brokenOff(context)));
    socket.once('connect', () => clearTimeout(timer)).once('close', () => clearTimeout(timer));
  });
}
