import type { Character } from '../../characters/character.ts';
import type { SessionPatch } from '../protocol/client-events.ts';
import { defaultTurnDetection, type TurnDetection } from '../session/settings.ts';

/** How turns are found, as the wire has it. */
export type WireTurnDetection = Record<string, unknown> & { readonly type: 'server_vad' | 'semantic_vad' };

type WantedDetection = NonNullable<NonNullable<SessionPatch['audio']>['input']>['turn_detection'];

/** Pauses that `semantic_vad`'s eagerness stands for until a turn detector listens to the words. */
const eagernessSilenceMs = { low: 1_500, medium: 700, auto: 700, high: 350 } as const;
const semanticPaddingMs = 500;

/** What a session starts with: the character's own patience. */
export function firstDetection(character: Character): WireTurnDetection {
  const detection = defaultTurnDetection(character.turnTaking);
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

/** Merges what the client asks for. Another type than before starts from that type's own defaults. */
export function mergeDetection(
  before: WireTurnDetection | null,
  wanted: WantedDetection,
  character: Character,
): WireTurnDetection | null {
  if (wanted === undefined) return before;
  if (wanted === null) return null;
  const type = wanted.type ?? before?.type ?? 'server_vad';
  const base = before?.type === type ? before : type === 'server_vad' ? firstDetection(character) : semanticDefaults;
  const given = Object.fromEntries(Object.entries(wanted).filter(([key, value]) => key in base && value !== undefined));
  return { ...base, ...given, type };
}

const semanticDefaults: WireTurnDetection = {
  type: 'semantic_vad',
  eagerness: 'auto',
  create_response: true,
  interrupt_response: true,
};

/** What the session engine needs to know of it. */
export function detectionOf(wire: WireTurnDetection): TurnDetection {
  const common = {
    createsReply: wire['create_response'] === true,
    interruptsReply: wire['interrupt_response'] === true,
  };
  if (wire.type === 'semantic_vad') {
    const eagerness = wire['eagerness'] as keyof typeof eagernessSilenceMs;
    const silenceMs = eagernessSilenceMs[eagerness];
    return { threshold: 0.5, prefixPaddingMs: semanticPaddingMs, silenceMs, ...common };
  }
  const idleMs = wire['idle_timeout_ms'];
  return {
    threshold: wire['threshold'] as number,
    prefixPaddingMs: wire['prefix_padding_ms'] as number,
    silenceMs: wire['silence_duration_ms'] as number,
    ...common,
    ...(typeof idleMs === 'number' ? { idleMs } : {}),
  };
}
