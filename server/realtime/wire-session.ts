import type { Character } from '../../characters/character.ts';
import type { RecipeName } from '../../agents/recipe-names.ts';
import type { Hears } from '../../agents/scene/hearing.ts';
import type { WireAction, WirePlayer } from '../protocol/game-events.ts';
import type { SessionPatch } from '../protocol/client-events.ts';
import type { ServerScene, ServerSession } from '../protocol/server-events.ts';
import type { Problem, SessionEvent } from '../session/contract/events.ts';
import type { SessionSettings, TurnDetection } from '../session/contract/settings.ts';
import { audioFormatOf, pcmFormat, type AudioFormat } from './audio-format.ts';
import { detectionOf, firstDetection, mergeDetection, type WireTurnDetection } from './wire-detection.ts';
import { actionsOf } from './wire-game.ts';
import { playersProblem } from './wire-players.ts';
import { hearingProblem } from './wire-scene.ts';
import { detectionForListener } from './wire-turn-order.ts';
import { mergeTools, toolboxOf, type WireTools } from './wire-tools.ts';

/** The full effective session; `echoOf` returns the part that is sent to the client (OpenAI Realtime, GA). */
export interface WireSession extends WireTools {
  /** A `transcription` session only transcribes; it never replies. */
  readonly type: 'realtime' | 'transcription';
  readonly id: string;
  readonly model: string;
  readonly expires_at: number;
  readonly instructions: string;
  readonly output_modalities: readonly ('audio' | 'text')[];
  readonly max_output_tokens: number | 'inf';
  /** These five are kept and echoed; they change nothing here. */
  readonly prompt: unknown;
  readonly reasoning?: unknown;
  readonly include: unknown;
  readonly tracing: unknown;
  readonly truncation: unknown;
  readonly audio: {
    readonly input: {
      readonly format: AudioFormat;
      readonly noise_reduction: null;
      readonly transcription: { readonly model: string; readonly language?: string } | null;
      readonly turn_detection: WireTurnDetection | null;
    };
    readonly output: {
      readonly format: AudioFormat;
      readonly voice: string;
      readonly speed: number;
    };
  };
  /** Our extensions of the standard: the participants, and the engines in use. */
  readonly x_dramatis: Ours;
}

type Ours = {
  /** The present character; of a scene, with its id as a model. */
  readonly character?: { readonly id: string };
  /** The scene that is played; see `wire-scene.ts` for how it changes. */
  readonly scene?: ServerScene;
  readonly recipe?: RecipeName;
  /** Actions of the client's game. */
  readonly actions?: readonly WireAction[];
  /** Hearing of the characters: how well they hear each other and the user. */
  readonly hears?: Hears;
  /** Several players in one session. */
  readonly players?: readonly WirePlayer[];
  /** Sampling of the LLM. */
  readonly seed?: number;
  readonly temperature?: number;
  /** The user whose memories are kept; null: no memories, even if the client asks for them. Cannot change once set. */
  readonly user?: string | null;
};

/** Returns the session that a client gets without any settings. */
export function newWireSession(
  character: Character,
  facts: {
    readonly id: string;
    readonly model: string;
    readonly expiresAt: number;
    readonly recognizer: string;
    readonly about: object;
    readonly type?: WireSession['type'] | undefined;
  },
): WireSession {
  return {
    type: facts.type ?? 'realtime',
    id: facts.id,
    model: facts.model,
    expires_at: facts.expiresAt,
    instructions: '',
    output_modalities: ['audio'],
    tools: [],
    tool_choice: 'auto',
    parallel_tool_calls: true,
    max_output_tokens: 'inf',
    prompt: null,
    tracing: null,
    truncation: 'auto',
    include: null,
    audio: {
      input: {
        format: pcmFormat,
        noise_reduction: null,
        transcription: { model: facts.recognizer },
        turn_detection: detectionForListener(firstDetection, character),
      },
      output: { format: pcmFormat, voice: character.id, speed: 1 },
    },
    x_dramatis: facts.about,
  };
}

