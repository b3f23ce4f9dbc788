import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { z } from 'zod';
import { recipeNames } from '../../agents/recipe-names.ts';
import { callFacts, callFields, callProblemOf } from './config-calls.ts';
import { embeddingsFacts, embeddingsFields, embeddingsProblemOf } from './config-embeddings.ts';
import { voiceFacts, voiceFields } from './config-voices.ts';
import { problemOf } from './config-problems.ts';
import { listOf, numeric } from './config-values.ts';
import { withoutBrackets } from './loopback.ts';

/** An unusable configuration. The message names the setting, its source and the remedy. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly code = 'invalid_configuration';
}

/** Documentation of a setting. */
interface SettingFacts {
  readonly env: string;
  readonly help: string;
  /** Masked by `--print-config`. */
  readonly secret?: boolean;
  /** A boolean; the flag takes no value. */
  readonly onOff?: boolean;
}

const list = listOf(z.string().min(1));
const flag = z.preprocess(
  (value) =>
    value === 'true' || value === '1' || value === '' ? true : value === 'false' || value === '0' ? false : value,
  z.boolean(),
);
const count = z.number().int().min(1);
const defaultDataDir = path.join(process.env['XDG_DATA_HOME'] ?? path.join(homedir(), '.local', 'share'), 'dramatis');

/** Every setting: type, range and default. A test checks the table in `SETTINGS.md` against this one. */
const schema = z.strictObject({
  host: z.string().min(1).transform(withoutBrackets).default('127.0.0.1'),
  port: numeric(z.number().int().min(0).max(65_535)).default(8080),
  apiKeys: list.prefault([]),
  allowedOrigins: list.prefault([]),
  dataDir: z.string().min(1).default(defaultDataDir),
  charactersDir: z.string().min(1).optional(),
  defaultCharacter: z.string().min(1).default('sherlock-holmes'),
  preset: z.string().min(1).optional(),
  engines: z.string().min(1).optional(),
  auto: flag.default(false),
  recognizer: list.optional(),
  mind: list.optional(),
  synthesizer: list.optional(),
  recipe: z.enum(recipeNames).default('dramatis'),
  llmBaseUrl: z.url({ protocol: /^https?$/ }).optional(),
  llmModel: z.string().min(1).optional(),
  llmApiKey: z.string().min(1).optional(),
  twilioAuthToken: z.string().min(1).optional(),
  maxSessions: numeric(count.max(10_000)).default(64),
  maxSessionMinutes: numeric(count.max(24 * 60)).default(60),
  maxSessionsPerKey: numeric(count.max(10_000)).default(64),
  maxSessionsPerAddress: numeric(count.max(10_000)).default(32),
  maxHandshakesPerMinute: numeric(count.max(100_000)).default(300),
  maxRequests: numeric(count.max(10_000)).default(16),
  maxEventsPerSecond: numeric(count.max(100_000)).default(200),
  maxAudioRate: numeric(z.number().min(1).max(100)).default(4),
  handshakeTimeoutMs: numeric(z.number().int().min(100).max(120_000)).default(10_000),
  drainSeconds: numeric(z.number().min(0).max(3_600)).default(10),
  trustProxy: numeric(z.number().int().min(0).max(10)).default(0),
  tlsCert: z.string().min(1).optional(),
  tlsKey: z.string().min(1).optional(),
  tlsDev: flag.default(false),
  ...callFields,
  store: flag.default(false),
  memory: flag.default(false),
  resumeGraceSeconds: numeric(z.number().min(0).max(3_600)).default(60),
  keptAudioSeconds: numeric(z.number().min(0).max(3_600)).default(5),
  playoutAheadMs: numeric(z.number().min(100).max(5_000)).default(400),
  draftsPerTurn: numeric(z.number().int().min(0).max(10)).default(3),
  smartTurn: z.string().min(1).optional(),
  smartTurnHash: z.hash('sha256').optional(),
  ...embeddingsFields,
  ...voiceFields,
  workers: numeric(count.max(64)).optional(),
  otlpEndpoint: z.url({ protocol: /^https?$/ }).optional(),
  logLevel: z.enum(['silent', 'error', 'warn', 'info', 'debug']).default('info'),
  logContent: flag.default(false),
});

/** The whole configuration, frozen. */
export type Config = Readonly<z.infer<typeof schema>>;
type Name = keyof Config;

