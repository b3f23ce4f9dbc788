import path from 'node:path';
import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { z } from 'zod';
import { type DialogueAgent, speechRoleTask, type DialogueScorer } from './data/task.ts';
import { storedAgent, openOutputs } from '../agents/stored-agent.ts';
import { wireAgent } from '../agents/wire-agent.ts';
import { machineClock, openEndpoint } from '../limits.ts';
import type { OpenedRun, OpenOptions } from '../benchmark.ts';
import { EvalError } from '../eval-error.ts';
import { keyIn, type EvalHost, type HostedReference } from '../host.ts';
import { buildHeader, type RunHeader } from '../run-log.ts';
import { openJudge } from '../judge/judge.ts';
import { seededRandom } from '../statistics.ts';
import { characterIdOf, instructionsFor, readRoleClips, writePacks } from './data/character-packs.ts';
import { judgeScorer } from './judging/judge-scorer.ts';
import { openProtocol, type Protocol } from './judging/protocols.ts';
import type { RunConfig } from './run-config.ts';
import { readTestData, type DialogueSample, type TestData } from './data/test-data.ts';
import { hashFile, writeFileAtomic } from '../../voices/runtime/files.ts';

const retryable = { clock: machineClock, random: seededRandom(7) };

type Secrets = NonNullable<OpenOptions['secrets']>;

/** Reads the data, opens the judge, and starts or connects to the system under test. Throws `EvalError`. */
export async function openRun(
  config: RunConfig,
  folder: string,
  host: EvalHost,
  { secrets = {}, outputs = new Map(), isSolvedElsewhere = false }: OpenOptions = {},
): Promise<OpenedRun> {
  const data = await readTestData(config.data, { reference: config.reference });
  const samples = selectSamples(data.samples, config.select);
  if (samples.length === 0)
    throw new EvalError('usage', 'No dialogue matches --roles, --language and --mode. Select more.');
  const protocol = openProtocol(config.protocol, { prompts: config.prompts, repeats: config.repeats });
  const cues = await openCueScorers(config, host);
  const scorers = [...judgeScorers(config, host, protocol), ...cues.scorers];
  const recordings = await recordingsHash(samples, path.join(folder, 'recordings.json'));
  const agent = await openAgent({ config, samples, folder, secrets, outputs, isSolvedElsewhere }, host);
  return {
    task: speechRoleTask(samples, agent.agent, scorers),
    header: await headerOf(config, samples, { ...data, hash: `${data.hash}/${recordings}` }, protocol.promptHashes),
    // Enough questions for twice the judge's concurrency; no more, because each dialogue in progress holds its
    // recordings in memory.
    concurrency:
      config.agentConcurrency + Math.ceil((2 * (config.judge?.concurrency ?? 0)) / protocol.questions.length),
    problems: data.problems,
    async [Symbol.asyncDispose]() {
      await Promise.all([agent.close(), cues.close()]);
    },
  };
}

/** Returns the selected dialogues in their original order. */
export function selectSamples(samples: readonly DialogueSample[], select: RunConfig['select']): DialogueSample[] {
  const { roles, language, mode, limit } = select;
  const unknown = (roles ?? []).filter((role) => !samples.some((sample) => sample.group === role));
  if (unknown.length > 0)
    throw new EvalError(
      'usage',
      `The data has no role "${unknown.join('", "')}". The name of a role is that of its file, without .json.`,
    );
  return samples
    .filter((sample) => roles === undefined || roles.includes(sample.group))
    .filter((sample) => language === undefined || sample.input.language === language)
    .filter((sample) => mode === undefined || sample.input.mode === mode)
    .slice(0, limit);
}

