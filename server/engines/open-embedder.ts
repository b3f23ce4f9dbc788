import type { Embedder } from '../../agents/embeddings/embedder.ts';
import { adapter } from '../../agents/embeddings/openai-embeddings.ts';
import { openContext } from '../../voices/calls/context.ts';
import type { EngineLifecycle } from '../../voices/engine.ts';
import type { Config } from '../config/config.ts';
import type { CostLog } from './open-planned.ts';

export type EmbedderSettings = Partial<Pick<Config, 'embeddingsBaseUrl' | 'embeddingsModel' | 'embeddingsApiKey'>>;

export function openEmbedder(config: EmbedderSettings, log?: CostLog): (Embedder & EngineLifecycle) | undefined {
  const { embeddingsBaseUrl: baseUrl, embeddingsModel: model, embeddingsApiKey: key } = config;
  if (baseUrl === undefined || model === undefined) return undefined;
  const chosen = { baseUrl, model };
  const settingNames = {
    baseUrl: 'DRAMATIS_EMBEDDINGS_BASE_URL',
    model: 'DRAMATIS_EMBEDDINGS_MODEL',
    key: 'DRAMATIS_EMBEDDINGS_API_KEY',
  };
  const callPolicy = [adapter.callPolicy?.(chosen)];
  return adapter.open(chosen, openContext('embeddings', { key, callPolicy, settingNames, log }));
}