/** Environment variable and help text of every setting; the flag is the name in kebab-case. */
export const settingFacts: Readonly<Record<Name, SettingFacts>> = {
  host: { env: 'HOST', help: 'address to listen on' },
  port: { env: 'PORT', help: 'port to listen on; 0 takes a free one' },
  apiKeys: {
    env: 'DRAMATIS_API_KEYS',
    help: 'keys that clients must show, comma-separated, KEY or NAME:KEY; needed off loopback',
    secret: true,
  },
  allowedOrigins: {
    env: 'DRAMATIS_ALLOWED_ORIGINS',
    help: 'web origins that may connect besides our own page, comma-separated',
  },
  dataDir: { env: 'DRAMATIS_DATA_DIR', help: 'where voices, models and memories are kept' },
  charactersDir: { env: 'DRAMATIS_CHARACTERS_DIR', help: 'a folder of further character packs' },
  defaultCharacter: {
    env: 'DRAMATIS_DEFAULT_CHARACTER',
    help: 'who answers clients that name an OpenAI model, or none',
  },
  preset: { env: 'DRAMATIS_PRESET', help: 'a system of the SpeechRole paper: which engines hear, think and speak' },
  engines: { env: 'DRAMATIS_ENGINES', help: 'JSON file of engines (README, "Engines")' },
  auto: {
    env: 'DRAMATIS_AUTO',
    help: 'for each stage that is not set: the best of the installed models (`dramatis models`)',
    onOff: true,
  },
  recognizer: {
    env: 'DRAMATIS_RECOGNIZER',
    help: 'what hears: names of engines or KIND@URL#MODEL, the first that works',
  },
  mind: { env: 'DRAMATIS_MIND', help: 'what thinks; the characters’ own lines are the last resort' },
  synthesizer: { env: 'DRAMATIS_SYNTHESIZER', help: 'what speaks' },
  recipe: { env: 'DRAMATIS_RECIPE', help: `how an LLM is told whom to play: ${recipeNames.join(', ')}` },
  llmBaseUrl: { env: 'DRAMATIS_LLM_BASE_URL', help: 'an OpenAI-compatible server, such as http://localhost:11434/v1' },
  llmModel: { env: 'DRAMATIS_LLM_MODEL', help: 'the chat model there' },
  llmApiKey: { env: 'DRAMATIS_LLM_API_KEY', help: 'its key, if it wants one', secret: true },
  twilioAuthToken: {
    env: 'DRAMATIS_TWILIO_AUTH_TOKEN',
    help: 'auth token of a Twilio account; calls that it has not signed are refused',
    secret: true,
  },
  maxSessions: { env: 'DRAMATIS_MAX_SESSIONS', help: 'conversations at a time; more are refused' },
  maxSessionMinutes: { env: 'DRAMATIS_MAX_SESSION_MINUTES', help: 'longest conversation' },
  maxSessionsPerKey: {
    env: 'DRAMATIS_MAX_SESSIONS_PER_KEY',
    help: 'of them with one key, or client secrets made with it',
  },
  maxSessionsPerAddress: { env: 'DRAMATIS_MAX_SESSIONS_PER_ADDRESS', help: 'of them from one address' },
  maxHandshakesPerMinute: {
    env: 'DRAMATIS_MAX_HANDSHAKES_PER_MINUTE',
    help: 'conversations that one address may begin in a minute',
  },
  maxRequests: { env: 'DRAMATIS_MAX_REQUESTS', help: 'chat, speech and transcription requests at a time' },
  maxEventsPerSecond: {
    env: 'DRAMATIS_MAX_EVENTS_PER_SECOND',
    help: 'events one client may send, in the long run; ten times as many at once',
  },
  maxAudioRate: {
    env: 'DRAMATIS_MAX_AUDIO_RATE',
    help: 'audio one client may send, in the long run, as a multiple of real time; ten minutes at once',
  },
  handshakeTimeoutMs: { env: 'DRAMATIS_HANDSHAKE_TIMEOUT_MS', help: 'how long a client may take to ask' },
  drainSeconds: { env: 'DRAMATIS_DRAIN_SECONDS', help: 'how long replies may go on when the server is told to stop' },
  trustProxy: {
    env: 'DRAMATIS_TRUST_PROXY',
    help: 'how many proxies stand in front, whose X-Forwarded-For is believed',
  },
  tlsCert: { env: 'DRAMATIS_TLS_CERT', help: 'certificate file (PEM, with its chain): serve https and wss' },
  tlsKey: { env: 'DRAMATIS_TLS_KEY', help: 'file of its private key (PEM)' },
  tlsDev: {
    env: 'DRAMATIS_TLS_DEV',
    help: 'serve https and wss with a self-signed certificate for localhost, made on first use',
    onOff: true,
  },
  ...callFacts,
  store: {
    env: 'DRAMATIS_STORE',
    help: 'keep resumable sessions on disk, through restarts (what was said is stored)',
    onOff: true,
  },
  memory: {
    env: 'DRAMATIS_MEMORY',
    help: 'let characters remember users whom clients name, on disk, until they are deleted (what was said is stored)',
    onOff: true,
  },
  resumeGraceSeconds: { env: 'DRAMATIS_RESUME_GRACE_SECONDS', help: 'how long a dropped client may come back' },
  keptAudioSeconds: {
    env: 'DRAMATIS_KEPT_AUDIO_SECONDS',
    help: 'sound of each conversation kept for conversation.item.retrieve; older sound is forgotten, its text stays',
  },
  playoutAheadMs: { env: 'DRAMATIS_PLAYOUT_AHEAD_MS', help: 'how far ahead of real time replies are sent' },
  draftsPerTurn: {
    env: 'DRAMATIS_DRAFTS_PER_TURN',
    help: 'answers begun before the user has surely finished, at most; 0 switches it off',
  },
  smartTurn: { env: 'DRAMATIS_SMART_TURN', help: 'ONNX file of smart-turn v3, to tell by the voice who has finished' },
  smartTurnHash: { env: 'DRAMATIS_SMART_TURN_HASH', help: 'its SHA-256, where it is not the known file' },
  ...embeddingsFacts,
  ...voiceFacts,
  workers: { env: 'DRAMATIS_WORKERS', help: 'threads for each local engine; by default half the cores' },
  otlpEndpoint: {
    env: 'OTEL_EXPORTER_OTLP_ENDPOINT',
    help: 'an OpenTelemetry collector (OTLP over HTTP) that gets a span for every turn',
  },
  logLevel: { env: 'DRAMATIS_LOG_LEVEL', help: 'silent, error, warn, info or debug' },
  logContent: { env: 'DRAMATIS_LOG_CONTENT', help: 'also log what was said (private; off)', onOff: true },
};

