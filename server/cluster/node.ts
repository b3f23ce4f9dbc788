import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Character } from '../../characters/character.ts';
import type { Config } from '../config/config.ts';
import { resumeTokenOf } from '../http/access.ts';
import { addressOf } from '../http/auth-guard.ts';
import type { ClientSecrets } from '../http/client-secrets.ts';
import { tooMany, type Caller, type LiveSessions } from '../http/live-sessions.ts';
import { sendRefusal, type Refusal } from '../http/problem.ts';
import type { NodeCounts } from '../telemetry/process-metrics.ts';
import { hashOf } from '../connections/resumable-sessions.ts';
import { StoreUnavailable, type Cluster, type SessionPlace } from './cluster.ts';
import { openRedisStore } from './redis-store.ts';
import { Relays, type NodeAnswer, type PassedRequest } from './relay.ts';
import { SharedSecrets } from './shared-secrets.ts';

/** Longest silence of others until they count as gone, in milliseconds. */
export interface Patience {
  readonly redisMs: number;
  readonly nodeMs: number;
}

interface NodeParts {
  readonly config: Config;
  readonly secrets: ClientSecrets;
  readonly characters: ReadonlyMap<string, Character>;
  /** 250 ms and 300 ms unless given. */
  readonly patience?: Patience | undefined;
  readonly version: string;
  readonly sessions: LiveSessions;
  /** Returns whether this node has the session of a token open. */
  readonly isOpen: (token: string) => boolean;
  /** Called once for each time that Redis stops to answer, and once when it answers again. */
  readonly onChange: (isThere: boolean, fault?: unknown) => void;
}

