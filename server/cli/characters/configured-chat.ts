import type { ChatModel } from '../../../agents/chat.ts';
import type { EngineLifecycle } from '../../../voices/engine.ts';
import type { Config } from '../../config/config.ts';
import { embeddedKinds, planEngines } from '../../engines/engine-plan.ts';
import { openChat } from '../../engines/open-planned.ts';

/** Opens the first configured chat model; undefined if there is only the built-in retrieval. */
export async function openConfiguredChat(config: Config): Promise<(ChatModel & EngineLifecycle) | undefined> {
  const planned = planEngines(config).llm.find(({ kind }) => kind !== embeddedKinds.llm);
  return planned === undefined ? undefined : (await openChat(planned)).engine;
}