/** Returns the session that takes effect: the settings that an `update` command carried through the engine. */
export function sessionIn({ echo }: Extract<SessionEvent, { readonly type: 'updated' }>): WireSession {
  return echo as WireSession;
}

/** Returns the session as it is sent to the client, in `session.created` and `session.updated`. */
export function echoOf(session: WireSession): ServerSession {
  if (session.type === 'realtime') return { object: 'realtime.session', ...session };
  const { type, id, expires_at, include, audio, x_dramatis } = session;
  const object = 'realtime.transcription_session';
  return { type, object, id, expires_at, include, audio: { input: audio.input }, x_dramatis };
}

/** Merges the client's settings; null and empty values clear. `bindsUser`: its secret is for one user. Returns an error if they are not possible. */
export function mergeSession(
  session: WireSession,
  patch: SessionPatch,
  character: Character,
  bindsUser = false,
): WireSession | Problem {
  const unheard = hearingProblem(patch.x_dramatis?.hears, character);
  if (unheard !== undefined) return unheard;
  const merged = merge(session, patch, character);
  if ('code' in merged) return merged;
  return playersProblem(merged.x_dramatis.players ?? [], merged, bindsUser) ?? merged;
}

function merge(session: WireSession, patch: SessionPatch, character: Character): WireSession | Problem {
  if (patch.type !== undefined && patch.type !== session.type) {
    const message = `This is a ${session.type} session; its type cannot change. Open a transcription session with ?intent=transcription.`;
    return { code: 'invalid_value', message, param: 'session.type' };
  }
  const input = patch.audio?.input;
  const output = patch.audio?.output;
  const ours = mergeOurs(session.x_dramatis, patch.x_dramatis);
  if ('code' in ours) return ours;
  const inputFormat = mergeFormat(session.audio.input.format, input?.format);
  if (inputFormat === undefined) return badFormat('session.audio.input.format');
  const outputFormat = mergeFormat(session.audio.output.format, output?.format);
  if (outputFormat === undefined) return badFormat('session.audio.output.format');
  return {
    ...session,
    instructions: patch.instructions === undefined ? session.instructions : (patch.instructions ?? ''),
    output_modalities:
      patch.output_modalities === undefined ? session.output_modalities : oneModality(patch.output_modalities),
    max_output_tokens: patch.max_output_tokens ?? session.max_output_tokens,
    ...mergeTools(session, patch),
    ...echoedFields(patch),
    x_dramatis: { ...withoutCleared(session.x_dramatis), ...ours },
    audio: {
      input: {
        ...session.audio.input,
        format: inputFormat,
        transcription: mergeTranscription(session, input?.transcription),
        turn_detection: detectionForListener(
          mergeDetection(session.audio.input.turn_detection, input?.turn_detection, character),
          character,
        ),
      },
      output: { ...session.audio.output, format: outputFormat, speed: output?.speed ?? session.audio.output.speed },
    },
  };
}

export function settingsOf(session: WireSession, character: Character): SessionSettings {
  const { input, output } = session.audio;
  const language = input.transcription?.language;
  const detection = input.turn_detection === null ? null : detectionOf(input.turn_detection, character);
  const sampling = samplingIn(session.x_dramatis);
  return {
    scene: session.instructions,
    speaks: session.output_modalities.includes('audio'),
    transcribes: input.transcription !== null,
    turnDetection: session.type === 'realtime' || detection === null ? detection : withoutReplies(detection),
    speed: output.speed,
    toolbox: toolboxOf(session),
    ...(language === undefined ? {} : { language }),
    ...(Object.keys(sampling).length === 0 ? {} : { sampling }),
    ...(session.x_dramatis.players === undefined
      ? {}
      : { players: session.x_dramatis.players.map(({ number, name }) => ({ number, name })) }),
    ...(session.x_dramatis.hears === undefined ? {} : { hears: session.x_dramatis.hears }),
    ...(session.x_dramatis.actions === undefined ? {} : { actions: actionsOf(session.x_dramatis.actions) }),
    ...(session.x_dramatis.recipe === undefined ? {} : { recipe: session.x_dramatis.recipe }),
    ...(session.max_output_tokens === 'inf' ? {} : { maxTokens: session.max_output_tokens }),
  };
}

