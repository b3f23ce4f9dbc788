import type { Character } from '../../characters/character.ts';
import type { SessionPatch } from '../protocol/client-events.ts';
import { wireSampleRate } from '../protocol/limits.ts';
import type { Problem } from '../session/events.ts';
import { defaultTurnDetection, type SessionSettings, type TurnDetection } from '../session/settings.ts';

type WireTurnDetection = Record<string, unknown> & { readonly type: 'server_vad' | 'semantic_vad' };

/** The full effective session, as `session.created` and `session.updated` echo it (OpenAI Realtime, GA). */
export interface WireSession {
  readonly type: 'realtime';
  readonly object: 'realtime.session';
  readonly id: string;
  readonly model: string;
  readonly expires_at: number;
  readonly instructions: string;
  readonly output_modalities: readonly ('audio' | 'text')[];
  readonly tools: readonly unknown[];
  readonly tool_choice: 'auto';
  readonly max_output_tokens: number | 'inf';
  readonly prompt: null;
  readonly tracing: null;
  readonly truncation: 'auto';
  readonly include: null;
  readonly audio: {
    readonly input: {
      readonly format: { readonly type: 'audio/pcm'; readonly rate: number };
      readonly noise_reduction: null;
      readonly transcription: { readonly model: string; readonly language?: string } | null;
      readonly turn_detection: WireTurnDetection | null;
    };
    readonly output: {
      readonly format: { readonly type: 'audio/pcm'; readonly rate: number };
      readonly voice: string;
      readonly speed: number;
    };
  };
  /** Ours, beside the standard: who speaks, and which engines serve. */
  readonly x_dramatis: unknown;
}

const format = { type: 'audio/pcm', rate: wireSampleRate } as const;

/** Pauses that `semantic_vad`'s eagerness stands for until a turn detector listens to the words. */
const eagernessSilenceMs = { low: 1_500, medium: 700, auto: 700, high: 350 } as const;

/** The session a client gets when it asks for nothing. */
export function newWireSession(
  character: Character,
  facts: {
    readonly id: string;
    readonly model: string;
    readonly expiresAt: number;
    readonly recognizer: string;
    readonly about: unknown;
  },
): WireSession {
  return {
    type: 'realtime',
    object: 'realtime.session',
    id: facts.id,
    model: facts.model,
    expires_at: facts.expiresAt,
    instructions: '',
    output_modalities: ['audio'],
    tools: [],
    tool_choice: 'auto',
    max_output_tokens: 'inf',
    prompt: null,
    tracing: null,
    truncation: 'auto',
    include: null,
    audio: {
      input: {
        format,
        noise_reduction: null,
        transcription: { model: facts.recognizer },
        turn_detection: wireTurnDetection(defaultTurnDetection(character.turnTaking)),
      },
      output: { format, voice: character.id, speed: 1 },
    },
    x_dramatis: facts.about,
  };
}

/** Merges what the client asks for; null and empty values clear. Returns a problem instead where it cannot be had. */
export function mergeSession(session: WireSession, patch: SessionPatch, character: Character): WireSession | Problem {
  const input = patch.audio?.input;
  const output = patch.audio?.output;
  for (const [param, wanted] of [
    ['session.audio.input.format', input?.format],
    ['session.audio.output.format', output?.format],
  ] as const) {
    if (wanted !== undefined && (wanted.type !== format.type || (wanted.rate ?? format.rate) !== format.rate)) {
      const message = `Only ${format.type} at ${format.rate} Hz is supported. Convert the audio before sending it.`;
      return { code: 'unsupported_audio_format', message, param };
    }
  }
  return {
    ...session,
    instructions: patch.instructions === undefined ? session.instructions : (patch.instructions ?? ''),
    output_modalities:
      patch.output_modalities === undefined ? session.output_modalities : oneModality(patch.output_modalities),
    max_output_tokens: patch.max_output_tokens ?? session.max_output_tokens,
    audio: {
      input: {
        ...session.audio.input,
        transcription: mergeTranscription(session.audio.input.transcription, input?.transcription),
        turn_detection: mergeDetection(session.audio.input.turn_detection, input?.turn_detection, character),
      },
      output: { ...session.audio.output, speed: output?.speed ?? session.audio.output.speed },
    },
  };
}

/** What the session engine needs to know of it. */
export function settingsOf(session: WireSession): SessionSettings {
  const { input, output } = session.audio;
  const language = input.transcription?.language;
  return {
    scene: session.instructions,
    speaks: session.output_modalities.includes('audio'),
    transcribes: input.transcription !== null,
    turnDetection: input.turn_detection === null ? null : detectionOf(input.turn_detection),
    speed: output.speed,
    ...(language === undefined ? {} : { language }),
    ...(session.max_output_tokens === 'inf' ? {} : { maxTokens: session.max_output_tokens }),
  };
}

/** Audio always comes with its transcript, so asking for both is asking for audio. */
export function oneModality(wanted: readonly ('audio' | 'text')[]): readonly ('audio' | 'text')[] {
  return wanted.includes('audio') ? ['audio'] : ['text'];
}

function wireTurnDetection(detection: TurnDetection): WireTurnDetection {
  return {
    type: 'server_vad',
    threshold: detection.threshold,
    prefix_padding_ms: detection.prefixPaddingMs,
    silence_duration_ms: detection.silenceMs,
    create_response: detection.createsReply,
    interrupt_response: detection.interruptsReply,
    idle_timeout_ms: null,
  };
}

type InputPatch = NonNullable<NonNullable<SessionPatch['audio']>['input']>;
type WireTranscription = WireSession['audio']['input']['transcription'];

function mergeTranscription(before: WireTranscription, wanted: InputPatch['transcription']): WireTranscription {
  if (wanted === undefined) return before;
  if (wanted === null) return null;
  const { model, language } = wanted;
  const known = language === undefined || language === '' ? {} : { language };
  return { model: model ?? before?.model ?? 'default', ...known };
}

function mergeDetection(
  before: WireTurnDetection | null,
  wanted: InputPatch['turn_detection'],
  character: Character,
): WireTurnDetection | null {
  if (wanted === undefined) return before;
  if (wanted === null) return null;
  if (wanted.type === 'semantic_vad') {
    return {
      type: 'semantic_vad',
      eagerness: wanted.eagerness ?? 'auto',
      create_response: wanted.create_response ?? true,
      interrupt_response: wanted.interrupt_response ?? true,
    };
  }
  const base = before?.type === 'server_vad' ? before : wireTurnDetection(defaultTurnDetection(character.turnTaking));
  const given = Object.fromEntries(Object.entries(wanted).filter(([key, value]) => key in base && value !== undefined));
  return { ...base, ...given, type: 'server_vad' };
}

function detectionOf(wire: WireTurnDetection): TurnDetection {
  const common = {
    createsReply: wire['create_response'] === true,
    interruptsReply: wire['interrupt_response'] === true,
  };
  if (wire.type === 'semantic_vad') {
    const eagerness = wire['eagerness'] as keyof typeof eagernessSilenceMs;
    return { threshold: 0.5, prefixPaddingMs: 500, silenceMs: eagernessSilenceMs[eagerness], ...common };
  }
  return {
    threshold: wire['threshold'] as number,
    prefixPaddingMs: wire['prefix_padding_ms'] as number,
    silenceMs: wire['silence_duration_ms'] as number,
    ...common,
  };
}
