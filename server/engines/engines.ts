import { availableParallelism } from 'node:os';
import type { ChatModel } from '../../agents/chat.ts';
import { openSharedEmbedder, type SharedEmbedder } from '../../agents/embeddings/shared-embedder.ts';
import type { Character } from '../../characters/character.ts';
import type { CallsHealth } from '../../voices/calls/calls.ts';
import type { EngineLoad } from '../../voices/runtime/worker-pool.ts';
import type { SpeechRecognizer } from '../../voices/recognizer.ts';
import type { SpeakerEncoder } from '../../voices/speaker-encoder.ts';
import type { SpeechSynthesizer, Voice } from '../../voices/synthesizer.ts';
import { openBuiltInDetector } from '../../voices/turn-detectors/built-in.ts';
import { openSmartTurn } from '../../voices/turn-detectors/smart-turn.ts';
import type { TurnDetector } from '../../voices/turn-detector.ts';
import { openEmbeddedVoices } from '../../voices/synthesizers/embedded.ts';
import { openSilero } from '../../voices/vads/silero.ts';
import type { Vad } from '../../voices/vad.ts';
import { openAligner, type Aligner, type Reference } from '../../voices/visemes/aligner.ts';
import type { Config } from '../config/config.ts';
import { watchExecution, type ExecutionReport } from '../../voices/onnx/execution.ts';
import { applyExecution, type ExecutionSettings } from './execution-plan.ts';
import { savedModels, type VoiceStage } from './chosen-models.ts';
import { planEngines, type EnginePlan, type PlanSettings } from './engine-plan.ts';
import { planIntactEngines } from './plan-intact.ts';
import { openEmbedder, type EmbedderSettings } from './open-embedder.ts';
import type { LlmConnection } from './connected-llm.ts';
import type { CostLog } from './open-planned.ts';
import { openRecognizerStage, openChatStage, openSynthesizerStage, openOmniStage } from './open-stages.ts';
import { openReplies } from './replies.ts';
import type { Responder } from '../session/contract/responder.ts';
import { openEncoder, type VoiceModelSettings } from './voice-models.ts';

/** Facts on which the choice of a voice depends. */
export type Speaking = Pick<Character, 'id' | 'voice' | 'speech'>;

/** The engines of a server, shared by all its sessions. */
export interface Engines {
  readonly vad: Vad;
  /** Decides whether a user who pauses has finished the turn. */
  readonly turnDetector: TurnDetector;
  readonly recognizer: SpeechRecognizer;
  /** Absent if none is loaded. */
  readonly speakerEncoder?: SpeakerEncoder;
  voiceOf(character: Speaking): { readonly synthesizer: SpeechSynthesizer; readonly voice: Voice };
  /** First chat model, for background work such as memory. Absent if replies come from retrieval only. */
  readonly chatModel?: ChatModel | undefined;
  /** Embedding index of memories and lines. Absent if no embedder is configured. */
  readonly embedder?: SharedEmbedder | undefined;
  /** The first LLM, and the host of its server. Absent if replies come from retrieval only. */
  readonly llm?: { readonly model: string; readonly host?: string | undefined } | undefined;
  /**
   * Replaces the LLM for conversations that are opened from then on; without a connection,
   * the one that the settings name. Conversations in progress keep theirs. Absent if the engines cannot be changed.
   */
  connectLlm?(connection: LlmConnection | undefined): Promise<void>;
  /**
   * Replaces the recognizer or the synthesizer by an installed catalogue model, in the same way; without an id, the
   * engine that the settings name. Throws an `EngineError` if the model does not work, and keeps the present engine.
   */
  useModel?(stage: VoiceStage, id: string | undefined, signal: AbortSignal): Promise<void>;
  /** Finds the shapes of the mouth in the speech of engines that report none. Its threads start when it is first needed. */
  readonly aligner?: Aligner;
  /** The responder of a character: recognizer, reply source and synthesizer. */
  responderFor(character: Character): Responder;
  /** Engine of each stage, with its execution provider and health. */
  readonly summary: readonly EngineSummary[];
  /** Notes about the preset, for the user. */
  readonly notes: readonly string[];
  /** Execution provider of each loaded local model. */
  readonly providers: Readonly<Record<string, string>>;
  /**
   * Loads the local models, so that the first turn is as fast as the next. Remote servers are contacted but not waited
   * for: they may be down and come back.
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
  /** Requests of the embedded engine at the moment, by its name. */
  readonly load?: Readonly<Record<string, EngineLoad>>;
  readonly health?: Readonly<Record<string, CallsHealth>>;
}

