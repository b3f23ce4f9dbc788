import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import type { SpeechRecognizer } from '../../voices/recognizer.ts';
import { writePack } from '../../characters/pack-folder.ts';
import { chatAgent } from '../agents/chat-agent.ts';
import type { TextAgent, TextScene } from '../agents/text-agent.ts';
import { openUserVoice, wireTextAgent, type SpeechPath } from '../agents/wire-text-agent.ts';
import { openCueRecognizer } from '../cues/cue-scorer.ts';
import { transcribe } from '../cues/wer.ts';
import { EvalError } from '../eval-error.ts';
import { keyIn, type EvalHost } from '../host.ts';
import { openJudge, type Judge } from '../judge/judge.ts';
import { machineClock, openEndpoint } from '../limits.ts';
import { promptCard } from '../prompt-card.ts';
import { seededRandom } from '../statistics.ts';
import type { TextConfig } from './config.ts';

const parts = { clock: machineClock, random: seededRandom(7) };
const noPrices = { input: 0, audio: 0, output: 0 };

/** Opens the judge of a run; undefined if none is configured. */
export function openTextJudge(config: TextConfig, host: Pick<EvalHost, 'environment' | 'turns'>): Judge | undefined {
  const { judge, retries } = config;
  if (judge === undefined) return undefined;
  const limits = { concurrency: judge.concurrency, requestsPerMinute: judge.rpm, retries };
  const settings = {
    baseUrl: judge.url,
    model: judge.model,
    dialect: judge.dialect,
    key: keyIn(judge.keyEnv, host),
    prices: judge.prices,
  };
  return openJudge(settings, openEndpoint('judge', limits, { ...parts, turns: host.turns }));
}

/** Opens the other models of a run by their part. */
export function openModels(
  config: TextConfig,
  host: Pick<EvalHost, 'environment' | 'turns'>,
): ReadonlyMap<string, Judge> {
  return new Map(
    Object.entries(config.models).map(([part, { url, model, keyEnv }]) => {
      const endpoint = openEndpoint(part, { concurrency: 8, retries: config.retries }, parts);
      const key = keyIn(keyEnv, host);
      return [part, openJudge({ baseUrl: url, model, dialect: 'openai', key, prices: noPrices }, endpoint)] as const;
    }),
  );
}

/** A system under test, and what has to be closed with it. */
export interface OpenedAgent {
  readonly agent: TextAgent;
  close(): Promise<void>;
}

export interface AgentWanted {
  readonly config: TextConfig;
  /** Languages of the roles of the data. */
  readonly roles: ReadonlyMap<string, 'en' | 'zh'>;
  readonly folder: string;
  readonly secrets: Readonly<Record<string, string | boolean>>;
}

/** Starts or connects to the system under test. Throws `EvalError`. */
export async function openTextAgent(wanted: AgentWanted, host: EvalHost): Promise<OpenedAgent> {
  const { config } = wanted;
  const { agent, agentConcurrency, agentRpm, retries } = config;
  const limits = { concurrency: agentConcurrency, requestsPerMinute: agentRpm, retries };
  const endpoint = openEndpoint('agent', limits, { ...parts, turns: host.turns });
  const apiKey = keyIn(config.agentKeyEnv, host);
  if (agent.startsWith('chat:')) {
    if (config.speech) throw new EvalError('usage', '--speech needs a system that speaks; chat: answers only in text.');
    const [url = '', model = ''] = agent.slice('chat:'.length).split('#');
    if (url === '' || model === '') throw new EvalError('usage', '--agent must be chat:URL#MODEL.');
    const settings = { baseUrl: url, model, dialect: 'openai', key: apiKey, prices: noPrices } as const;
    return { agent: chatAgent(openJudge(settings, endpoint)), close: () => Promise.resolve() };
  }
  const speech = await openSpeech(config, host);
  try {
    const address = await addressOfAgent(wanted, apiKey, host);
    const { name, agentVoice: voice, allowFallback } = config;
    const common = { name: name || agent, voice, allowFallback, speech: speech?.path };
    return {
      agent: wireTextAgent({ ...common, ...address }, endpoint, machineClock),
      close: async () => void (await Promise.all([address.close(), speech?.close()])),
    };
  } catch (fault) {
    await speech?.close();
    throw fault;
  }
}

interface AgentAddress {
  readonly url: string;
  readonly apiKey?: string | undefined;
  modelFor(scene: TextScene): string;
  close(): Promise<void>;
}

