import type { Character } from '../../characters/character.ts';
import type { SessionPatch } from '../protocol/client-events.ts';
import { defaultTurnDetection, type TurnDetection } from '../session/contract/settings.ts';

export type WireTurnDetection = Record<string, unknown> & { readonly type: 'server_vad' | 'semantic_vad' };

type WantedDetection = NonNullable<NonNullable<SessionPatch['audio']>['input']>['turn_detection'];

/**
 * Longest timeout for each eagerness of `semantic_vad` (OpenAI's guide to VAD), and how much a cut-in costs; for `auto`
 * both are the character's own.
 */
const eagernessPatience = {
  low: { mostMs: 8_000, cutInCostMs: 5_000 },
  medium: { mostMs: 4_000, cutInCostMs: 2_500 },
  high: { mostMs: 2_000, cutInCostMs: 600 },
} as const;

/** Initial turn detection of a session: the character's own patience, with a turn detector. */
export const firstDetection: WireTurnDetection = {
  type: 'semantic_vad',
  eagerness: 'auto',
  create_response: true,
  interrupt_response: true,
};

function fixedDetection(character: Character): WireTurnDetection {
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

/** Merges the client's settings. A type other than before starts from that type's own defaults. */
export function mergeDetection(
  before: WireTurnDetection | null,
  wanted: WantedDetection,
  character: Character,
): WireTurnDetection | null {
  if (wanted === undefined) return before;
  if (wanted === null) return null;
  const isFixed = Object.keys(wanted).some((key) => fixedKeys.has(key));
  const type = wanted.type ?? (isFixed ? 'server_vad' : (before?.type ?? 'server_vad'));
  const base = before?.type === type ? before : type === 'server_vad' ? fixedDetection(character) : firstDetection;
  const given = Object.fromEntries(
    Object.entries(wanted).filter(([key, value]) => (key in base || key === 'idle_timeout_ms') && value !== undefined),
  );
  return { ...base, ...given, type };
}

/** Settings that only make sense if turns end only by silence. */
const fixedKeys = new Set(['threshold', 'prefix_padding_ms', 'silence_duration_ms']);

/** Converts to the settings of the session engine. */
export function detectionOf(wire: WireTurnDetection, character: Character): TurnDetection {
  const own = defaultTurnDetection(character.turnTaking);
  const idleMs = wire['idle_timeout_ms'];
  const common = {
    createsReply: wire['create_response'] === true,
    interruptsReply: wire['interrupt_response'] === true,
    ...(typeof idleMs === 'number' ? { idleMs } : {}),
  };
  if (wire.type === 'semantic_vad') {
    const eager = eagernessPatience[wire['eagerness'] as keyof typeof eagernessPatience];
    const patience = own.patience && { ...own.patience, ...eager };
    return { ...own, ...(patience === undefined ? {} : { patience }), ...common };
  }
  return {
    threshold: wire['threshold'] as number,
    prefixPaddingMs: wire['prefix_padding_ms'] as number,
    silenceMs: wire['silence_duration_ms'] as number,
    ...common,
  };
}
