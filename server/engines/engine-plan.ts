import { chatKinds } from '../../agents/actor/open.ts';
import { callPolicySchema, type CallPolicy } from '../../voices/calls/call-policy.ts';
import type { SettingNames } from '../../voices/calls/context.ts';
import { omniKinds, recognizerKinds, synthesizerKinds } from './voice-kinds.ts';
import { ConfigError, type Config } from '../config/config.ts';
import {
  readEnginesFile,
  readPreset,
  type EngineSettings,
  type EnginesFile,
  type Preset,
  type Reference,
  type TurnDetection,
} from './engines-file.ts';
import { autoEngines, type InstalledSettings } from './auto-engines.ts';
import { savedConnection } from './connected-llm.ts';
import { libraryReference } from './library-voice.ts';

export type Stage = 'asr' | 'llm' | 'tts';
/** A stage, or an omni model instead of LLM and TTS. */
type Role = Stage | 'omni';

export interface PlannedEngine {
  /** Name given by the user. */
  readonly name: string;
  readonly kind: string;
  /** Settings of the engine, validated by its adapter. */
  readonly settings: Readonly<Record<string, unknown>>;
  readonly callPolicy: CallPolicy;
  readonly key?: string | undefined;
  /** Environment variable that should hold the key. */
  readonly keyVariable?: string | undefined;
  /** Names of the settings in error messages, unless they come from the engines file. */
  readonly settingNames?: SettingNames;
  /** The engine's own voices, by character, gender or `*`. */
  readonly voices: Readonly<Record<string, string>>;
}

/** The engines of each stage, in the order in which they are tried. */
export interface EnginePlan {
  readonly asr: readonly PlannedEngine[];
  readonly llm: readonly PlannedEngine[];
  readonly tts: readonly PlannedEngine[];
  /** Speech-to-speech models that replace LLM and TTS, which are their fallback. Usually empty. */
  readonly omni: readonly PlannedEngine[];
  readonly turnDetector: TurnDetection;
  readonly references: Readonly<Record<string, Reference>>;
  /** Looks up a voice of the library. Throws a `VoiceError` if none with this id may be cloned. */
  readonly libraryVoice: (id: string) => Reference;
  /** Notes about the preset, for the user. */
  readonly notes: readonly string[];
}

export type PlanSettings = Partial<
  Pick<
    Config,
    | 'engines'
    | 'preset'
    | 'asr'
    | 'llm'
    | 'tts'
    | 'llmBaseUrl'
    | 'llmModel'
    | 'llmApiKey'
    | 'smartTurn'
    | 'smartTurnHash'
  >
> &
  InstalledSettings;
type Environment = Readonly<Record<string, string | undefined>>;

/** The engines that need no server; each is the last fallback of its stage. */
export const embeddedKinds: Readonly<Record<Stage, string>> = {
  asr: 'moonshine',
  llm: 'retrieval',
  tts: 'embedded',
};

const kindsOf: Readonly<Record<Role, Readonly<Record<string, unknown>>>> = {
  asr: recognizerKinds,
  llm: chatKinds,
  tts: synthesizerKinds,
  omni: omniKinds,
};

/**
 * Builds the plan. Settings override the engines file, which overrides the preset, the LLM and the models chosen on the
 * page, and the installed models; stages that none of them configures get the embedded engines. Throws `ConfigError`.
 */