async function addressOfAgent(wanted: AgentWanted, apiKey: string | undefined, host: EvalHost): Promise<AgentAddress> {
  const { agent, character } = wanted.config;
  const close = (): Promise<void> => Promise.resolve();
  if (agent.startsWith('openai-realtime:')) {
    const url = new URL(agent.slice('openai-realtime:'.length));
    const model = url.searchParams.get('model');
    if (model === null)
      throw new EvalError('usage', `${agent} names no model. Add it, such as ?model=gpt-realtime-2.1.`);
    return { url: url.href, apiKey, modelFor: () => model, close };
  }
  if (agent !== 'ours') {
    const ids = await characterIds(wanted);
    return { url: agent, apiKey, modelFor: ({ role }) => character ?? ids(role), close };
  }
  const ids = await characterIds(wanted);
  const server = await startOurs(wanted, host);
  return {
    url: server.url,
    apiKey: server.apiKey,
    modelFor: ({ role }) => character ?? ids(role),
    close: () => server.close(),
  };
}

/** Characters of the roles: those of `--characters` by name, otherwise cards that carry the benchmark's prompts. */
async function characterIds({ config }: AgentWanted): Promise<(role: string) => string> {
  const { characters } = config;
  if (characters === undefined) return roleCharacterId;
  const names = new Map<string, string>();
  for (const id of await readdir(characters).catch(() => [])) {
    const card = await readFile(path.join(characters, id, 'card.json'), 'utf8').catch(() => undefined);
    if (card !== undefined) names.set((JSON.parse(card) as { name: string }).name, id);
  }
  return (role) => {
    const id = names.get(role);
    if (id === undefined) throw new EvalError('data', `${characters} has no character named "${role}". Import it.`);
    return id;
  };
}

function roleCharacterId(role: string): string {
  const words = role.toLowerCase().match(/[a-z0-9]+/g) ?? [];
  const hash = createHash('sha256').update(role).digest('hex').slice(0, 8);
  return `${['benchmark', ...words].join('-').slice(0, 55).replace(/-+$/, '')}-${hash}`;
}

async function startOurs(
  { config, roles, folder, secrets }: AgentWanted,
  host: EvalHost,
): ReturnType<EvalHost['startServer']> {
  const charactersDir = config.characters ?? path.join(folder, 'characters');
  if (config.characters === undefined) {
    for (const [role, language] of roles) {
      const card = promptCard({ id: roleCharacterId(role), role, language, source: 'the benchmark' });
      await writePack(charactersDir, { card, lines: [] }, true);
    }
  }
  const server = await host.startServer({
    settings: { ...config.server, ...secrets },
    charactersDir,
    references: {},
    sessions: config.agentConcurrency * 8,
    audioRate: Math.max(4, config.speed * 2),
  });
  if (server.hasModel || config.allowFallback) return server;
  await server.close();
  const advice = 'Give --llm-base-url, --preset or --engines, or score such answers with --allow-fallback.';
  throw new EvalError('usage', `No LLM is configured, so the roles can only give evasive answers. ${advice}`);
}

async function openSpeech(
  { speech, userVoice, hear, speed }: TextConfig,
  host: EvalHost,
): Promise<{ readonly path: SpeechPath; close(): Promise<void> } | undefined> {
  if (!speech) {
    if (userVoice !== undefined || hear !== undefined)
      throw new EvalError('usage', '--user-voice and --hear need --speech.');
    return undefined;
  }
  const voice = openUserVoice(userVoice);
  const ear =
    hear === undefined
      ? undefined
      : await openCueRecognizer(hear === 'moonshine' ? undefined : { ...hear, key: keyIn(hear.keyEnv, host) });
  const heard = ear === undefined ? {} : { hear: hearWith(ear.recognizer) };
  return {
    path: { speak: (text, language, options) => voice.speak(text, language, options), ...heard, speed },
    close: async () => void (await Promise.all([voice.close(), ear?.close()])),
  };
}

function hearWith(recognizer: SpeechRecognizer): NonNullable<SpeechPath['hear']> {
  return (sound, language, { signal }) => {
    if (!recognizer.languages.includes(language))
      throw new EvalError('usage', `--hear: ${recognizer.name} does not support ${language}.`);
    return transcribe(sound, recognizer, { signal, language });
  };
}

/** Concurrent samples that keep the system and the judge busy. */
export function concurrencyOf(config: TextConfig, asks: number): number {
  return config.agentConcurrency + Math.ceil((2 * (config.judge?.concurrency ?? 0)) / Math.max(1, asks));
}