/** Opens the scorer of the run's judge; empty if none is configured. */
export function judgeScorers(
  config: RunConfig,
  host: Pick<EvalHost, 'environment' | 'turns'>,
  protocol: Protocol,
): DialogueScorer[] {
  const { judge, parser, parseRetries, retries } = config;
  if (judge === undefined) return [];
  const endpoint = openEndpoint(
    'judge',
    { concurrency: judge.concurrency, requestsPerMinute: judge.rpm, retries },
    { ...retryable, turns: host.turns },
  );
  const opened = openJudge(
    {
      baseUrl: judge.url,
      model: judge.model,
      dialect: judge.dialect,
      key: keyIn(judge.keyEnv, host),
      prices: judge.prices,
    },
    endpoint,
  );
  return [judgeScorer({ protocol, judge: opened, strictness: parser, parseRetries })];
}

interface OpenedCues {
  readonly scorers: readonly DialogueScorer[];
  close(): Promise<void>;
}

async function openCueScorers(config: RunConfig, host: EvalHost): Promise<OpenedCues> {
  const { cues: names, cueAsr, speakerModels, dnsmosModel, roleVoices } = config;
  if (names.length === 0) return { scorers: [], close: async () => undefined };
  const { openCues } = await import('../cues/cue-scorer.ts');
  const recognizer = cueAsr === undefined ? undefined : { ...cueAsr, key: keyIn(cueAsr.keyEnv, host) };
  const { scorer, close } = await openCues({ names, recognizer, speakerModels, dnsmosModel, roleVoices }, host);
  return { scorers: [scorer], close };
}

interface OpenedAgent {
  readonly agent: DialogueAgent;
  close(): Promise<void>;
}

/** Inputs for opening an agent. */
interface AgentWanted {
  readonly config: RunConfig;
  readonly samples: readonly DialogueSample[];
  readonly folder: string;
  readonly secrets: Secrets;
  readonly outputs: ReadonlyMap<string, unknown>;
  readonly isSolvedElsewhere: boolean;
}

async function openAgent(wanted: AgentWanted, host: EvalHost): Promise<OpenedAgent> {
  const { config, samples, outputs, isSolvedElsewhere } = wanted;
  const { agent, name } = config;
  const nothing = async (): Promise<void> => undefined;
  if (isSolvedElsewhere || samples.every((sample) => outputs.has(sample.id))) {
    const answer = (): Promise<never> => Promise.reject(new Error('every dialogue has been answered'));
    return { agent: { name: name || agent, answer }, close: nothing };
  }
  if (agent.startsWith('outputs:')) {
    const stored = await openOutputs(agent.slice('outputs:'.length));
    return { agent: storedAgent(name || path.basename(stored.path), stored), close: nothing };
  }
  const endpoint = openEndpoint(
    'agent',
    { concurrency: config.agentConcurrency, requestsPerMinute: config.agentRpm, retries: config.retries },
    { ...retryable, turns: host.turns },
  );
  const { userText, teacherForced, allowFallback, speed, agentVoice: voice } = config;
  const common = { name: name || agent, voice, userText, teacherForced, allowFallback, speed };
  const open = (where: Parameters<typeof wireAgent>[0], close: () => Promise<void>): OpenedAgent => ({
    agent: wireAgent(where, endpoint, machineClock),
    close,
  });
  const apiKey = keyIn(config.agentKeyEnv, host);
  if (agent.startsWith('openai-realtime:')) {
    const url = new URL(agent.slice('openai-realtime:'.length));
    const model = url.searchParams.get('model');
    if (model === null) {
      const detail = `${agent} names no model. Add it, such as ?model=gpt-realtime-2.1.`;
      throw new EvalError('usage', detail);
    }
    const instructions = (sample: DialogueSample): string => sample.input.systemPrompt;
    return open(
      { ...common, url: url.href, apiKey, modelFor: () => model, instructionsFor: instructions, tellsLanguage: false },
      nothing,
    );
  }
  const dialogue = {
    tellsLanguage: true,
    modelFor: (sample: DialogueSample) => config.character ?? characterIdOf(sample.group),
    instructionsFor: (sample: DialogueSample) => instructionsFor(sample, config.persona),
  };
  if (agent !== 'ours') return open({ ...common, ...dialogue, url: agent, apiKey }, nothing);
  const server = await startOurs(wanted, host);
  return open({ ...common, ...dialogue, url: server.url, apiKey: server.apiKey }, () => server.close());
}

