import type { ChatModel } from '../../../agents/chat.ts';
import type { Embedder } from '../../../agents/embeddings/embedder.ts';
import { longestWaitMs } from '../../../agents/embeddings/shared-embedder.ts';
import type { Character } from '../../../characters/character.ts';
import { concatSamples, type AudioFrame } from '../../../voices/audio.ts';
import { EngineError } from '../../../voices/engine.ts';
import type { OmniModel } from '../../../voices/omni.ts';
import type { SpeechRecognizer } from '../../../voices/recognizer.ts';
import type { SpeechSynthesizer } from '../../../voices/synthesizer.ts';
import { openEmbeddedVoices } from '../../../voices/synthesizers/embedded.ts';
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
/** Quieter speech cannot be heard. */
const audiblePeak = 0.003;

/**
 * Checks the turn detector and every planned engine that is not embedded: reachable, model available, and able to do
 * what a conversation needs. A recognizer must hear words in speech; a synthesizer must speak a phrase to its end.
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
  return Promise.all([...tasks, checkTurnDetector(plan)]);
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
    tried(await openSynthesizer(planned), (engine, signal, timing, clones) =>
      speak(engine, signal, voiceOf(character, { voices: planned.voices, references, clones, libraryVoice }), timing),
    ),
  omni: async (planned, _plan, character) =>
    tried(await openOmni(planned), (engine, signal, timing) =>
      answer(engine, signal, omniVoiceOf(character, planned.voices), timing),
    ),
};

/** Checks the turn detector that decides: its model must load and judge a pause. */
function checkTurnDetector({ turnDetector }: EnginePlan): Promise<EngineFinding> {
  const detector = openTurnDetector(turnDetector);
  const judge = async (): Promise<string> => {
    const signal = AbortSignal.timeout(checkTimeoutMs);
    try {
      await detector.warm?.(signal);
      const startMs = performance.now();
      await detector.endOfTurnProbability(pause, { signal, text: 'and then I' });
      return `decides when a turn is over, within ${Math.ceil(performance.now() - startMs)} ms of a pause`;
    } finally {
      await detector.close?.();
    }
  };
  return find('turn detector', { name: detector.name, kind: turnDetector.kind }, judge);
}

const pause = { samples: new Float32Array(16_000), sampleRate: 16_000, atMs: 0 };

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

/** Start of the work that is timed, and its first result. */
interface Timing {
  startMs: number;
  firstMs?: number;
}

/** Runs the engine's own check first: a server that reports what it lacks gives a better message than a failed call. */
async function tried<Engine>(
  { engine, clones }: Pick<OpenedEngine<Engine>, 'engine' | 'clones'>,
  work: (engine: Engine, signal: AbortSignal, timing: Timing, clones: boolean) => Promise<string>,
): Promise<string> {
  const signal = AbortSignal.timeout(checkTimeoutMs);
  try {
    const looks = await engine.check?.({ signal });
    const timing: Timing = { startMs: performance.now() };
    const works = await work(engine, signal, timing, clones);
    const tookMs = (timing.firstMs ?? performance.now()) - timing.startMs;
    return [looks, `${works} after ${tookMs.toFixed(0)} ms`].filter(Boolean).join('; ');
  } finally {
    await engine.close?.();
  }
}

/** Two words that an engine of these languages can hear or say. */
function greetingIn(languages: readonly string[]): { readonly text: string; readonly language: string } {
  const isChinese = languages.length > 0 && !languages.includes('en') && languages.includes('zh');
  return isChinese ? { text: '晚上好。', language: 'zh' } : { text: 'Good evening.', language: 'en' };
}

/** A second of speech by an embedded TTS. */
async function spokenGreeting(languages: readonly string[], sampleRate: number, signal: AbortSignal) {
  const { text, language } = greetingIn(languages);
  const voices = openEmbeddedVoices({ workers: 1, sampleRate });
  try {
    const { synthesizer, voice } = voices.forCharacter({});
    const chunks = await Array.fromAsync(synthesizer.speak(phrases(text), { signal, voice, language }));
    return { text, samples: concatSamples(chunks.map(({ frame }) => frame.samples)) };
  } finally {
    await voices.close();
  }
}

async function* phrases(text: string): AsyncGenerator<{ text: string }> {
  yield { text };
}

async function listen(engine: SpeechRecognizer, signal: AbortSignal, timing: Timing): Promise<string> {
  const { sampleRate, languages } = engine;
  const { text, samples } = await spokenGreeting(languages, sampleRate, signal);
  const blockSamples = Math.round(sampleRate * 0.032);
  async function* frames(): AsyncGenerator<AudioFrame> {
    for (let at = 0; at < samples.length; at += blockSamples)
      yield { samples: samples.slice(at, at + blockSamples), sampleRate, atMs: (at * 1000) / sampleRate, voiced: true };
  }
  timing.startMs = performance.now();
  const heard = (await Array.fromAsync(engine.transcribe(frames(), { signal }))).at(-1)?.text.trim() ?? '';
  if (heard !== '') return `hears “${heard}” in “${text}”`;
  const detail = `it recognized no word in “${text}”, spoken clearly. Check its model and its languages.`;
  throw new EngineError(engine.name, 'ENGINE_BAD_REPLY', detail);
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
  timing: Timing,
): Promise<string> {
  const { text, language } = greetingIn(engine.languages);
  let peak = 0;
  for await (const { frame } of engine.speak(phrases(text), { signal, voice, language })) {
    timing.firstMs ??= performance.now();
    peak = frame.samples.reduce((most, value) => Math.max(most, Math.abs(value)), peak);
  }
  if (peak < audiblePeak) {
    const detail = `it returned silence for “${text}”. Check its log, and the voice.`;
    throw new EngineError(engine.name, 'ENGINE_BAD_REPLY', detail);
  }
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
async function answer(
  engine: OmniModel,
  signal: AbortSignal,
  voice: string | undefined,
  timing: Timing,
): Promise<string> {
  const sampleRate = 16_000;
  const { samples } = await spokenGreeting([], sampleRate, signal);
  const sound = { samples, sampleRate };
  timing.startMs = performance.now();
  const messages = [
    { role: 'system', text: 'Answer with one word.' },
    { role: 'user', text: '', sound },
  ] as const;
  await Array.fromAsync(engine.reply(messages, { signal, voice, speaks: true, maxTokens: 200 }));
  return 'replies with speech';
}
