import type { ChatModel } from '../../../agents/chat.ts';
import type { Embedder } from '../../../agents/embeddings/embedder.ts';
import { longestWaitMs } from '../../../agents/embeddings/shared-embedder.ts';
import type { Character } from '../../../characters/character.ts';
import { EngineError } from '../../../voices/engine.ts';
import type { OmniModel } from '../../../voices/omni.ts';
import type { SpeechRecognizer } from '../../../voices/recognizer.ts';
import type { SpeechSynthesizer } from '../../../voices/synthesizer.ts';
import { ConfigError } from '../../config/config.ts';
import { embeddedKinds, type EnginePlan, type PlannedEngine, type Stage } from '../../engines/engine-plan.ts';
import { openChat, openOmni, openRecognizer, openSynthesizer, type OpenedEngine } from '../../engines/open-planned.ts';
import { openEmbedder, type EmbedderSettings } from '../../engines/open-embedder.ts';
import { omniVoiceOf, voiceOf } from '../../engines/voice-of.ts';
import { openTurnDetector } from '../../engines/engines.ts';

/** Result of checking one configured engine. */
export interface EngineFinding {
  /** Display name of the stage. */
  readonly stage: string;
  readonly name: string;
  readonly ok: boolean;
  /** One line: what works, or what is wrong and how to fix it. */
  readonly says: string;
}

const checkTimeoutMs = 60_000;

/**
 * Checks every planned engine that is not embedded: reachable, model available, and able to do a small piece of work.
 */
export async function checkPlannedEngines(plan: EnginePlan, character: Character): Promise<EngineFinding[]> {
  const cascade = (['asr', 'llm', 'tts'] as const).flatMap((stage) =>
    plan[stage].filter(({ kind }) => kind !== embeddedKinds[stage]).map((planned) => ({ stage, planned })),
  );
  const omnis = plan.omni.map((planned) => ({ stage: 'omni' as const, planned }));
  const tasks = [...cascade, ...omnis].map(({ stage, planned }) =>
    // A high failure count keeps the circuit breaker closed, so that the check reports the actual error.
    find(titles[stage], planned, () =>
      trials[stage]({ ...planned, callPolicy: { ...planned.callPolicy, failureCount: 100 } }, plan, character),
    ),
  );
  return Promise.all([...tasks, ...checkTurnDetector(plan)]);
}

/** Checks the embedding server, if one is configured. */
export async function checkEmbeddings(config: EmbedderSettings): Promise<EngineFinding[]> {
  const engine = openEmbedder(config);
  if (engine === undefined) return [];
  const trial = (): Promise<string> => tried({ engine, clones: false }, embed);
  return [await find('embeddings', { name: engine.model, kind: 'openai-embeddings' }, trial)];
}

const titles: Readonly<Record<Stage | 'omni', string>> = { asr: 'ASR', llm: 'LLM', tts: 'TTS', omni: 'omni' };

type Trial = (planned: PlannedEngine, plan: EnginePlan, character: Character) => Promise<string>;

const trials: Readonly<Record<Stage | 'omni', Trial>> = {
  asr: async (planned) => tried(await openRecognizer(planned), listen),
  llm: async (planned) => tried(await openChat(planned), think),
  tts: async (planned, { references, libraryVoice }, character) =>
    tried(await openSynthesizer(planned), (engine, signal, clones) =>
      speak(engine, signal, voiceOf(character, { voices: planned.voices, references, clones, libraryVoice })),
    ),
  omni: async (planned, _plan, character) =>
    tried(await openOmni(planned), (engine, signal) => answer(engine, signal, omniVoiceOf(character, planned.voices))),
};

/** Checks the turn detector, unless it is the built-in one. */
function checkTurnDetector({ turnDetector }: EnginePlan): Promise<EngineFinding>[] {
  if (turnDetector.kind === 'prosody') return [];
  const detector = openTurnDetector(turnDetector);
  const load = async (): Promise<string> => {
    try {
      await detector.warm?.(AbortSignal.timeout(checkTimeoutMs));
      return 'its weights load';
    } finally {
      await detector.close?.();
    }
  };
  return [find('turn detector', { name: detector.name, kind: turnDetector.kind }, load)];
}

