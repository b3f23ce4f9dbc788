import { availableParallelism } from 'node:os';
import type { ChatModel } from '../../agents/chat.ts';
import { openMeanings, type Meanings } from '../../agents/embeddings/embedding-index.ts';
import { openMeaning, type FindNear } from '../../agents/prompting/meaning.ts';
import { gated, openMind } from '../../agents/actor/open.ts';
import type { Character } from '../../characters/character.ts';
import type { CallsHealth } from '../../voices/calls/calls.ts';
import type { SpeechRecognizer } from '../../voices/recognizer.ts';
import type { SpeakerEncoder } from '../../voices/speaker-encoder.ts';
import type { SpeechSynthesizer, Voice } from '../../voices/synthesizer.ts';
import { openProsody } from '../../voices/turn-detectors/prosody.ts';
import { openSmartTurn } from '../../voices/turn-detectors/smart-turn.ts';
import type { TurnDetector } from '../../voices/turn-detector.ts';
import { openSilero } from '../../voices/vads/silero.ts';
import type { Vad } from '../../voices/vad.ts';
import type { Config } from '../config/config.ts';
import { watchExecution, type ExecutionReport } from '../../voices/onnx/execution.ts';
import { applyExecution, type ExecutionSettings } from './execution-plan.ts';
import type { EnginePlan, PlanSettings } from './engine-plan.ts';
import { planWhole } from './plan-whole.ts';
import { openEmbedder, type EmbedderSettings } from './open-embedder.ts';
import type { CostLog } from './open-planned.ts';
import { openEar, openModels, openMouth, openOmnis } from './open-stages.ts';
import { omniResponder } from '../responders/omni-responder.ts';
import { sceneResponder } from '../responders/scene-responder.ts';
import { cascade, type Responder } from '../responders/responder.ts';
import { openEncoder, type VoiceModelSettings } from './voice-models.ts';

/** The engines of one server, shared by all its sessions. */
export interface Engines {
  readonly vad: Vad;
  /** Tells whether a user who pauses has finished. */
  readonly turnDetector: TurnDetector;
  readonly recognizer: SpeechRecognizer;
  /** Tells voices apart; absent where none is loaded. */
  readonly speakerEncoder?: SpeakerEncoder;
  /** The character's voice, and what speaks with it. */
  voiceOf(character: Character): { readonly synthesizer: SpeechSynthesizer; readonly voice: Voice };
  /** The first chat model, for what is thought over beside the talks; absent where minds speak their packs' lines. */
  readonly chatModel?: ChatModel | undefined;
  /** Of what is remembered and said; absent where no embedder is configured. */
  readonly meanings?: Meanings | undefined;
  /** What hears, thinks and speaks as a character. */
  responderFor(character: Character): Responder;
  /** Which engine serves each stage, on what, and how it fares. */
  readonly summary: readonly EngineSummary[];
  /** What the user should know about the preset. */
  readonly notes: readonly string[];
  /** What runs each local model that is loaded. */
  readonly providers: Readonly<Record<string, string>>;
  /**
   * Loads the models, so that the first turn is as fast as the next. Servers are woken up, but not waited for: they may be down
   * and come back.
   */
  warm(signal: AbortSignal, characters?: Iterable<Character>): Promise<void>;
  close(): Promise<void>;
}

export interface EngineSummary {
  readonly stage: 'vad' | 'turns' | 'recognizer' | 'omni' | 'mind' | 'synthesizer';
  readonly name: string;
  readonly languages?: readonly string[];
  /** Execution provider of a local model. */
  readonly provider?: string;
  /** Of the engines behind servers, by name. */
  readonly health?: Readonly<Record<string, CallsHealth>>;
}

type EngineSettings = PlanSettings &
  VoiceModelSettings &
  ExecutionSettings &
  EmbedderSettings &
  Partial<Pick<Config, 'workers' | 'recipe'>>;

/** Opens what the configuration asks for; without any, the embedded engines. Throws `ConfigError`. `log` gets the cost of each call, `onExecution` what runs each model. */
export async function openEngines(
  config: EngineSettings,
  log?: CostLog,
  onExecution?: (report: ExecutionReport) => void,
): Promise<Engines> {
  applyExecution(config);
  const workers = config.workers ?? Math.max(1, Math.floor(availableParallelism() / 2));
  const { plan, settings } = await planWhole(config);
  // Before anything is opened: the speaker encoder is loaded at once.
  const execution = watchExecution(onExecution);
  const { serving } = execution;
  const { ear, mind, omnis, encoder, mouth } = await openStages(plan, settings, workers, log).catch(
    (fault: unknown) => {
      execution.close();
      throw fault;
    },
  );
  const parts = [ear, mind, omnis, mouth];
  const vad = openSilero();
  const turnDetector = openTurnDetector(plan.turns);
  // Without a model nothing is told of what is found.
  const isTold = mind.models.length > 0 || omnis.name !== '';
  const meanings = isTold ? meaningsOf(config, log) : undefined;
  const thinkAs = openMind(mind.models, config.recipe, meanings);
  return {
    vad,
    turnDetector,
    recognizer: ear.recognizer,
    ...(encoder === undefined ? {} : { speakerEncoder: encoder }),
    chatModel: mind.models[0] && gated(mind.models[0]),
    ...(meanings === undefined ? {} : { meanings }),
    voiceOf: (character) => mouth.voiceOf(character),
    responderFor: respondersOf({ ear, mind, omnis, mouth }, thinkAs, meanings),
    notes: plan.notes,
    get providers() {
      return Object.fromEntries(serving);
    },
    get summary() {
      return summaryOf({ vad, turnDetector, ear, mind, omnis, mouth }, serving);
    },
    async warm(signal, characters = []) {
      // A mind indexes its character's lines when it is made: not in somebody's first turn.
      for (const character of characters) thinkAs(character);
      const stream = vad.open();
      // All are waited for, also where one fails: a thread that is ended in native code takes the whole process along.
      const warmed = await Promise.allSettled([
        stream.score(new Float32Array(vad.windowSamples)),
        turnDetector.warm?.(signal),
        ...parts.map((part) => part.warm(signal)),
      ]);
      stream.close();
      for (const part of warmed) if (part.status === 'rejected') throw part.reason;
    },
    async close() {
      execution.close();
      meanings?.close();
      await Promise.all([vad.close(), turnDetector.close?.(), encoder?.close(), ...parts.map((part) => part.close())]);
    },
  };
}