/** Audio always comes with its transcript, so asking for both is asking for audio. */
export function oneModality(wanted: readonly ('audio' | 'text')[]): readonly ('audio' | 'text')[] {
  return wanted.includes('audio') ? ['audio'] : ['text'];
}

function mergeOurs(before: Ours, patch: SessionPatch['x_dramatis']): Ours | Problem {
  const recipe = patch?.recipe ?? before.recipe;
  const user = patch?.user ?? before.user;
  if (before.user !== undefined && user !== before.user) return otherUser;
  const hears = patch?.hears === undefined ? before.hears : patch.hears;
  const players = patch?.players === undefined ? before.players : patch.players;
  const actions = patch?.actions === null ? [] : (patch?.actions ?? before.actions);
  return {
    ...(recipe === undefined ? {} : { recipe }),
    ...(user === undefined ? {} : { user }),
    ...(actions === undefined ? {} : { actions }),
    ...(hears == null ? {} : { hears }),
    ...(players == null ? {} : { players }),
    ...samplingIn(before, patch),
  };
}

/** Returns the seed and the temperature after a change; null takes one back. */
export function samplingIn(
  { seed: earlier, temperature: before }: Pick<Ours, 'seed' | 'temperature'>,
  patch: Pick<NonNullable<SessionPatch['x_dramatis']>, 'seed' | 'temperature'> = {},
): Pick<Ours, 'seed' | 'temperature'> {
  const { seed = earlier, temperature = before } = patch;
  return { ...(seed == null ? {} : { seed }), ...(temperature == null ? {} : { temperature }) };
}

/** Returns our settings without those that null takes back. */
function withoutCleared({
  seed: _seed,
  temperature: _temperature,
  hears: _hears,
  players: _players,
  ...ours
}: Ours): Ours {
  return ours;
}

const otherUser: Problem = {
  code: 'user_not_allowed',
  message:
    'This session belongs to another user, or to none. Open one for this user, with a client secret made for them.',
  param: 'session.x_dramatis.user',
};

function mergeFormat(before: AudioFormat, wanted: InputPatch['format']): AudioFormat | undefined {
  return wanted === undefined ? before : audioFormatOf(wanted);
}

/** Returns the error for an unsupported audio format. */
export function badFormat(param: string): Problem {
  const message = 'Supported formats are audio/pcm at 24000 Hz, audio/pcmu and audio/pcma. Convert the audio first.';
  return { code: 'unsupported_audio_format', message, param };
}

/** Turns replies off: a transcription session detects turns, and never replies. */
function withoutReplies({ idleMs: _idleMs, ...detection }: TurnDetection): TurnDetection {
  return { ...detection, createsReply: false };
}

/** Returns the settings that are only echoed, if the client sets them. */
function echoedFields(patch: SessionPatch): Partial<WireSession> {
  const names = ['prompt', 'reasoning', 'include', 'tracing', 'truncation'] as const;
  return Object.fromEntries(names.flatMap((name) => (patch[name] === undefined ? [] : [[name, patch[name]]])));
}

type InputPatch = NonNullable<NonNullable<SessionPatch['audio']>['input']>;
type WireTranscription = WireSession['audio']['input']['transcription'];

function mergeTranscription(session: WireSession, wanted: InputPatch['transcription']): WireTranscription {
  const before = session.audio.input.transcription;
  if (wanted === undefined) return before;
  // A transcription session without transcripts would be empty.
  if (wanted === null) return session.type === 'transcription' ? before : null;
  const language = wanted.language === undefined ? before?.language : wanted.language;
  return { model: wanted.model ?? before?.model ?? 'default', ...(language ? { language } : {}) };
}