async function find(
  stage: EngineFinding['stage'],
  { name, kind }: Pick<PlannedEngine, 'name' | 'kind'>,
  trial: () => Promise<string>,
): Promise<EngineFinding> {
  try {
    return { stage, name, ok: true, says: `${kind}: ${await trial()}` };
  } catch (fault) {
    const known =
      fault instanceof EngineError ? fault.detail : fault instanceof ConfigError ? fault.message : undefined;
    const says = known ?? (fault instanceof Error ? fault.message : String(fault));
    return { stage, name, ok: false, says: `${kind}: ${says.split('\n')[0]}` };
  }
}

/** Runs the engine's own check first: a server that reports what it lacks gives a better message than a failed call. */
async function tried<Engine>(
  { engine, clones }: Pick<OpenedEngine<Engine>, 'engine' | 'clones'>,
  work: (engine: Engine, signal: AbortSignal, clones: boolean) => Promise<string>,
): Promise<string> {
  const signal = AbortSignal.timeout(checkTimeoutMs);
  try {
    const looks = await engine.check?.({ signal });
    const startMs = performance.now();
    const works = await work(engine, signal, clones);
    return [looks, `${works} after ${(performance.now() - startMs).toFixed(0)} ms`].filter(Boolean).join('; ');
  } finally {
    await engine.close?.();
  }
}

/** One second of noise; the transcript does not matter. */
function noiseAt(sampleRate: number): Float32Array {
  return Float32Array.from({ length: sampleRate }, () => 0.1 * (Math.random() - 0.5));
}

async function listen(engine: SpeechRecognizer, signal: AbortSignal): Promise<string> {
  const frame = { sampleRate: engine.sampleRate, atMs: 0, voiced: true };
  async function* noise(): AsyncGenerator<typeof frame & { samples: Float32Array }> {
    yield { ...frame, samples: noiseAt(engine.sampleRate) };
  }
  await Array.fromAsync(engine.transcribe(noise(), { signal }));
  return 'transcribes';
}

async function think(engine: ChatModel, signal: AbortSignal): Promise<string> {
  for await (const part of engine.chat([{ role: 'user', text: 'Say yes.' }], { signal, maxTokens: 8 })) {
    if (part.type === 'text-delta') break;
  }
  return 'answers';
}

async function speak(
  engine: SpeechSynthesizer,
  signal: AbortSignal,
  voice: ReturnType<typeof voiceOf>,
): Promise<string> {
  async function* phrases(): AsyncGenerator<{ text: string }> {
    yield { text: 'Good evening, my friend.' };
  }
  for await (const _chunk of engine.speak(phrases(), { signal, voice })) break;
  return voice.kind === 'reference' ? 'synthesizes with a cloned voice' : 'synthesizes';
}

/** Embeds once to load the model, then once more to measure the latency in a conversation. */
async function embed(engine: Embedder, signal: AbortSignal): Promise<string> {
  const [first] = await engine.embed(['Good evening, my friend.'], { signal });
  const startMs = performance.now();
  const [second] = await engine.embed(['晚上好，我的朋友。'], { signal });
  const tookMs = performance.now() - startMs;
  for (const point of [first, second])
    if (point?.some((value) => value !== 0) !== true)
      throw new EngineError(engine.name, 'ENGINE_BAD_REPLY', 'it returns only zeros. Use another model.');
  const wait = `a reply waits at most ${longestWaitMs} ms`;
  const pace = tookMs > longestWaitMs ? `too slow for a conversation: ${wait}, then uses keywords only` : wait;
  return `${first?.length ?? 0} dimensions, one text in ${tookMs.toFixed(0)} ms (${pace}); both texts`;
}

/** Reads the whole answer, because only its end shows that a model produced no audio. */
async function answer(engine: OmniModel, signal: AbortSignal, voice: string | undefined): Promise<string> {
  const sound = { samples: noiseAt(16_000), sampleRate: 16_000 };
  const messages = [
    { role: 'system', text: 'Answer with one word.' },
    { role: 'user', text: '', sound },
  ] as const;
  await Array.fromAsync(engine.reply(messages, { signal, voice, speaks: true, maxTokens: 200 }));
  return 'replies with speech';
}