type EngineSettings = PlanSettings &
  VoiceModelSettings &
  ExecutionSettings &
  EmbedderSettings &
  Partial<Pick<Config, 'workers' | 'recipe' | 'cassette'>>;

/**
 * Opens the configured engines; the embedded ones if none is configured. Throws `ConfigError`. `log` receives the cost
 * of each call, `onExecution` the execution provider of each model.
 */
export async function openEngines(
  config: EngineSettings,
  log?: CostLog,
  onExecution?: (report: ExecutionReport) => void,
): Promise<Engines> {
  applyExecution(config);
  const workers = config.workers ?? Math.max(1, Math.floor(availableParallelism() / 2));
  const { plan, settings } = await planIntactEngines(config);
  // Must come before any engine is opened, because the speaker encoder is loaded at once.
  const execution = watchExecution(onExecution);
  const opened = openStages(plan, settings, workers, log).then((stages) => taped(stages, config.cassette));
  const { asr, llm, omnis, encoder, tts } = await opened.catch((fault: unknown) => {
    execution.close();
    throw fault;
  });
  const [vad, turnDetector, aligner] = [openSilero(), openTurnDetector(plan.turnDetector), openAligner(openReference)];
  // Without an LLM, retrieved texts would not be used.
  const hasModel = llm.models.length > 0 || omnis.name !== '';
  // Which texts are found by embedding depends on how soon the server answers, which a cassette cannot repeat.
  const embedder = hasModel && config.cassette === undefined ? embedderOf(config, log) : undefined;
  const replies = openReplies({ asr, llm, omnis, tts }, { plan, config, embedder, log });
  return {
    vad,
    turnDetector,
    get recognizer() {
      return replies.stages.asr.recognizer;
    },
    ...(encoder === undefined ? {} : { speakerEncoder: encoder }),
    get chatModel() {
      return replies.chatModel;
    },
    ...(embedder === undefined ? {} : { embedder }),
    voiceOf: (character) => replies.stages.tts.voiceOf(character),
    get llm() {
      return replies.llm;
    },
    connectLlm: (connection) => replies.connect(connection),
    async useModel(stage, id, signal) {
      const changed = { ...plan, [stage]: planWith(settings, stage, id)[stage] };
      const open = stage === 'asr' ? openRecognizerStage : openSynthesizerStage;
      await replies.useModel(stage, changed[stage][0]?.name, () => open(changed, workers, log), signal);
    },
    aligner,
    responderFor: (character) => replies.responderFor(character),
    notes: plan.notes,
    get providers() {
      return Object.fromEntries(execution.serving);
    },
    get summary() {
      return summaryOf({ vad, turnDetector, ...replies.stages }, execution.serving);
    },
    async warm(signal, characters = []) {
      replies.prepare([...characters]);
      await warmAll(signal, vad, [asr, llm, omnis, tts, turnDetector]);
    },
    async close() {
      execution.close();
      embedder?.close();
      const opened = [vad, turnDetector, encoder, aligner, replies, asr, llm, omnis, tts];
      for (const part of opened) await part?.close?.();
    },
  };
}

/** Opens the voice with which others are aligned: of the embedded ones, `rms` fits most others best. */
function openReference(): Reference {
  const voices = openEmbeddedVoices({ sampleRate: 16_000 });
  const reference = voices.forCharacter({ flite: { id: 'rms' }, espeak: { id: 'en' } });
  return { ...reference, close: () => voices.close() };
}

/** Plans the engines with an installed model for one stage; without an id, as the settings name them. */
function planWith(settings: PlanSettings, stage: VoiceStage, id: string | undefined): EnginePlan {
  const { dataDir = '', modelCatalogue } = settings;
  const chosen = { ...savedModels(dataDir), [stage]: id };
  return planEngines({ ...(id === undefined ? settings : { dataDir, modelCatalogue }), chosen });
}

