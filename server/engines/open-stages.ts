import type { ModelWithCircuit } from '../../agents/actor/open.ts';
import type { Character } from '../../characters/character.ts';
import type { EngineLoad } from '../../voices/runtime/worker-pool.ts';
import type { OmniModel } from '../../voices/omni.ts';
import { withSpeakingStyle } from '../../voices/text/speaking-style.ts';
import type { SpeechRecognizer } from '../../voices/recognizer.ts';
import { fallbackRecognizer } from '../../voices/recognition/fallback-recognizer.ts';
import { openMoonshine } from '../../voices/recognizers/moonshine.ts';
import type { SpeechSynthesizer, Voice } from '../../voices/synthesizer.ts';
import { openEmbeddedVoices } from '../../voices/synthesizers/embedded.ts';
import { fallbackSynthesizer, type SynthesizerVoice } from '../../voices/synthesis/fallback-synthesizer.ts';
import { embeddedKinds, type EnginePlan } from './engine-plan.ts';
import type { EngineSummary } from './engines.ts';
import {
  openChat,
  openOmni,
  openRecognizer,
  openSynthesizer,
  type CostLog,
  type OpenedEngine,
} from './open-planned.ts';
import { VoiceError } from '../../voices/library/record.ts';
import type { Reference } from './engines-file.ts';
import { omniVoiceOf, voiceOf } from './voice-of.ts';

