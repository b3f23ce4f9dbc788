import { randomBytes, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { EvalError } from '../../eval-error.ts';
import { openLines } from '../../run-log.ts';
import { decisionSchema, decisionsFile, readDecisions, type Decision } from '../records/decisions.ts';
import type { Sample } from './samples.ts';

/** The review page of one build. */
export interface ReviewServer extends AsyncDisposable {
  /** Address with the token that the page needs. */
  readonly url: string;
}

export interface ReviewOptions {
  /** Folder of the build. */
  readonly folder: string;
  readonly samples: readonly Sample[];
  /** `report.json` of the build; null if there is none. */
  readonly report: unknown;
  /** 0 takes a free port. */
  readonly port: number;
  /** Current time as ISO 8601. */
  readonly now?: () => string;
}

const mostBytes = 1_000_000;
const address = '127.0.0.1';
const page = path.join(import.meta.dirname, 'page.html');

/**
 * Serves the page on loopback, to those who have the token of its address. Each decision is on disk before it is
 * acknowledged. Throws an `EvalError` if the port is taken.
 */
export async function openReviewServer(options: ReviewOptions): Promise<ReviewServer> {
  const { folder } = options;
  const token = randomBytes(18).toString('base64url');
  const decisions = new Map(await readDecisions(folder));
  const lines = await openLines(decisionsFile(folder));
  const routes = routesOf(options, { decisions, lines });

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = new URL(request.url ?? '/', `http://${address}`);
    // Another site may reach this port under its own name, or send forms to it.
    const hosts = [address, 'localhost'].map((host) => `${host}:${port}`);
    const { host = '', origin } = request.headers;
    const isOurs = hosts.includes(host) && (origin === undefined || hosts.some((each) => origin === `http://${each}`));
    if (!isOurs || !isEqual(url.searchParams.get('token') ?? '', token))
      return send(response, {
        status: 403,
        type: 'text/plain',
        body: 'Open the address that `dramatis data review` prints.',
      });
    if (request.method === 'GET' && url.pathname === '/') {
      const nonce = randomBytes(12).toString('base64url');
      const html = (await readFile(page, 'utf8')).replaceAll('{{nonce}}', nonce);
      const policy = `default-src 'none'; script-src 'nonce-${nonce}'; style-src 'nonce-${nonce}'; connect-src 'self'; media-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;
      response.setHeader('content-security-policy', policy);
      return send(response, { status: 200, type: 'text/html; charset=utf-8', body: html });
    }
    const route = routes[`${request.method} ${url.pathname}`];
    return send(response, route === undefined ? notFound : await route(request, url.searchParams));
  };
  const server = createServer((request, response) => {
    answer(request, response).catch(() => send(response, { status: 500, type: 'text/plain', body: 'It failed.' }));
  });
  server.listen(options.port, address);
  await once(server, 'listening').catch(async (cause: unknown) => {
    await lines.close();
    throw new EvalError('usage', `--port: ${options.port} cannot be used. Choose another, or leave it out.`, cause);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${address}:${port}/?token=${token}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
      await lines.close();
    },
  };
}

type Route = (request: IncomingMessage, query: URLSearchParams) => Promise<Reply>;

function routesOf(
  { folder, samples, report, now = () => new Date().toISOString() }: ReviewOptions,
  {
    decisions,
    lines,
  }: { readonly decisions: Map<string, Decision>; readonly lines: Awaited<ReturnType<typeof openLines>> },
): Readonly<Record<string, Route>> {
  const known = new Map(samples.map((sample) => [sample.dialogue.id, sample]));
  return {
    'GET /state': async () =>
      json({ name: path.basename(path.resolve(folder)), report, samples, decisions: [...decisions.values()] }),
    async 'POST /decisions'(request) {
      const parsed = decisionSchema.safeParse({ ...(await bodyOf(request)), at: now() });
      const sample = parsed.success ? known.get(parsed.data.id) : undefined;
      if (!parsed.success || sample === undefined || !isWhole(parsed.data, sample))
        return { status: 400, type: 'text/plain', body: 'This is not a decision about a dialogue of this page.' };
      await lines.append(parsed.data);
      decisions.set(parsed.data.id, parsed.data);
      return { status: 204, type: 'text/plain', body: '' };
    },
    async 'GET /audio'(_, query) {
      const audio = known.get(query.get('id') ?? '')?.dialogue.turns[Number(query.get('turn'))]?.audio;
      const place = audio === undefined ? undefined : path.resolve(folder, audio);
      if (place === undefined || !place.startsWith(path.resolve(folder) + path.sep)) return notFound;
      const body = await readFile(place).catch(() => undefined);
      return body === undefined ? notFound : { status: 200, type: 'audio/wav', body };
    },
  };
}

interface Reply {
  readonly status: number;
  readonly type: string;
  readonly body: string | Buffer;
}

const notFound: Reply = { status: 404, type: 'text/plain', body: 'This address does not exist.' };

function json(value: unknown): Reply {
  return { status: 200, type: 'application/json', body: JSON.stringify(value) };
}

function send(response: ServerResponse, { status, type, body }: Reply): void {
  response.writeHead(status, {
    'content-type': type,
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
  });
  response.end(body);
}

/** An edit has a message for each turn, and something is still said. */
function isWhole({ decision, messages }: Decision, { dialogue }: Sample): boolean {
  if (decision !== 'edit') return messages === undefined;
  return messages?.length === dialogue.turns.length && messages.some((message) => message.trim() !== '');
}

async function bodyOf(request: IncomingMessage): Promise<Readonly<Record<string, unknown>>> {
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of request as AsyncIterable<Buffer>) {
    size += piece.length;
    if (size > mostBytes) return {};
    pieces.push(piece);
  }
  try {
    const value: unknown = JSON.parse(Buffer.concat(pieces).toString('utf8'));
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}

function isEqual(one: string, other: string): boolean {
  const [left, right] = [Buffer.from(one), Buffer.from(other)];
  return left.length === right.length && timingSafeEqual(left, right);
}