/** What the stages are made of. */
async function openStages(plan: EnginePlan, config: EngineSettings, workers: number, log: CostLog | undefined) {
  // In this order: the voices start their threads at once, which nobody would end if something after them failed.
  const ear = await openEar(plan, workers, log);
  const mind = await openModels(plan, log);
  const omnis = await openOmnis(plan, log);
  const encoder = await openEncoder(config, { signal: new AbortController().signal });
  const mouth = await openMouth(plan, workers, log).catch(async (fault: unknown) => {
    await encoder?.close();
    throw fault;
  });
  return { ear, mind, omnis, encoder, mouth };
}

/**
 * Who answers as a character: made when it is asked for first, and by the character itself: one that was edited is another. What
 * hears and speaks by itself keeps the sound of a user, so each session has one of its own.
 */
function respondersOf(
  { ear, mind, omnis, mouth }: Pick<OpenedStages, 'ear' | 'mind' | 'omnis' | 'mouth'>,
  thinkAs: ReturnType<typeof openMind>,
  meanings: Meanings | undefined,
): (character: Character) => Responder {
  const known = new WeakMap<Character, { readonly responder: Responder; readonly meaning?: FindNear | undefined }>();
  const { recognizer } = ear;
  const playedBy = (character: Character): Responder =>
    cascade({ ...mouth.voiceOf(character), recognizer, agent: thinkAs(character), greetings: character.greetings });
  const made = (character: Character) => {
    const { stage } = character;
    if (stage !== undefined)
      return { responder: sceneResponder({ stage, responderOf: playedBy, model: mind.models[0]?.model }) };
    const meaning = meanings === undefined || omnis.name === '' ? undefined : openMeaning(character, meanings);
    return { responder: playedBy(character), meaning };
  };
  return (character) => {
    const one = known.get(character) ?? made(character);
    known.set(character, one);
    const { responder, meaning } = one;
    const cast = character.stage === undefined ? omnis.castFor(character) : [];
    return cast.reduceRight<Responder>(
      (backup, each) => omniResponder({ ...each, character, recognizer, backup, meaning }),
      responder,
    );
  };
}

interface OpenedStages {
  readonly vad: Vad;
  readonly turnDetector: TurnDetector;
  readonly ear: Awaited<ReturnType<typeof openEar>>;
  readonly mind: Awaited<ReturnType<typeof openModels>>;
  readonly omnis: Awaited<ReturnType<typeof openOmnis>>;
  readonly mouth: Awaited<ReturnType<typeof openMouth>>;
}

/** The stages, in the order of a turn. */
function summaryOf(
  { vad, turnDetector, ear, mind, omnis, mouth }: OpenedStages,
  serving: ReadonlyMap<string, string>,
): readonly EngineSummary[] {
  const { name, languages } = ear.recognizer;
  return [
    { stage: 'vad', name: vad.name, provider: serving.get('silero') ?? 'cpu' },
    { stage: 'turns', name: turnDetector.name, ...providerOf(serving.get('smart-turn')) },
    { stage: 'recognizer', name, languages, ...ear.facts(), ...providerOf(serving.get('moonshine')) },
    ...(omnis.name === '' ? [] : [{ stage: 'omni', name: omnis.name, ...omnis.facts() } as const]),
    { stage: 'mind', name: mind.name, ...mind.facts() },
    { stage: 'synthesizer', name: mouth.name, languages: mouth.languages, ...mouth.facts() },
  ];
}

/** What finds meanings; undefined where none is configured. */
function meaningsOf(config: EngineSettings, log: CostLog | undefined): Meanings | undefined {
  const embedder = openEmbedder(config, log);
  return embedder === undefined ? undefined : openMeanings(embedder);
}

function providerOf(provider: string | undefined): { readonly provider?: string } {
  return provider === undefined ? {} : { provider };
}

/** Opens the turn detector of a plan; its model is loaded when it is warmed, or first asked. */
export function openTurnDetector(turns: EnginePlan['turns']): TurnDetector & {
  warm?(signal: AbortSignal): Promise<void>;
  close?(): Promise<void>;
} {
  if (turns.kind === 'prosody') return openProsody();
  const { model: modelPath, sha256 } = turns;
  return openSmartTurn({ modelPath, ...(sha256 === undefined ? {} : { sha256 }) });
}
