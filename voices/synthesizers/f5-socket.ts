import { connect, type Socket } from 'node:net';
import { z } from 'zod';
import type { Adapter, EngineContext } from '../calls/context.ts';
import { badReply, brokenOff, connectionFault } from '../calls/http-faults.ts';
import type { PcmBlock } from '../calls/pcm-stream.ts';
import { EngineError, type CallOptions } from '../engine.ts';
import { languageTags } from '../text/language-tags.ts';
import { Queue } from '../runtime/queue.ts';
import type { SpeechSynthesizer } from '../synthesizer.ts';
import { speakByPhrase, type RenderOptions } from '../synthesis/by-phrase.ts';

const settings = z.strictObject({
  /** Of `f5_tts/socket_server.py`. */
  baseUrl: z.url({ protocol: /^tcp$/ }).default('tcp://127.0.0.1:9998'),
  languages: languageTags.default(['zh', 'en']),
});

export type F5SocketSettings = z.infer<typeof settings>;

const sampleRate = 24_000;
/** The server reads a text at once, and not more of it. */
const mostTextBytes = 1_024;
const endMark = Buffer.from('END', 'latin1');
/** A server that has said its end and does not hang up has nothing more to say after so long, in milliseconds. */
const quietMs = 300;
/** No sample of sound is louder; text taken for floats is. */
const loudest = 8;

/**
 * F5-TTS's own socket server, or E2-TTS on the same. It speaks with the one voice that it was started with, and serves one
 * connection at a time: one for each text, since it begins soonest on a new one.
 */
export const adapter: Adapter<SpeechSynthesizer, F5SocketSettings> = {
  settings,
  care: () => ({ concurrency: 1, timeouts: { firstByteMs: 60_000 } }),
  open: (chosen, context) => ({
    ...speakByPhrase(
      {
        languages: chosen.languages,
        // Three bytes each at most, and what a neighbour may add.
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
    throw new EngineError(context.name, 'ENGINE_REFUSED', `a text of ${bytes.length} bytes: it takes ${mostTextBytes}`);
  }
  const connection = await openConnection(chosen, context, signal);
  try {
    connection.send(bytes);
    yield* samplesUpToMark(connection, context);
  } finally {
    connection.close();
  }
}

/** Sound up to the three letters that are its end: they stand where the next sample would begin, and nothing follows them. */
async function* samplesUpToMark(connection: Connection, context: EngineContext): AsyncGenerator<PcmBlock> {
  const { firstByteMs, betweenBytesMs } = context.timeouts;
  let held: Buffer = Buffer.alloc(0);
  for (let limitMs = firstByteMs; ; limitMs = betweenBytesMs) {
    const mayBeOver = held.equals(endMark);
    // It reads again when it has said all, sees that we have hung up, and hangs up too. A mark by chance is followed by more sound.
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
    // `NaN` is not louder, but no sound either.
    if (!samples.every((sample) => Math.abs(sample) <= loudest)) throw badReply(context, 'something that is no sound');
    if (samples.length > 0) yield { samples, sampleRate };
  }
  if (!held.equals(endMark)) throw brokenOff(context);
}

async function check(chosen: F5SocketSettings, context: EngineContext, { signal }: CallOptions): Promise<string> {
  (await openConnection(chosen, context, signal)).close();
  return `${new URL(chosen.baseUrl).host} takes connections`;
}

interface Connection {
  send(bytes: Buffer): void;
  /** Nothing more will be sent. */
  end(): void;
  /** The next bytes; undefined when the server has closed its end. Fails with `ENGINE_TIMEOUT` where none come in time. */
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
  // A reset is seen at once by a server that only writes; after a goodbye there can be none.
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
  const receive = async (limitMs: number, what = 'nothing'): Promise<Buffer | undefined> => {
    const detail = `${what} within ${limitMs / 1_000} s. Is the server busy with somebody else, or still loading its model?`;
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
