import { z } from 'zod';
import { count, facts, httpUrl, numeric, onOff, prices, text } from './setting-types.ts';

/** Settings of sessions and of what is kept of them. */
export const sessionSettings = {
  store: onOff.default(false).register(facts, {
    help: 'keep resumable sessions on disk, so that they survive a restart (stores conversations)',
  }),
  memory: onOff.default(false).register(facts, {
    help: 'let characters remember users whom clients name, until deleted (stores conversations)',
    more: 'See [Memory](memory/MEMORY.md).',
  }),
  postgresUrl: z
    .url({ protocol: /^postgres(?:ql)?$/, error: 'must look like postgres://USER:PASSWORD@HOST:5432/DATABASE' })
    .optional()
    .register(facts, {
      value: 'URL',
      secret: true,
      help: 'PostgreSQL 14 or later for memories, instead of a file, so that several nodes share them',
      more: 'See [Operations](OPERATIONS.md).',
    }),
  memoryKeysUrl: z
    .url({ protocol: /^rediss?$/, error: 'must look like redis://USER:PASSWORD@HOST:6379/0' })
    .optional()
    .register(facts, {
      value: 'URL',
      secret: true,
      help: 'Redis for the keys that seal memories in PostgreSQL, so that an erasure reaches its backups, too',
      more: 'See [Operations](OPERATIONS.md#erasure-that-reaches-backups).',
    }),
  reports: onOff.default(false).register(facts, {
    help: 'store reports of players (`x_dramatis.report`) in reports/reports.jsonl, with the words before each',
  }),
  saveKey: text.optional().register(facts, {
    value: 'KEY',
    secret: true,
    shown: 'DRAMATIS_CLUSTER_KEY, or one made in the data folder',
    help: 'key that signs saved games, so that players cannot change them',
    more: 'See [Saves](PROTOCOL.md#saves).',
  }),
  resumeGraceSeconds: numeric(z.number().min(0).max(3_600))
    .default(60)
    .register(facts, { help: 'how long a disconnected client may resume its session' }),
  keptAudioSeconds: numeric(z.number().min(0).max(3_600)).default(5).register(facts, {
    help: 'audio kept per session for conversation.item.retrieve; older audio is dropped, its text stays',
    more: '5 s are 0.5 MB.',
  }),
};

/** Limits that an operator may change; the fixed ones are in `../limits/limits.ts`. */
export const limitSettings = {
  maxSessions: numeric(count.max(10_000)).default(64).register(facts, { help: 'concurrent sessions' }),
  maxSessionMinutes: numeric(count.max(24 * 60))
    .default(60)
    .register(facts, { help: 'maximum length of a session, in minutes' }),
  maxSessionsPerKey: numeric(count.max(10_000).optional()).register(facts, {
    shown: 'half of DRAMATIS_MAX_SESSIONS; all if there is one key',
    help: 'concurrent sessions with one key, or with client secrets made with it',
  }),
  maxSessionsPerAddress: numeric(count.max(10_000)).default(32).register(facts, {
    help: 'concurrent sessions from one address (IPv6: one /64)',
  }),
  maxLoopDelayMs: numeric(count.max(10_000).optional()).register(facts, {
    help: 'p99 delay of the event loop at which `/healthz` reports this server as busy; 25 is suitable for nodes behind a load balancer',
  }),
  maxSockets: numeric(count.max(100_000).optional()).register(facts, {
    shown: '16 for each session',
    help: 'open connections of all kinds; half of them from one address, unless there is a trusted proxy',
  }),
  maxHandshakesPerMinute: numeric(count.max(100_000)).default(300).register(facts, {
    help: 'new sessions from one address per minute',
  }),
  maxRequests: numeric(count.max(10_000)).default(16).register(facts, {
    help: 'concurrent chat, speech and transcription requests',
  }),
  maxCharacters: numeric(count.max(10_000)).default(500).register(facts, { help: 'imported characters kept' }),
  maxCharactersMb: numeric(count.max(1_000_000))
    .default(1_024)
    .register(facts, { help: 'disk space of imported characters, in MiB' }),
  maxRequestsPerKey: numeric(count.max(10_000).optional()).register(facts, {
    shown: 'half of DRAMATIS_MAX_REQUESTS; all if there is one key',
    help: 'concurrent requests with one key',
  }),
  maxEventsPerSecond: numeric(count.max(100_000)).default(200).register(facts, {
    help: 'average events per second from one client; bursts of ten times as many',
  }),
  maxAudioRate: numeric(z.number().min(1).max(100)).default(4).register(facts, {
    help: 'average audio from one client, as a multiple of real time; bursts of ten minutes',
  }),
  prices: prices.prefault([]).register(facts, {
    value: 'PRICES',
    shown: 'none',
    help: 'prices for the cost limits of client secrets, such as input=0.15,output=0.6,audio=0.015',
    more: 'Of a million tokens read or written, and of a minute of speech, in any currency.',
  }),
  handshakeTimeoutMs: numeric(z.number().int().min(100).max(120_000))
    .default(10_000)
    .register(facts, { help: 'timeout of the handshake' }),
  drainSeconds: numeric(z.number().min(0).max(3_600))
    .default(10)
    .register(facts, { help: 'how long replies may continue when the server is stopped' }),
};

/** Settings of a server that is one of several nodes. */
export const clusterSettings = {
  redisUrl: z
    .url({ protocol: /^rediss?$/, error: 'must look like redis://HOST:6379, or rediss:// for TLS' })
    .optional()
    .register(facts, {
      value: 'URL',
      secret: true,
      help: 'Redis 6.2 or later, or Valkey, that all nodes share: sessions survive their node (stores conversations there)',
      more: 'See [Operations](OPERATIONS.md).',
    }),
  nodeUrl: httpUrl.optional().register(facts, {
    value: 'URL',
    help: 'URL under which the other nodes reach this one, such as http://10.0.0.7:8080',
  }),
  clusterKey: text.optional().register(facts, {
    value: 'KEY',
    secret: true,
    help: 'secret that all nodes share; proves that a request comes from another node',
  }),
};
