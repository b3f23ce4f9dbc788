import { chatKinds } from '../../agents/actor/open.ts';
import type { ChatModel } from '../../agents/chat.ts';
import type { CallCost, Calls } from '../../voices/calls/calls.ts';
import { openContext, type AdaptersByKind } from '../../voices/calls/context.ts';
import { EngineError, type EngineLifecycle } from '../../voices/engine.ts';
import { omniKinds, recognizerKinds, synthesizerKinds } from './voice-kinds.ts';
import type { OmniModel } from '../../voices/omni.ts';
import type { SpeechRecognizer } from '../../voices/recognizer.ts';
import type { SpeechSynthesizer } from '../../voices/synthesizer.ts';
import { ConfigError } from '../config/config.ts';
import type { PlannedEngine } from './engine-plan.ts';
import { issueOf } from './engines-file.ts';

export type CostLog = (cost: CallCost) => void;

export interface OpenedEngine<Engine> {
  readonly planned: PlannedEngine;
  readonly engine: Engine & EngineLifecycle;
  readonly calls: Calls;
  readonly clones: boolean;
}

/** Opens a recognizer that is not embedded. Throws `ConfigError` if its settings are invalid. */
export function openRecognizer(planned: PlannedEngine, log?: CostLog): Promise<OpenedEngine<SpeechRecognizer>> {
  return open(planned, recognizerKinds, log);
}

/** Opens a synthesizer that is not embedded. Throws like `openRecognizer`. */
export function openSynthesizer(planned: PlannedEngine, log?: CostLog): Promise<OpenedEngine<SpeechSynthesizer>> {
  return open(planned, synthesizerKinds, log);
}

/** Opens a speech-to-speech model. Throws like `openRecognizer`. */
export function openOmni(planned: PlannedEngine, log?: CostLog): Promise<OpenedEngine<OmniModel>> {
  return open(planned, omniKinds, log);
}

/** Opens a chat model. Its circuit breaker is checked by the agent that calls it, not by the call itself. */
export function openChat(planned: PlannedEngine, log?: CostLog): Promise<OpenedEngine<ChatModel>> {
  return open(planned, chatKinds, log, false);
}

async function open<Engine>(
  planned: PlannedEngine,
  kinds: AdaptersByKind<Engine>,
  log: CostLog | undefined,
  gated = true,
): Promise<OpenedEngine<Engine>> {
  const { name, kind, callPolicy, key, keyVariable, settingNames } = planned;
  const load = Object.hasOwn(kinds, kind) ? kinds[kind] : undefined;
  if (load === undefined) throw new ConfigError(`There are no engines of the kind "${kind}".`);
  const { adapter } = await load();
  const parsed = adapter.settings.safeParse(planned.settings);
  if (!parsed.success) throw new ConfigError(`The engine "${name}" (${kind}): ${issueOf(parsed.error)}`);
  const context = openContext(name, {
    key,
    callPolicy: [callPolicy, adapter.callPolicy?.(parsed.data)],
    settingNames: settingNames ?? (keyVariable === undefined ? undefined : { key: keyVariable }),
    log,
    gated,
  });
  const engine = adapter.open(parsed.data, context);
  const missesKey = keyVariable !== undefined && key === undefined;
  return {
    planned,
    engine: missesKey ? { ...engine, check: () => Promise.reject(keyMissing(name, keyVariable)) } : engine,
    calls: context.calls,
    clones: adapter.clones?.(parsed.data) ?? false,
  };
}

function keyMissing(name: string, variable: string): EngineError {
  return new EngineError(name, 'ENGINE_REFUSED', `${variable} is not set. Put the engine's key into it.`);
}