async function startOurs(
  { config, samples, folder, secrets }: AgentWanted,
  host: EvalHost,
): ReturnType<EvalHost['startServer']> {
  const charactersDir = path.join(folder, 'characters');
  await writePacks(samples, charactersDir, config.persona);
  const references = await referencesOf(config, samples);
  const server = await host.startServer({
    settings: { ...config.server, ...secrets },
    charactersDir,
    references,
    sessions: config.agentConcurrency + 4,
    audioRate: Math.max(4, config.speed * 2),
  });
  if (server.hasModel || config.allowFallback) return server;
  await server.close();
  const advice = 'Give --llm-base-url, --preset or --engines, or score such answers with --allow-fallback.';
  throw new EvalError('usage', `No LLM is configured, so the roles can only give evasive answers. ${advice}`);
}

/** Returns the roles' reference clips by character. Throws an `EvalError` without consent to clone. */
async function referencesOf(
  { roleVoices, roleVoicesConsent: consent }: RunConfig,
  samples: readonly DialogueSample[],
): Promise<Record<string, HostedReference>> {
  if (roleVoices === undefined) return {};
  if (consent === undefined)
    throw new EvalError(
      'usage',
      '--role-voices-consent is required: say who allowed the cloning of these voices, and what proves it.',
    );
  const clips = await readRoleClips(roleVoices, samples);
  return Object.fromEntries([...clips].map(([role, clip]) => [characterIdOf(role), { ...clip, consent }]));
}

/** Builds the first line of the log. */
export function headerOf(
  config: RunConfig,
  samples: readonly DialogueSample[],
  data: Pick<TestData, 'hash'>,
  prompts: Readonly<Record<string, string>>,
): Promise<RunHeader> {
  return buildHeader({
    task: { name: 'speechrole-eval', version: 1 },
    config,
    models: { agent: config.agent, ...(config.judge === undefined ? {} : { judge: config.judge.model }) },
    prompts,
    seeds: { bootstrap: config.seed },
    data: { hash: data.hash, samples: samples.length },
  });
}

/** Known hashes by path, valid while size and times of the file stay as they were. */
const recordingHashes = z.record(z.string(), z.object({ stamp: z.string(), sha256: z.string() }));

/**
 * Hashes every recording of the samples: size and SHA-256, by sample, side and turn, so that the data may move. A missing
 * recording counts as such. Hashes of unchanged files come from the cache file.
 */
async function recordingsHash(samples: readonly DialogueSample[], cacheFile: string): Promise<string> {
  const known = await readFile(cacheFile, 'utf8')
    .then((text) => recordingHashes.parse(JSON.parse(text)))
    .catch((): z.infer<typeof recordingHashes> => ({}));
  const current: z.infer<typeof recordingHashes> = {};
  const hash = createHash('sha256');
  for (const { id, input, target } of samples) {
    for (const [side, turns] of [['user', input.turns] as const, ['role', target.turns] as const]) {
      for (const [turn, { speech }] of turns.entries()) {
        const facts = speech === null ? undefined : await stat(speech).catch(() => undefined);
        if (speech === null || facts === undefined) {
          hash.update(JSON.stringify([id, side, turn, null]));
          continue;
        }
        const stamp = [facts.size, facts.mtimeMs, facts.ctimeMs].join(' ');
        const cached = known[speech];
        const sha256 = cached?.stamp === stamp ? cached.sha256 : await hashFile(speech);
        current[speech] = { stamp, sha256 };
        hash.update(JSON.stringify([id, side, turn, facts.size, sha256]));
      }
    }
  }
  await writeFileAtomic(cacheFile, JSON.stringify(current));
  return hash.digest('hex');
}
