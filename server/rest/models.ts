import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { openBackgroundDownloads } from '../../voices/models/background-downloads.ts';
import { downloadBytes, findModel, readCatalogue, type CatalogueModel } from '../../voices/models/catalogue.ts';
import { findInstalled } from '../../voices/models/installed.ts';
import { ModelError, type ModelErrorCode } from '../../voices/models/model-error.ts';
import { makeDataDir } from '../config/data-dir.ts';
import { savedModels, saveModels, type VoiceStage } from '../engines/chosen-models.ts';
import type { AuthGuard } from '../http/auth-guard.ts';
import { sendProblem } from '../http/problem.ts';
import { parseBody } from '../http/request-body.ts';
import { answer } from './answer.ts';
import type { RestParts } from './rest.ts';

/** Roles of the models that the page offers: two stages whose engine can be replaced, and what a restart picks up. */
const roles = ['asr', 'tts', 'turn-detector'] as const;

const useSchema = z.strictObject({ stage: z.enum(['asr', 'tts']), model: z.string().min(1).max(64).nullable() });

const statusOf: Partial<Readonly<Record<ModelErrorCode, number>>> = {
  model_unknown: 404,
  model_catalogue_invalid: 500,
};

/**
 * Adds the routes by which the page downloads and chooses models: `GET /models` lists those of the catalogue, with the
 * progress of downloads; `POST /models/ID/download` begins one and `DELETE` ends it; `PUT /models/use` puts an
 * installed model instead of the recognizer or the voices. All are for administrators.
 */
export function addModels(app: FastifyInstance, { config, engines }: RestParts, auth: AuthGuard): void {
  const guard = { onRequest: auth.admin, bodyLimit: 1_024 };
  const { dataDir, modelMirrors: mirrors } = config;
  const catalogue = (): readonly CatalogueModel[] => readCatalogue(config.modelCatalogue);
  const downloads = openBackgroundDownloads({ dataDir, mirrors });
  app.addHook('onClose', () => downloads.close());

  const list = () => {
    const models = catalogue().filter(({ role }) => roles.some((offered) => offered === role));
    const used: Partial<Record<CatalogueModel['role'], string | undefined>> = savedModels(dataDir);
    const turnDetector = engines.summary.find(({ stage }) => stage === 'turns')?.name ?? null;
    const shown = models.flatMap((model) => {
      const { id, title, use, role, languages, licence } = model;
      const installed = findInstalled(dataDir, model) !== undefined;
      // Nothing can be done here about a model that is not published.
      if (model.downloads.length === 0 && !installed) return [];
      const { done, of = null, error = null } = downloads.stateOf(id) ?? { done: null };
      // A download has still to clean up for a moment after its model is installed.
      const download = installed || done === null ? null : { done, of, error };
      const bytes = downloadBytes(model) ?? null;
      const isUsed = role === 'turn-detector' ? installed && turnDetector === 'smart-turn' : used[role] === id;
      return [{ id, title, use, role, languages, licence, bytes, installed, used: isUsed, download }];
    });
    return { changeable: engines.useModel !== undefined, auto: config.auto, turnDetector, models: shown };
  };

  app.get('/models', guard, async () => list());

  app.post<{ Params: { id: string } }>('/models/:id/download', guard, (request, reply) => {
    try {
      makeDataDir(dataDir);
      downloads.start(findModel(catalogue(), request.params.id));
    } catch (fault) {
      if (!(fault instanceof ModelError)) throw fault;
      return sendProblem(reply, statusOf[fault.code] ?? 409, { code: fault.code, message: fault.message });
    }
    return reply.code(202).send(list());
  });

  app.delete<{ Params: { id: string } }>('/models/:id/download', guard, (request) =>
    downloads.cancel(request.params.id).then(list),
  );

  app.put('/models/use', guard, async (request, reply) => {
    const parsed = parseBody(useSchema, request.body);
    if ('problem' in parsed) return sendProblem(reply, 400, parsed.problem);
    const { stage, model } = parsed.body;
    if (model !== null && !isUsable(model, stage)) {
      const message = `The model "${model}" is not installed.`;
      return sendProblem(reply, 409, { code: 'model_not_installed', message, param: 'model' });
    }
    return answer(request, reply, async (signal) => {
      await engines.useModel?.(stage, model ?? undefined, signal);
      const { [stage]: _, ...others } = savedModels(dataDir);
      saveModels(dataDir, model === null ? others : { ...others, [stage]: model });
      return list();
    });
  });

  const isUsable = (id: string, stage: VoiceStage): boolean => {
    const model = catalogue().find((each) => each.id === id && each.role === stage);
    return model !== undefined && findInstalled(dataDir, model) !== undefined;
  };
}
