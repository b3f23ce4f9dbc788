import { WebSocket } from 'ws';
import { Queue } from '../../voices/runtime/streams.ts';

/** A server event as received: `type` and its fields. `atMs` is the arrival on the client's monotonic clock. */
export interface ReceivedEvent extends Record<string, unknown> {
  readonly type: string;
  readonly atMs: number;
}

/** The connection could not be opened, or ended unexpectedly. */
export class RealtimeClientError extends Error {
  override readonly name = 'RealtimeClientError';
  /** HTTP status of the server's refusal; absent if it could not be reached. */
  readonly status?: number;

  constructor(
    message: string,
    { status, cause }: { readonly status?: number | undefined; readonly cause?: unknown } = {},
  ) {
    super(message, { cause });
    if (status !== undefined) this.status = status;
  }
}

/** A minimal client of the wire protocol, used by the CLI, the benchmarks and the evaluations. */
export interface RealtimeClient {
  readonly events: AsyncIterable<ReceivedEvent>;
  send(event: Record<string, unknown> & { readonly type: string }): void;
  /** Appends 16-bit PCM at the wire's rate. */
  sendAudio(pcm16: Uint8Array): void;
  close(): void;
}

/** Connects to `url` (http or ws, path optional) as a conversation with `character`. */
export async function connectRealtime(options: {
  readonly url: string;
  readonly character: string;
  readonly apiKey?: string;
  readonly signal: AbortSignal;
}): Promise<RealtimeClient> {
  const address = new URL(options.url);
  address.protocol = address.protocol.replace(/^http/, 'ws');
  if (address.pathname === '/') address.pathname = '/v1/realtime';
  address.searchParams.set('model', options.character);
  const headers = options.apiKey === undefined ? {} : { authorization: `Bearer ${options.apiKey}` };
  const socket = new WebSocket(address, { headers, perMessageDeflate: false });
  const events = new Queue<ReceivedEvent>();
  socket.on('message', (data, isBinary) => {
    if (isBinary) return;
    const event = JSON.parse((data as Buffer).toString('utf8')) as { type: string };
    events.push({ ...event, atMs: performance.now() });
  });
  socket.on('close', () => events.end());
  const onAbort = (): void => socket.terminate();
  options.signal.addEventListener('abort', onAbort, { once: true });
  socket.once('close', () => options.signal.removeEventListener('abort', onAbort));
  await opened(socket, address);
  return {
    events,
    send: (event) => socket.send(JSON.stringify(event)),
    sendAudio: (pcm16) =>
      socket.send(`{"type":"input_audio_buffer.append","audio":"${Buffer.from(pcm16).toString('base64')}"}`),
    close: () => socket.close(),
  };
}

async function opened(socket: WebSocket, address: URL): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const where = `${address.protocol}//${address.host}`;
    socket.once('open', resolve);
    socket.once('unexpected-response', (_request, response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => {
        socket.terminate();
        const { statusCode: status } = response;
        reject(new RealtimeClientError(`${where} refused (HTTP ${status}): ${reasonIn(chunks)}`, { status }));
      });
    });
    socket.once('error', (cause) => {
      reject(new RealtimeClientError(`${where} cannot be reached: ${cause.message}`, { cause }));
    });
  });
  // From here on, a lost connection simply ends `events`.
  socket.on('error', () => undefined);
}

function reasonIn(chunks: readonly Buffer[]): string {
  const text = Buffer.concat(chunks).toString('utf8');
  try {
    return (JSON.parse(text) as { error: { message: string } }).error.message;
  } catch {
    return text.slice(0, 200);
  }
}