export function planEngines(settings: PlanSettings, environment: Environment = process.env): EnginePlan {
  const file = settings.engines === undefined ? undefined : readEnginesFile(settings.engines);
  const presetId = settings.preset ?? file?.preset;
  const preset = presetId === undefined ? undefined : readPreset(presetId);
  const libraryVoice = (id: string): Reference => libraryReference(settings.dataDir ?? '', id);
  const auto = autoEngines(settings);
  const saved = savedConnection(settings.dataDir);
  const sources = [file, preset, saved, auto].filter((source) => source !== undefined);
  const engines = changed({ ...auto?.engines, ...saved?.engines, ...preset?.engines }, file?.engines);
  const chainOf = (stage: Stage): readonly PlannedEngine[] => {
    const byEnvironment = stage === 'llm' && settings.llmBaseUrl !== undefined ? [environmentEngine] : undefined;
    const configured = sources.map((source) => source[stage]).find((chain) => chain !== undefined);
    const named = settings[stage] ?? byEnvironment ?? configured;
    return (named ?? [embeddedKinds[stage]]).map((name) => findEngine(name, stage, engines, { settings, environment }));
  };
  const chains = { asr: chainOf('asr'), llm: chainOf('llm'), tts: chainOf('tts') };
  const turnDetector = turnDetectorOf(settings, sources);
  const notes = auto === undefined || settings.auto !== true ? [] : [autoNote(chains, turnDetector, auto.engines)];
  return {
    ...chains,
    omni: omniOf(omniNames(file, preset), engines, environment),
    turnDetector,
    references: resolved({ ...preset?.references, ...file?.references }, libraryVoice),
    libraryVoice,
    notes: preset === undefined ? notes : [...notesOn(preset), ...notes],
  };
}

/** Names of the omni models: those of the engines file; those of the preset only if the file names no recognizer. */
function omniNames(file: EnginesFile | undefined, preset: Preset | undefined): readonly string[] {
  return file?.omni ?? (file?.asr === undefined ? preset?.omni : undefined) ?? [];
}

/** Summary of the choices made by `--auto`. */
function autoNote(
  chains: Readonly<Record<Stage, readonly PlannedEngine[]>>,
  turnDetector: TurnDetection,
  installed: Readonly<Record<string, unknown>>,
): string {
  const parts = (Object.keys(chains) as Stage[]).map((stage) => {
    const name = chains[stage][0]?.name ?? '';
    const why =
      name in installed ? 'installed' : name === embeddedKinds[stage] ? 'embedded; none installed' : 'configured';
    return `${stage.toUpperCase()} ${name} (${why})`;
  });
  return `--auto: ${parts.join(', ')}, turn detector ${turnDetector.kind}. \`dramatis models list\` lists the models to install.`;
}

function notesOn({ title, needs, historical }: Preset): string[] {
  return [
    `${title} needs ${needs}`,
    ...historical.map(
      ({ model, ended, successor }) =>
        `${model} was discontinued on ${ended}; the preset uses its successor, ${successor}`,
    ),
  ];
}

function turnDetectorOf(
  { smartTurn, smartTurnHash }: PlanSettings,
  sources: readonly { readonly turnDetector?: TurnDetection | undefined }[],
): TurnDetection {
  if (smartTurn !== undefined) {
    return { kind: 'smart-turn', model: smartTurn, ...(smartTurnHash === undefined ? {} : { sha256: smartTurnHash }) };
  }
  return sources.map((source) => source.turnDetector).find((chosen) => chosen !== undefined) ?? { kind: 'prosody' };
}

type Engines = Readonly<Record<string, EngineSettings & { readonly kind: string }>>;

/** Merges the engines of two sources. An entry without a `kind` overrides settings of the preset's engine. */
function changed(
  base: Readonly<Record<string, EngineSettings>> = {},
  given: Readonly<Record<string, EngineSettings>> = {},
): Engines {
  const all = Object.entries({ ...base, ...given }).map(([name, settings]) => {
    const engine = settings.kind === undefined ? { ...base[name], ...settings } : settings;
    const { kind = base[name]?.kind } = engine;
    if (kind !== undefined) return [name, { ...engine, kind }] as const;
    throw new ConfigError(`The engine "${name}" has no "kind", and the preset has no engine of that name to change.`);
  });
  return Object.fromEntries(all);
}

/** Replaces library voice ids in the references by their clips. */
function resolved(
  references: EnginesFile['references'],
  libraryVoice: EnginePlan['libraryVoice'],
): Readonly<Record<string, Reference>> {
  return Object.fromEntries(
    Object.entries(references).map(([who, reference]) => [
      who,
      'wav' in reference ? reference : libraryVoice(reference.voice),
    ]),
  );
}