/** Methods common to all stages: facts for the summary, and the engine lifecycle. */
interface StageLifecycle {
  facts(): Pick<EngineSummary, 'provider' | 'load' | 'health'>;
  warm(signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

/** Stage whose first engine can be tried before it serves: the chain would hide its failure. */
interface TestableStage {
  /** Loads the first engine, and lets a synthesizer say a word. Throws its `EngineError`. */
  tryOut(signal: AbortSignal): Promise<void>;
}

export interface RecognizerStage extends StageLifecycle, TestableStage {
  readonly recognizer: SpeechRecognizer;
}

/** The chat models. Without any, replies come from retrieval in the character's own lines. */
export interface ChatStage extends StageLifecycle {
  readonly name: string;
  readonly models: readonly ModelWithCircuit[];
}

export interface SynthesizerStage extends StageLifecycle, TestableStage {
  readonly name: string;
  readonly languages: readonly string[];
  voiceOf(character: Pick<Character, 'id' | 'voice' | 'speech'>): {
    readonly synthesizer: SpeechSynthesizer;
    readonly voice: Voice;
  };
}

/** The speech-to-speech models: none, or several, each the fallback of those before it. */
export interface OmniStage extends StageLifecycle {
  readonly name: string;
  castFor(character: Character): readonly { readonly model: OmniModel; readonly voice?: string | undefined }[];
}

export async function openRecognizerStage(
  { asr: planned }: EnginePlan,
  workers: number,
  log?: CostLog,
): Promise<RecognizerStage> {
  const served = planned.filter(({ kind }) => kind !== embeddedKinds.asr);
  const opened = await Promise.all(served.map((each) => openRecognizer(each, log)));
  const moonshine = served.length < planned.length ? openMoonshine({ workers }) : undefined;
  const chain = planned.flatMap(
    ({ name }) => opened.find((each) => each.planned.name === name)?.engine ?? moonshine ?? [],
  );
  return {
    recognizer: fallbackRecognizer(atLeastOne(chain)),
    tryOut: async (signal) => opened[0]?.engine.warm?.({ signal }),
    ...lifecycleOf(opened, moonshine),
  };
}

export async function openChatStage({ llm: planned }: EnginePlan, log?: CostLog): Promise<ChatStage> {
  // Retrieval is the last fallback in any case.
  const served = planned.filter(({ kind }) => kind !== embeddedKinds.llm);
  const opened = await Promise.all(served.map((each) => openChat(each, log)));
  return {
    name: [...opened.map(({ engine }) => engine.name), embeddedKinds.llm].join(', then '),
    models: opened.map(({ engine, calls }) => ({ model: engine, circuit: calls.circuit })),
    ...lifecycleOf(opened, undefined),
  };
}

export async function openSynthesizerStage(
  plan: EnginePlan,
  workers: number,
  log?: CostLog,
): Promise<SynthesizerStage> {
  const { tts: planned, references } = plan;
  const libraryVoice = quietly(plan.libraryVoice);
  const served = planned.filter(({ kind }) => kind !== embeddedKinds.tts);
  const opened = await Promise.all(served.map((each) => openSynthesizer(each, log)));
  const embedded = served.length < planned.length ? openEmbeddedVoices({ workers }) : undefined;
  const speakersFor = (character: Parameters<SynthesizerStage['voiceOf']>[0]): SynthesizerVoice[] =>
    planned.flatMap(({ name, voices }) => {
      const remote = opened.find((each) => each.planned.name === name);
      if (remote === undefined) return embedded?.forCharacter(character.voice) ?? [];
      const { clones } = remote;
      return { synthesizer: remote.engine, voice: voiceOf(character, { voices, references, clones, libraryVoice }) };
    });
  const all = planned.map(({ name }) => opened.find((each) => each.planned.name === name)?.engine ?? embedded);
  return {
    name: all.map((each) => each?.name).join(', then '),
    languages: [...new Set(all.flatMap((each) => each?.languages ?? []))],
    voiceOf(character) {
      const speakers = atLeastOne(speakersFor(character));
      const [{ synthesizer, voice }] = speakers;
      const speaker = speakers.length === 1 ? synthesizer : fallbackSynthesizer(speakers);
      return { synthesizer: withSpeakingStyle(speaker, character.speech), voice };
    },
    async tryOut(signal) {
      const [first] = opened;
      if (first === undefined) return;
      const { engine, clones } = first;
      const someone = { id: '*', voice: { gender: 'female', description: '' } } as const;
      const voice = voiceOf(someone, { voices: first.planned.voices, references, clones, libraryVoice });
      const [language = 'en'] = engine.languages.includes('en') ? ['en'] : engine.languages;
      const chunks = engine.speak(oneWord(language), { signal, voice, language });
      for await (const { frame } of chunks) if (frame.samples.length > 0) return;
    },
    ...lifecycleOf(opened, embedded),
  };
}

async function* oneWord(language: string): AsyncGenerator<{ text: string }> {
  yield { text: language === 'zh' ? '你好。' : 'Hello.' };
}

/**
 * Wraps the lookup so that a voice that does not exist here yields undefined: the character speaks as if it named none.
 */
function quietly(libraryVoice: EnginePlan['libraryVoice']): (id: string) => Reference | undefined {
  return (id) => {
    try {
      return libraryVoice(id);
    } catch (fault) {
      if (fault instanceof VoiceError) return undefined;
      throw fault;
    }
  };
}

export async function openOmniStage({ omni: planned }: EnginePlan, log?: CostLog): Promise<OmniStage> {
  const opened = await Promise.all(planned.map((each) => openOmni(each, log)));
  return {
    name: planned.map(({ name }) => name).join(', then '),
    castFor: (character) =>
      opened.map(({ engine, planned: { voices } }) => ({
        model: engine,
        voice: omniVoiceOf(character, voices),
      })),
    ...lifecycleOf(opened, undefined),
  };
}

/** The embedded engine of a stage. */
interface Embedded {
  readonly name: string;
  load(): EngineLoad;
  warm(signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

function lifecycleOf(opened: readonly OpenedEngine<unknown>[], embedded: Embedded | undefined): StageLifecycle {
  const gone = new AbortController();
  return {
    facts: () => ({
      ...(embedded === undefined ? {} : { provider: 'cpu', load: { [embedded.name]: embedded.load() } }),
      ...(opened.length === 0
        ? {}
        : { health: Object.fromEntries(opened.map(({ planned, calls }) => [planned.name, calls.health()])) }),
    }),
    async warm(signal) {
      // Not awaited: a server may be down and come back. Its first call will show that.
      for (const { engine } of opened) engine.warm?.({ signal: gone.signal }).catch(() => undefined);
      await embedded?.warm(signal);
    },
    async close() {
      gone.abort(new Error('the engines are closed'));
      await Promise.all([embedded?.close(), ...opened.map(({ engine }) => engine.close?.())]);
    },
  };
}

/** Asserts that a plan names at least one engine for a stage. */
function atLeastOne<Item>(items: readonly Item[]): readonly [Item, ...Item[]] {
  const [first, ...others] = items;
  if (first === undefined) throw new Error('no engine for this stage');
  return [first, ...others];
}