async function warmAll(
  signal: AbortSignal,
  vad: Vad,
  parts: readonly { warm?(signal: AbortSignal): Promise<void> }[],
): Promise<void> {
  const stream = vad.open();
  // Waits for all of them even if one fails: terminating a thread that is in native code kills the whole process.
  const outcomes = await Promise.allSettled([
    stream.score(new Float32Array(vad.windowSamples)),
    ...parts.map((part) => part.warm?.(signal)),
  ]);
  stream.close();
  for (const part of outcomes) if (part.status === 'rejected') throw part.reason;
}

async function openStages(plan: EnginePlan, config: EngineSettings, workers: number, log: CostLog | undefined) {
  // Synthesizers come last: they start their threads at once, and these would leak if a later step failed.
  const asr = await openRecognizerStage(plan, workers, log);
  const llm = await openChatStage(plan, log);
  const omnis = await openOmniStage(plan, log);
  const encoder = await openEncoder(config, { signal: new AbortController().signal });
  const tts = await openSynthesizerStage(plan, workers, log).catch(async (fault: unknown) => {
    await encoder?.close();
    throw fault;
  });
  return { asr, llm, omnis, encoder, tts };
}

/** Puts the stages on a cassette, if there is one; closes them if it cannot be used. */
async function taped<Stages extends Awaited<ReturnType<typeof openStages>>>(
  stages: Stages,
  file: string | undefined,
): Promise<Stages> {
  if (file === undefined) return stages;
  const { onTape } = await import('../cassette/taped-stages.ts');
  try {
    return onTape(stages, file);
  } catch (fault) {
    const { asr, llm, omnis, encoder, tts } = stages;
    for (const part of [asr, llm, omnis, encoder, tts]) await part?.close();
    throw fault;
  }
}

interface EngineStages {
  readonly vad: Vad;
  readonly turnDetector: TurnDetector;
  readonly asr: Awaited<ReturnType<typeof openRecognizerStage>>;
  readonly llm: Awaited<ReturnType<typeof openChatStage>>;
  readonly omnis: Awaited<ReturnType<typeof openOmniStage>>;
  readonly tts: Awaited<ReturnType<typeof openSynthesizerStage>>;
}

/** Summary of the stages, in the order of a turn. */
function summaryOf(
  { vad, turnDetector, asr, llm, omnis, tts }: EngineStages,
  serving: ReadonlyMap<string, string>,
): readonly EngineSummary[] {
  const { name, languages } = asr.recognizer;
  return [
    { stage: 'vad', name: vad.name, provider: serving.get('silero') ?? 'cpu' },
    { stage: 'turns', name: turnDetector.name, ...providerOf(serving.get('smart-turn')) },
    { stage: 'recognizer', name, languages, ...asr.facts(), ...providerOf(serving.get('moonshine')) },
    ...(omnis.name === '' ? [] : [{ stage: 'omni', name: omnis.name, ...omnis.facts() } as const]),
    { stage: 'mind', name: llm.name, ...llm.facts() },
    { stage: 'synthesizer', name: tts.name, languages: tts.languages, ...tts.facts() },
  ];
}

/** Opens the embedding index; undefined if no embedder is configured. */
function embedderOf(config: EngineSettings, log: CostLog | undefined): SharedEmbedder | undefined {
  const embedder = openEmbedder(config, log);
  return embedder === undefined ? undefined : openSharedEmbedder(embedder);
}

function providerOf(provider: string | undefined): { readonly provider?: string } {
  return provider === undefined ? {} : { provider };
}

/** Opens the turn detector of a plan. Its model is loaded by `warm`, or on first use. */
export function openTurnDetector(chosen: EnginePlan['turnDetector']): TurnDetector & {
  warm?(signal: AbortSignal): Promise<void>;
  close?(): Promise<void>;
} {
  if (chosen.kind === 'prosody') return openBuiltInDetector();
  const { model: modelPath, sha256 } = chosen;
  return openSmartTurn({ modelPath, ...(sha256 === undefined ? {} : { sha256 }) });
}
