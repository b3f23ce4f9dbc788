import type { Character } from '../../characters/character.ts';
import { gated, openAgents } from '../../agents/actor/open.ts';
import type { SharedEmbedder } from '../../agents/embeddings/shared-embedder.ts';
import { openPackSearch, type FindPackMatches } from '../../agents/prompting/pack-search.ts';
import type { RecipeName } from '../../agents/recipe-names.ts';
import { openSpeechCache } from '../../voices/synthesis/speech-cache.ts';
import { omniResponder } from '../responders/omni-responder.ts';
import { cascade } from '../responders/responder.ts';
import { sceneResponder } from '../responders/scene-responder.ts';
import type { Responder } from '../session/contract/responder.ts';
import type { VoiceStage } from './chosen-models.ts';
import { planConnection, savedConnection, type LlmConnection } from './connected-llm.ts';
import type { EnginePlan } from './engine-plan.ts';
import type { CostLog } from './open-planned.ts';
import {
  openChatStage,
  type ChatStage,
  type OmniStage,
  type RecognizerStage,
  type SynthesizerStage,
} from './open-stages.ts';

/** The stages that make a reply. */
interface ReplyStages {
  readonly asr: RecognizerStage;
  readonly llm: ChatStage;
  readonly omnis: OmniStage;
  readonly tts: SynthesizerStage;
}

interface ReplySettings {
  readonly plan: EnginePlan;
  readonly config: { readonly recipe?: RecipeName | undefined; readonly dataDir?: string | undefined };
  readonly embedder: SharedEmbedder | undefined;
  readonly log: CostLog | undefined;
}

/**
 * Opens the responders of all characters on the engines of the plan. Others can take their place for later conversations;
 * those in progress keep theirs, so a replaced one stays open until the engines are closed.
 */
export function openReplies(stages: ReplyStages, { plan, config, embedder, log }: ReplySettings) {
  const thinkWith = (stage: ChatStage, planned: EnginePlan['llm']) => {
    return { stage, planned, agentFor: openAgents(stage.models, config.recipe, embedder) };
  };
  const configured = thinkWith(stages.llm, plan.llm);
  const saved = savedConnection(config.dataDir)?.llm?.[0];
  const replaced = new Set<{ close(): Promise<void> }>();
  let mind = configured;
  let current = stages;
  const compose = () => respondersOf({ ...current, llm: mind.stage }, mind.agentFor, embedder);
  let responderFor = compose();
  let prepared: readonly Character[] = [];
  /** Stages that were opened for models, by stage and id: each is opened once. */
  const known = new Map<string, ReplyStages[VoiceStage]>([
    [keyOf('asr', plan.asr[0]?.name), stages.asr],
    [keyOf('tts', plan.tts[0]?.name), stages.tts],
  ]);
  return {
    /** The stages of conversations that are opened from now on. */
    get stages() {
      return { ...current, llm: mind.stage };
    },
    get chatModel() {
      const [first] = mind.stage.models;
      return first && gated(first);
    },
    get llm() {
      return firstLlm(mind);
    },
    responderFor: (character: Character) => responderFor(character),
    /** Makes the agents of characters: each indexes its lines, which would delay a first turn. */
    prepare(characters: readonly Character[]) {
      prepared = characters;
      for (const character of characters) mind.agentFor(character);
    },
    /** See `Engines.connectLlm`. */
    async connect(connection: LlmConnection | undefined) {
      const planned =
        connection === undefined ? plan.llm.filter(({ name }) => name !== saved) : [planConnection(connection)];
      const isBack = connection === undefined && planned.length === plan.llm.length;
      const next = isBack ? configured : thinkWith(await openChatStage({ ...plan, llm: planned }, log), planned);
      for (const character of prepared) next.agentFor(character);
      if (!isBack) replaced.add(next.stage);
      mind = next;
      responderFor = compose();
    },
    /** See `Engines.useModel`. `name` is that of the first engine of the stage that `open` opens. */
    async useModel(
      stage: VoiceStage,
      name: string | undefined,
      open: () => Promise<ReplyStages[VoiceStage]>,
      signal: AbortSignal,
    ) {
      const next = known.get(keyOf(stage, name)) ?? (await openTested(open, signal));
      if (!known.has(keyOf(stage, name))) replaced.add(next);
      known.set(keyOf(stage, name), next);
      current = { ...current, [stage]: next };
      responderFor = compose();
    },
    async close() {
      await Promise.all([...replaced].map((stage) => stage.close()));
    },
  };
}

/** Opens a stage that has proved to work. */
async function openTested(
  open: () => Promise<ReplyStages[VoiceStage]>,
  signal: AbortSignal,
): Promise<ReplyStages[VoiceStage]> {
  const stage = await open();
  try {
    await stage.tryOut(signal);
    return stage;
  } catch (fault) {
    await stage.close();
    throw fault;
  }
}

function keyOf(stage: VoiceStage, name: string | undefined): string {
  return `${stage} ${name ?? ''}`;
}

/** The LLM that is asked first, with the host of its server. */
function firstLlm({
  stage,
  planned,
}: {
  readonly stage: ChatStage;
  readonly planned: EnginePlan['llm'];
}): { readonly model: string; readonly host?: string | undefined } | undefined {
  const [first] = stage.models;
  if (first === undefined) return undefined;
  const { baseUrl, model } = planned[0]?.settings ?? {};
  return {
    model: typeof model === 'string' ? model : first.model.name,
    host: typeof baseUrl === 'string' ? URL.parse(baseUrl)?.hostname : undefined,
  };
}

/**
 * Makes the responders of characters, each on first use. Cached by the character object, so an edited character gets a
 * new one. An omni model keeps the user's audio: each session gets its own.
 */
function respondersOf(
  { asr, llm, omnis, tts }: ReplyStages,
  agentFor: ReturnType<typeof openAgents>,
  embedder: SharedEmbedder | undefined,
): (character: Character) => Responder {
  const known = new WeakMap<
    Character,
    { readonly responder: Responder; readonly findByEmbedding?: FindPackMatches | undefined }
  >();
  const { recognizer } = asr;
  const speechCache = openSpeechCache();
  const playedBy = (character: Character): Responder => {
    const { greetings } = character;
    return cascade({ ...tts.voiceOf(character), recognizer, agent: agentFor(character), greetings, speechCache });
  };
  const made = (character: Character) => {
    const { stage } = character;
    if (stage !== undefined)
      return { responder: sceneResponder({ stage, responderOf: playedBy, model: llm.models[0]?.model }) };
    const findByEmbedding =
      embedder === undefined || omnis.name === '' ? undefined : openPackSearch(character, embedder);
    return { responder: playedBy(character), findByEmbedding };
  };
  return (character) => {
    const one = known.get(character) ?? made(character);
    known.set(character, one);
    const { responder, findByEmbedding } = one;
    const cast = character.stage === undefined ? omnis.castFor(character) : [];
    return cast.reduceRight<Responder>(
      (backup, each) => omniResponder({ ...each, character, recognizer, backup, findByEmbedding }),
      responder,
    );
  };
}