/** The flag of a setting: `llmBaseUrl` is `--llm-base-url`. */
export function flagOf(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/**
 * Reads the configuration. `flags` (by setting name) override `environment`, which overrides the file, which overrides
 * the defaults. Throws `ConfigError` on an invalid value, on an unknown key in the file, and if the server would be
 * reachable by others without a key.
 */
export function readConfig(sources: {
  readonly flags: Readonly<Record<string, string | boolean | undefined>>;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Default: `dramatis.config.json` in the working directory, if it exists. */
  readonly file?: string;
}): Config {
  const fromFile = readFile(sources.file);
  const merged: Record<string, unknown> = { ...fromFile.values };
  const origin: Record<string, string> = Object.fromEntries(Object.keys(merged).map((name) => [name, fromFile.path]));
  for (const [name, facts] of Object.entries(settingFacts)) {
    const environment = sources.environment[facts.env];
    const flagged = sources.flags[name];
    if (environment !== undefined && environment !== '') [merged[name], origin[name]] = [environment, facts.env];
    if (flagged !== undefined) [merged[name], origin[name]] = [flagged, `--${flagOf(name)}`];
  }
  const parsed = schema.safeParse(merged);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    const name = issue?.code === 'unrecognized_keys' ? issue.keys[0] : String(issue?.path[0]);
    const wrong = issue?.code === 'invalid_type' ? `must be a ${issue.expected}` : issue?.message;
    throw new ConfigError(`${origin[name ?? ''] ?? name} (setting "${name}"): ${wrong ?? 'invalid'}`);
  }
  const config = Object.freeze(parsed.data);
  const problem = problemOf(config) ?? callProblemOf(config) ?? embeddingsProblemOf(config);
  if (problem !== undefined) throw new ConfigError(problem);
  return config;
}

/** The configuration for display, with secrets masked. */
export function printableConfig(config: Config): Record<string, unknown> {
  return Object.fromEntries(
    (Object.keys(settingFacts) as Name[]).map((name) => {
      const value = config[name];
      const hidden =
        settingFacts[name].secret === true && value !== undefined && (!Array.isArray(value) || value.length > 0);
      if (hidden) return [name, Array.isArray(value) ? value.map(() => '••••') : '••••'];
      return [name, value ?? null];
    }),
  );
}

function readFile(file: string | undefined): { path: string; values: Record<string, unknown> } {
  const place = file ?? path.resolve('dramatis.config.json');
  let text: string;
  try {
    text = readFileSync(place, 'utf8');
  } catch (cause) {
    if (file === undefined) return { path: place, values: {} };
    throw new ConfigError(`${place}: cannot be read; check the path`, { cause });
  }
  try {
    return { path: place, values: z.record(z.string(), z.unknown()).parse(JSON.parse(text)) };
  } catch (cause) {
    throw new ConfigError(`${place}: not a JSON object`, { cause });
  }
}
