import { availableParallelism } from 'node:os';
import { openMind } from '../agents/open.ts';
import type { Character } from '../characters/character.ts';
import { openMoonshine } from '../voices/recognizers/moonshine.ts';
import type { SpeechRecognizer } from '../voices/recognizer.ts';
import type { SpeechSynthesizer, Voice } from '../voices/synthesizer.ts';
import { openEmbeddedVoices } from '../voices/synthesizers/embedded.ts';
import { openProsody } from '../voices/turn-detectors/prosody.ts';
import { openSmartTurn } from '../voices/turn-detectors/smart-turn.ts';
import type { TurnDetector } from '../voices/turn-detector.ts';
import { openSilero } from '../voices/vads/silero.ts';
import type { Vad } from '../voices/vad.ts';
import type { Config } from './config.ts';
import { cascade, type Responder } from './session/responder.ts';

/** The engines of one server, shared by all its sessions. */
export interface Engines {
  readonly vad: Vad;
  /** Tells whether a user who pauses has finished. */
  readonly turnDetector: TurnDetector;
  readonly recognizer: SpeechRecognizer;
  /** The character's voice, and what speaks with it. */
  voiceOf(character: Character): { readonly synthesizer: SpeechSynthesizer; readonly voice: Voice };
  /** What hears, thinks and speaks as a character. */
  responderFor(character: Character): Responder;
  /** Which engine serves each stage, and on what. */
  readonly summary: readonly EngineSummary[];
  /** Loads the models, so that the first turn is as fast as the next. */
  warm(signal: AbortSignal, characters?: Iterable<Character>): Promise<void>;
  close(): Promise<void>;
}

export interface EngineSummary {
  readonly stage: 'vad' | 'turns' | 'recognizer' | 'mind' | 'synthesizer';
  readonly name: string;
  readonly languages?: readonly string[];
  /** Execution provider of a local model. */
  readonly provider?: string;
}

/** Opens what the configuration asks for; without any, the embedded engines. */
export function openEngines(
  config: Pick<Config, 'workers' | 'llmBaseUrl' | 'llmModel' | 'llmApiKey' | 'smartTurn' | 'smartTurnHash'>,
): Engines {
  const workers = config.workers ?? Math.max(1, Math.floor(availableParallelism() / 2));
  const vad = openSilero();
  const smartTurn =
    config.smartTurn === undefined
      ? undefined
      : openSmartTurn({
          modelPath: config.smartTurn,
          ...(config.smartTurnHash === undefined ? {} : { sha256: config.smartTurnHash }),
        });
  const turnDetector = smartTurn ?? openProsody();
  const recognizer = openMoonshine({ workers });
  const voices = openEmbeddedVoices({ workers });
  const { llmBaseUrl, llmModel, llmApiKey } = config;
  const llm =
    llmBaseUrl === undefined || llmModel === undefined
      ? undefined
      : { baseUrl: llmBaseUrl, model: llmModel, ...(llmApiKey === undefined ? {} : { apiKey: llmApiKey }) };
  const mind = openMind(llm);
  const responders = new Map<string, Responder>();
  return {
    vad,
    turnDetector,
    recognizer,
    voiceOf: (character) => voices.forCharacter(character.voice),
    responderFor(character) {
      const known = responders.get(character.id);
      if (known !== undefined) return known;
      const { greetings, voice } = character;
      const parts = { recognizer, agent: mind(character), ...voices.forCharacter(voice), greetings };
      const responder = cascade(parts);
      responders.set(character.id, responder);
      return responder;
    },
    summary: [
      { stage: 'vad', name: vad.name, provider: 'cpu' },
      { stage: 'turns', name: turnDetector.name },
      { stage: 'recognizer', name: recognizer.name, languages: recognizer.languages, provider: 'cpu' },
      { stage: 'mind', name: llm === undefined ? 'retrieval' : `${llm.model}, then retrieval` },
      { stage: 'synthesizer', name: voices.name, languages: voices.languages, provider: 'cpu' },
    ],
    async warm(signal, characters = []) {
      // A mind indexes its character's lines when it is made: not in somebody's first turn.
      for (const character of characters) mind(character);
      const stream = vad.open();
      await Promise.all([
        stream.score(new Float32Array(vad.windowSamples)),
        smartTurn?.warm(signal),
        recognizer.warm(signal),
        voices.warm(signal),
      ]);
      stream.close();
    },
    async close() {
      await Promise.all([vad.close(), smartTurn?.close(), recognizer.close(), voices.close()]);
    },
  };
}