type Hook = (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply | undefined>;

/** This server as one of several nodes. */
export interface Node {
  readonly cluster: Cluster;
  readonly counts: NodeCounts;
  /** Returns the client's address, if another node has passed the request on. */
  readonly relayedAddress: (headers: FastifyRequest['headers']) => string | undefined;
  readonly secrets: SharedSecrets;
  /** Returns if there is a session to resume, or the refusal if that is unknown. */
  readonly isResumable: (token: string) => Promise<boolean | Refusal>;
  /**
   * An `onRequest` hook, after authentication, for clients that return. Their session is open here: continues. Another node
   * has it: passes the socket on. If that node is dead, or no node has it: claims it, and continues.
   */
  readonly bringBack: Hook;
  /** The same for calls: a `preHandler` hook, since the body is passed on. */
  readonly bringBackCall: Hook;
  /**
   * Takes a session over from the node that has it, for a phone: its stream cannot be passed on. Returns false if there is
   * no such session.
   */
  readonly takeOver: (token: string) => Promise<boolean | Refusal>;
  /** Leaves a session that was taken over and not opened. */
  readonly drop: (token: string) => void;
  /** A `preHandler` hook for requests about a call (`:id`): passes those on whose call another node has. */
  readonly toItsNode: Hook;
  /**
   * An `onRequest` hook, after `bringBack`: counts a socket among those of all nodes, and refuses a new session beyond the
   * limits of its account or address. One that returns is counted and gets in.
   */
  readonly admit: (request: FastifyRequest, reply: FastifyReply, caller: Caller) => Promise<FastifyReply | undefined>;
  readonly close: () => Promise<void>;
}

/** Joins the nodes that share a Redis. All settings of a node must be set. The caller closes it. */
export async function openNode(parts: NodeParts): Promise<Node> {
  const { config, patience, version, sessions, isOpen, onChange } = parts;
  const { redisUrl = '', nodeUrl = '', clusterKey = '', resumeGraceSeconds } = config;
  const about = () => ({ version, sessions: sessions.active, draining: sessions.draining });
  const graceMs = resumeGraceSeconds * 1000;
  const relays = new Relays(clusterKey, patience?.nodeMs);
  const cluster = await openRedisStore({ patienceMs: patience?.redisMs, redisUrl, nodeUrl, graceMs, about, onChange });
  const resumes = { here: 0, relayed: 0, claimed: 0 };
  const locate = async (token: string): Promise<SessionPlace | 'here' | Refusal> => {
    const isHere = isOpen(token) && (await cluster.owns(hashOf(token)));
    return isHere ? 'here' : cluster.whereIs(hashOf(token)).catch(refusalOf);
  };
  return {
    cluster,
    secrets: new SharedSecrets(cluster, parts.secrets, parts.characters),
    counts: {
      resumes,
      get unkept() {
        return cluster.figures.unkept;
      },
      get fenced() {
        return cluster.figures.fenced;
      },
      get moved() {
        return cluster.figures.moved;
      },
      get relayed() {
        return relays.size;
      },
    },
    relayedAddress: (headers) => relays.addressIn(headers),
    async isResumable(token) {
      const place = await locate(token);
      return typeof place === 'object' && 'status' in place ? place : place !== 'ended';
    },
    bringBack: bringerBack({ cluster, relays, resumes, locate, sessions }, (passed) => relays.pass(passed)),
    bringBackCall: bringerBack({ cluster, relays, resumes, locate, sessions }, (passed, body) =>
      relays.forward(passed, body),
    ),
    async takeOver(token) {
      const isThere = await cluster.claim(hashOf(token)).catch(refusalOf);
      if (isThere === true) resumes.claimed += 1;
      return isThere;
    },
    drop: (token) => cluster.drop(hashOf(token)),
    toItsNode: byCallId(cluster, relays),
    admit: admitter(cluster, config),
    async close() {
      relays.close();
      await cluster.close();
    },
  };
}

interface BringerParts {
  readonly cluster: Cluster;
  readonly relays: Relays;
  readonly resumes: Record<'here' | 'relayed' | 'claimed', number>;
  readonly locate: (token: string) => Promise<SessionPlace | 'here' | Refusal>;
  readonly sessions: LiveSessions;
}

type PassOn = (passed: PassedRequest, body: Buffer) => Promise<'passed' | 'silent' | NodeAnswer>;

function bringerBack({ cluster, relays, resumes, locate, sessions }: BringerParts, passOn: PassOn): Hook {
  const claim = async (
    request: FastifyRequest,
    reply: FastifyReply,
    hash: string,
  ): Promise<undefined | FastifyReply> => {
    const refusal = sessions.refusalFor({ owner: undefined, address: addressOf(request.ip) });
    if (refusal !== undefined) return sendRefusal(reply, refusal);
    const { socket } = request.raw;
    // The client may leave before it gets the session.
    socket.once('close', () => cluster.drop(hash));
    const isThere = await cluster.claim(hash).catch(refusalOf);
    if (typeof isThere === 'object') return sendRefusal(reply, isThere);
    if (isThere) resumes.claimed += 1;
    if (socket.destroyed) cluster.drop(hash);
    return undefined;
  };
  return async (request, reply) => {
    const token = resumeTokenOf(request.headers, request.query);
    const place = token === undefined ? 'ended' : await locate(token);
    if (token === undefined || place === 'ended') return undefined;
    if (place === 'here') {
      resumes.here += 1;
      return undefined;
    }
    if (place === 'free') return claim(request, reply, hashOf(token));
    if ('status' in place) return sendRefusal(reply, place);
    // The node that passed it on will look again.
    if (relays.addressIn(request.headers) !== undefined) return sendRefusal(reply, elsewhere);
    const passed = { request: request.raw, address: addressOf(request.ip), url: place.url };
    const outcome = await passOn(passed, bodyOf(request));
    if (outcome === 'silent') return claim(request, reply, hashOf(token));
    if (outcome === 'passed') {
      resumes.relayed += 1;
      return reply.hijack();
    }
    if (outcome.status < 300) resumes.relayed += 1;
    return sendAnswer(reply, outcome);
  };
}

function byCallId(cluster: Cluster, relays: Relays): Hook {
  return async (request, reply) => {
    const [, nodeId] = /^rtc_([0-9a-f]{32})_/.exec((request.params as { id: string }).id) ?? [];
    const isHere = nodeId === undefined || nodeId === cluster.nodeId;
    if (isHere || relays.addressIn(request.headers) !== undefined) return undefined;
    const url = await cluster.urlOf(nodeId).catch(refusalOf);
    if (typeof url === 'object') return sendRefusal(reply, url);
    // The calls of a node that is gone have ended.
    if (url === undefined) return undefined;
    const passed = { request: request.raw, address: addressOf(request.ip), url };
    const answer = await relays.forward(passed, bodyOf(request));
    return answer === 'silent' ? sendRefusal(reply, elsewhere) : sendAnswer(reply, answer);
  };
}

function bodyOf({ body }: FastifyRequest): Buffer {
  return body instanceof Buffer ? body : Buffer.alloc(0);
}

function sendAnswer(reply: FastifyReply, { status, headers, body }: NodeAnswer): FastifyReply {
  if (headers.location !== undefined) reply.header('location', headers.location);
  return reply
    .code(status)
    .header('content-type', headers['content-type'] ?? 'application/json')
    .send(body);
}

function admitter({ counts }: Cluster, config: Config): Node['admit'] {
  const { maxSessionsPerKey, maxSessionsPerAddress } = config;
  return async ({ ws, headers, query, raw }, reply, { owner, address }) => {
    if (!ws || reply.sent) return undefined;
    const isNew = resumeTokenOf(headers, query) === undefined;
    // Without its own limit, an account has a share of each node.
    const byKey =
      owner === undefined || maxSessionsPerKey === undefined ? [] : [{ name: `key:${owner}`, most: maxSessionsPerKey }];
    const limits = [...byKey, { name: `address:${address}`, most: maxSessionsPerAddress }];
    const leave = await counts.enter(isNew ? limits : limits.map((limit) => ({ ...limit, most: -1 })));
    if (typeof leave === 'object')
      return sendRefusal(reply, tooMany(leave.name.startsWith('key:') ? 'key' : 'address', leave.most));
    if (raw.socket.destroyed) leave();
    else raw.socket.once('close', leave);
    return undefined;
  };
}

function refusalOf(fault: unknown): Refusal {
  if (fault instanceof StoreUnavailable) return unavailable;
  throw fault;
}

const unavailable: Refusal = {
  status: 503,
  problem: {
    code: 'store_unavailable',
    message: 'The session is not on this node, and the store that knows its node does not answer. Try again.',
  },
  retryAfterSeconds: 1,
};

const elsewhere: Refusal = {
  status: 503,
  problem: { code: 'server_busy', message: 'The session has just moved to another node. Try again.' },
  retryAfterSeconds: 1,
};
