import { availableParallelism } from 'node:os';
import { openMind } from '../agents/open.ts';
import type { Character } from '../characters/character.ts';
import type { CallsHealth } from '../voices/calls/calls.ts';
import type { SpeechRecognizer } from '../voices/recognizer.ts';
import type { SpeakerEncoder } from '../voices/speaker-encoder.ts';
import type { SpeechSynthesizer, Voice } from '../voices/synthesizer.ts';
import { openProsody } from '../voices/turn-detectors/prosody.ts';
import { openSmartTurn } from '../voices/turn-detectors/smart-turn.ts';
import type { TurnDetector } from '../voices/turn-detector.ts';
import { openSilero } from '../voices/vads/silero.ts';
import type { Vad } from '../voices/vad.ts';
import type { Config } from './config.ts';
import { planEngines, type EnginePlan, type PlanSettings } from './engine-config/engine-plan.ts';
import type { CostLog } from './engine-config/open-planned.ts';
import {
  openEar,
  openModels,
  openMouth,
  openOmnis,
  type Ear,
  type Models,
  type Mouth,
  type Omnis,
} from './engine-config/open-stages.ts';
import { omniResponder } from './session/omni-responder.ts';
import { sceneResponder } from './session/scene-responder.ts';
import { cascade, type Responder } from './session/responder.ts';

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
  /** What hears, thinks and speaks as a character. */
  responderFor(character: Character): Responder;
  /** Which engine serves each stage, on what, and how it fares. */
  readonly summary: readonly EngineSummary[];
  /** What the user should know about the preset. */
  readonly notes: readonly string[];
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

type EngineSettings = PlanSettings & Partial<Pick<Config, 'workers' | 'recipe'>>;

/** Opens what the configuration asks for; without any, the embedded engines. Throws `ConfigError`. `log` gets the cost of each call. */
export async function openEngines(config: EngineSettings, log?: CostLog): Promise<Engines> {
  const workers = config.workers ?? Math.max(1, Math.floor(availableParallelism() / 2));
  const plan = planEngines(config);
  // In this order: the voices start their threads at once, which nobody would end if something after them failed.
  const ear = await openEar(plan, workers, log);
  const mind = await openModels(plan, log);
  const omnis = await openOmnis(plan, log);
  const mouth = await openMouth(plan, workers, log);
  const parts = [ear, mind, omnis, mouth];
  const vad = openSilero();
  const turnDetector = openTurnDetector(plan.turns);
  const thinkAs = openMind(mind.models, config.recipe);
  return {
    vad,
    turnDetector,
    recognizer: ear.recognizer,
    voiceOf: (character) => mouth.voiceOf(character),
    responderFor: castingOf({ ear, mouth, omnis, mind, thinkAs }),
    notes: plan.notes,
    get summary() {
      return [
        { stage: 'vad', name: vad.name, provider: 'cpu' } as const,
        { stage: 'turns', name: turnDetector.name } as const,
        {
          stage: 'recognizer',
          name: ear.recognizer.name,
          languages: ear.recognizer.languages,
          ...ear.facts(),
        } as const,
        ...(omnis.name === '' ? [] : [{ stage: 'omni', name: omnis.name, ...omnis.facts() } as const]),
        { stage: 'mind', name: mind.name, ...mind.facts() } as const,
        { stage: 'synthesizer', name: mouth.name, languages: mouth.languages, ...mouth.facts() } as const,
      ];
    },
    async warm(signal, characters = []) {
      // A mind indexes its character's lines when it is made: not in somebody's first turn.
      for (const character of characters) thinkAs(character);
      const stream = vad.open();
      await Promise.all([
        stream.score(new Float32Array(vad.windowSamples)),
        turnDetector.warm?.(signal),
        ...parts.map((part) => part.warm(signal)),
      ]);
      stream.close();
    },
    async close() {
      await Promise.all([vad.close(), turnDetector.close?.(), ...parts.map((part) => part.close())]);
    },
  };
}

/** What hears, thinks and speaks as a character, made once for each; as a scene, what does so as all of its cast. */
function castingOf({
  ear: { recognizer },
  mouth,
  omnis,
  mind,
  thinkAs,
}: {
  readonly ear: Ear;
  readonly mouth: Mouth;
  readonly omnis: Omnis;
  readonly mind: Models;
  readonly thinkAs: ReturnType<typeof openMind>;
}): Engines['responderFor'] {
  const responders = new Map<string, Responder>();
  const playedBy = (character: Character): Responder =>
    cascade({ ...mouth.voiceOf(character), recognizer, agent: thinkAs(character), greetings: character.greetings });
  const cast = (character: Character): Responder => {
    const { stage } = character;
    if (stage !== undefined) return sceneResponder({ stage, responderOf: playedBy, model: mind.models[0]?.model });
    return omnis
      .castFor(character)
      .reduceRight<Responder>(
        (backup, omni) => omniResponder({ ...omni, character, recognizer, backup }),
        playedBy(character),
      );
  };
  return (character) => {
    const responder = responders.get(character.id) ?? cast(character);
    responders.set(character.id, responder);
    return responder;
  };
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
