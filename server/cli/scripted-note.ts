import type { Config } from '../config/config.ts';
import { embeddedKinds, planEngines } from '../engines/engine-plan.ts';

/** The ways to connect an LLM. */
export const connectRemedy =
  'For free talk, set DRAMATIS_LLM_BASE_URL and DRAMATIS_LLM_MODEL to any OpenAI-compatible server, such as ' +
  'http://localhost:11434/v1 and llama3.1, or connect one on the page.';

/** Says that replies are scripted, if this configuration has neither an LLM nor an omni model; undefined otherwise. */
export function scriptedNote(config: Config): string | undefined {
  const { llm, omni } = planEngines(config);
  const isScripted = omni.length === 0 && llm.every(({ kind }) => kind === embeddedKinds.llm);
  return isScripted ? `Replies are scripted, because no LLM is connected. ${connectRemedy}` : undefined;
}