/** Name of the engine that `DRAMATIS_LLM_BASE_URL` and its companions configure. */
const environmentEngine = 'llm';

function findEngine(
  name: string,
  stage: Stage,
  engines: Engines,
  { settings, environment }: { readonly settings: PlanSettings; readonly environment: Environment },
): PlannedEngine {
  const known = Object.hasOwn(engines, name) ? engines[name] : undefined;
  if (known !== undefined) return planned(name, stage, known, environment);
  if (name === embeddedKinds[stage]) return { name, kind: name, settings: {}, callPolicy: {}, voices: {} };
  const { llmBaseUrl: baseUrl, llmModel: model, llmApiKey: key } = settings;
  if (stage === 'llm' && name === environmentEngine && baseUrl !== undefined) {
    const settingNames = { baseUrl: 'DRAMATIS_LLM_BASE_URL', model: 'DRAMATIS_LLM_MODEL', key: 'DRAMATIS_LLM_API_KEY' };
    return { name, kind: 'openai-chat', settings: { baseUrl, model }, key, callPolicy: {}, voices: {}, settingNames };
  }
  return fromShorthand(name, stage, engines);
}

/** Parses `KIND@URL#MODEL`: an engine without a file. */
function fromShorthand(text: string, stage: Stage, engines: Engines): PlannedEngine {
  const [, kind = '', url, model] = /^([^@#]+)(?:@([^#]*))?(?:#(.*))?$/.exec(text) ?? [];
  if (!Object.hasOwn(kindsOf[stage], kind)) {
    const named = [embeddedKinds[stage], ...Object.keys(engines)];
    throw new ConfigError(
      `There is no ${stage.toUpperCase()} engine "${text}". Use one of: ${named.join(', ')}, or KIND@URL#MODEL, where KIND is one of: ${Object.keys(kindsOf[stage]).join(', ')}.`,
    );
  }
  const settings = { ...(url === undefined ? {} : { baseUrl: url }), ...(model === undefined ? {} : { model }) };
  const place = `DRAMATIS_${stage.toUpperCase()}`;
  const settingNames = {
    baseUrl: `the URL in ${place}`,
    model: `the model in ${place}`,
    key: '"apiKeyEnv" in an engines file',
  };
  return { name: kind, kind, settings, callPolicy: {}, voices: {}, settingNames };
}

function omniOf(names: readonly string[], engines: Engines, environment: Environment): PlannedEngine[] {
  return names.map((name) => {
    const known = Object.hasOwn(engines, name) ? engines[name] : undefined;
    if (known !== undefined) return planned(name, 'omni', known, environment);
    throw new ConfigError(`"omni" names the engine "${name}", which does not exist. Add it to "engines".`);
  });
}

function planned(name: string, stage: Role, engine: Engines[string], environment: Environment): PlannedEngine {
  const { kind, apiKeyEnv, voices = {}, ...rest } = engine;
  if (!Object.hasOwn(kindsOf[stage], kind)) {
    throw new ConfigError(
      `The engine "${name}" has the unknown kind "${kind}". The kinds of ${stage === 'omni' ? 'omni models' : `${stage.toUpperCase()} engines`} are: ${Object.keys(kindsOf[stage]).join(', ')}.`,
    );
  }
  const policyNames = new Set(Object.keys(callPolicySchema.shape));
  const settings = Object.fromEntries(Object.entries(rest).filter(([key]) => !policyNames.has(key)));
  const { timeouts, concurrency, retries, failureCount, restMs, graceMs } = rest;
  const callPolicy: CallPolicy = { timeouts, concurrency, retries, failureCount, restMs, graceMs };
  const key = apiKeyEnv === undefined ? undefined : environment[apiKeyEnv] || undefined;
  return { name, kind, settings, callPolicy, key, keyVariable: apiKeyEnv, voices };
}
