import { chatKinds } from '../../agents/actor/open.ts';
import { embeddedKinds, type EnginePlan, type PlannedEngine } from '../../server/engines/engine-plan.ts';
import { omniKinds, recognizerKinds, synthesizerKinds } from '../../server/engines/voice-kinds.ts';

/** A kind of engine, with the configured engine of that kind, if any. */
export interface ChosenEngine {
  readonly role: 'asr' | 'llm' | 'tts' | 'omni';
  readonly kind: string;
  readonly planned?: PlannedEngine;
}

const kinds = { asr: recognizerKinds, llm: chatKinds, tts: synthesizerKinds, omni: omniKinds };

/** Every engine of the plan that is not embedded, then every kind that the plan does not use. */
export function chosenEngines(plan: EnginePlan): readonly ChosenEngine[] {
  const roles = Object.keys(kinds) as ChosenEngine['role'][];
  return roles.flatMap((role) => {
    const embedded = role === 'omni' ? undefined : embeddedKinds[role];
    const chosen = plan[role].filter(({ kind }) => kind !== embedded);
    const missing = Object.keys(kinds[role]).filter((kind) => chosen.every((each) => each.kind !== kind));
    return [
      ...chosen.map((planned) => ({ role, kind: planned.kind, planned })),
      ...missing.map((kind) => ({ role, kind })),
    ];
  });
}
