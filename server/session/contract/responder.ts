import type { CharacterAgent, Circumstance, Cost, ReplyPart, Situation } from '../../../agents/agent.ts';
import type { StoryPlace } from '../../../agents/scene/sections.ts';
import type { Section } from '../../../characters/scene.ts';
import type { Feelings } from '../../../agents/feelings.ts';
import type { Message, Sampling } from '../../../agents/chat.ts';
import type { RecipeName } from '../../../agents/recipe-names.ts';
import type { SurroundingsOf } from '../../../agents/surroundings.ts';
import type { Violation } from '../../../agents/violation.ts';
import type { Toolbox } from '../../../agents/tools.ts';
import type { AudioFrame } from '../../../voices/audio.ts';
import type { RelationAxis } from '../../../characters/relations.ts';
import type { Felt } from '../../../characters/emotion.ts';
import type { CallOptions } from '../../../voices/engine.ts';
import type { TranscriptPart } from '../../../voices/recognizer.ts';
import type { SpeechChunk, TimedWord } from '../../../voices/synthesizer.ts';
import type { Speaker, WrittenCue } from './item.ts';
import type { TurnTimings } from './turn-timings.ts';

/** A part of a reply as it is made: its source, its cost, its words, and after all words its tool calls. */
export type SpokenPart =
  | Exclude<ReplyPart, { readonly type: 'text-delta' | 'cue' }>
  | ({ readonly type: 'cue' } & WrittenCue)
  /** The participant whose words follow, in a scene. */
  | { readonly type: 'speaker'; readonly speaker: Speaker }
  /** The scene is over: no participant has anything more to say. */
  | { readonly type: 'scene-end' }
  /** A condition has led the scene from the section `from` on: the edge that says `on`. */
  | { readonly type: 'section'; readonly from: string; readonly on: string }
  /** The participants wait for the user, who is to speak next. */
  | { readonly type: 'users-turn' }
  | ({ readonly type: 'text' } & FeltPhrase)
  /** `begins`: the phrase that begins here, or the rest of one, if another process can say it again sample by sample. */
  | ({
      readonly type: 'speech';
      readonly chunk: SpeechChunk;
      readonly begins?: RestOfPhrase | undefined;
    } & Felt);

export interface ReplyOptions extends CallOptions {
  /** False: text only. */
  readonly speaks: boolean;
  readonly scene: string;
  readonly speed: number;
  readonly maxTokens?: number;
  readonly recipe?: RecipeName;
  readonly situation?: Situation;
  /** Memories of the user, one line each. */
  readonly memories?: readonly string[];
  /** Set if the character plays in a scene with others. */
  readonly circumstance?: Circumstance;
  /** The character's present feelings: they set the emotion of the voice if the LLM gives none. */
  readonly feelings?: Feelings;
  /** In a scene, it was the user's turn and the user did not speak: another participant does. */
  readonly passesUser?: boolean;
  /** Returns the feelings of one participant, for scenes in which the speaker is chosen later. */
  readonly feelingsOf?: (id: string) => Feelings;
  /** The section of the scene; absent if it has none. */
  readonly story?: StoryPlace | undefined;
  readonly sampling?: Sampling;
  /** Called with the cost of the reply so far. */
  readonly onCost?: (cost: Cost) => void;
  /** Called for each sentence that was withheld. */
  readonly onViolation?: (violation: Violation) => void;
  /** The beginning of this reply that was heard before a restart of the server: it is not said again. */
  readonly heard?: string;
  /** The phrase at whose middle that ends: its rest is said first. */
  readonly rest?: RestOfPhrase | undefined;
  /** Takes the sound of each phrase, before it is heard if the engine is fast enough; absent if it is not kept. */
  readonly keepSound?: ((sound: KeptSound) => void) | undefined;
  /** Surroundings of a character in the client's game, by its id; absent if there is no game. */
  readonly surroundings?: SurroundingsOf | undefined;
  /** Adds the shapes of the mouth to what a synthesizer speaks; absent if the client wants none. */
  readonly lipSync?: LipSync | undefined;
  /** Tools that the reply may call. */
  readonly toolbox?: Toolbox;
  /** Settles when a speculative reply is wanted; absent if the reply is wanted in any case. */
  readonly confirmed?: Promise<void> | undefined;
  /** Replaces the character's agent, for example by one that checks it. Omni models do not answer then. */
  readonly through?: ((agent: CharacterAgent) => CharacterAgent) | undefined;
  readonly trace: TurnTimings;
  readonly onSpeech?: (ms: number) => void;
}

/** Has phrases spoken, and adds the shapes of the mouth to their sound without delaying it. */
export type LipSync = (
  phrases: AsyncIterable<FeltPhrase>,
  speak: (phrases: AsyncIterable<FeltPhrase>) => AsyncIterable<SpeechChunk>,
) => AsyncIterable<SpeechChunk>;

/** The session's only interface to models. */
export interface Responder {
  /** The contract of `SpeechRecognizer.transcribe`; frames at `sampleRate`. */
  listen(
    audio: AsyncIterable<AudioFrame>,
    options: CallOptions & { readonly language?: string },
  ): AsyncIterable<TranscriptPart>;
  readonly sampleRate: number;
  /** Set if each reply is followed by the next, by the participant it names, until it says that the scene is over. */
  readonly goesOn?: true;
  reply(history: readonly Message[], options: ReplyOptions): AsyncIterable<SpokenPart>;
  /** Caches its first words, as far as they are known before the conversation begins. Never rejects. */
  prepare?(options: CallOptions): Promise<void>;
}

/** The participants that speak to the user: one character, or the cast of a scene. */
export interface Cast {
  readonly responder: Responder;
  /** Languages (BCP 47) in which they talk. Default: English. */
  readonly languages?: readonly string[];
  /** Voice over a reply, without known words, that counts as a barge-in, in milliseconds. */
  readonly bargeInMs: number;
  /** How long the user may talk until the next pause brings a backchannel by the character; absent: never. */
  readonly nodEveryMs?: number;
  /** Id of the character, if there is only one. */
  readonly id?: string;
  /** Axes of the characters' relations to the user, by id; absent if no card names any. */
  readonly axes?: Readonly<Record<string, readonly RelationAxis[]>>;
  /** The characters of a scene, each with feelings of its own. */
  readonly speakers?: readonly Speaker[];
  /** The sections of a scene; absent if it has none. */
  readonly sections?: readonly Section[];
}

/** A phrase on its way to the synthesizer, with its emotion. */
export interface FeltPhrase extends Felt {
  readonly text: string;
}

/** A phrase as the synthesizer gets it. `before`: what the reply says before it. */
export interface ScriptPhrase extends FeltPhrase {
  readonly before: string;
  /** The engine would say it with other samples: its rest can be said only from its kept sound. */
  readonly needsSound?: true;
}

/** The whole sound of a phrase, for another process to say: 24 kHz. */
export interface KeptSound extends Pick<ScriptPhrase, 'text' | 'before'> {
  /** Opus packets of 20 ms in base64, and how many decoded samples come before the sound. */
  readonly packets: readonly string[];
  readonly delaySamples: number;
  /** Its chunks, as the engine made them. */
  readonly pieces: readonly {
    readonly text: string;
    readonly samples: number;
    readonly words?: readonly TimedWord[] | undefined;
  }[];
}

/** A phrase that a client has in part. `saidMs`: how much of its sound. */
export interface RestOfPhrase extends ScriptPhrase {
  readonly saidMs: number;
  /** Set if the reply ends with it. */
  readonly isLast?: true;
  readonly sound?: KeptSound | undefined;
}
