import fastifyMultipart from '@fastify/multipart';
import type { FastifyInstance } from 'fastify';
import type { ContentJudge } from '../../agents/guardrails/content-judge.ts';
import type { Character } from '../../characters/character.ts';
import type { Config } from '../config/config.ts';
import type { Engines } from '../engines/engines.ts';
import type { Memories } from '../memory/memories.ts';
import type { ClientSecrets } from '../http/client-secrets.ts';
import type { AuthGuard } from '../http/auth-guard.ts';
import { addCharacters } from './characters.ts';
import { addChat } from './chat.ts';
import { addLlm } from './llm.ts';
import { addMemories } from './memories.ts';
import { addSaves } from './saves.ts';
import { addSpeech } from './speech.ts';
import { addTranscriptions, uploadLimits } from './transcriptions.ts';
import { addModels } from './models.ts';
import { readFile } from 'node:fs/promises';
import { openVoiceStore } from '../../voices/library/store.ts';
import { readyVoice } from '../engines/library-clip.ts';
import { sendProblem } from '../http/problem.ts';

/** Dependencies of the REST endpoints. */
export interface RestParts {
  readonly config: Config;
  readonly engines: Engines;
  /** Imported and changed characters are written into it. */
  readonly characters: Map<string, Character>;
  readonly memories?: Memories | undefined;
  /** Checks the conversation if there is a rating. */
  readonly judge?: ContentJudge | undefined;
}

/**
 * Adds the REST endpoints: OpenAI's chat, speech and transcription APIs, and the routes for characters, voices and
 * memories.
 */
export async function addRest(
  app: FastifyInstance,
  parts: RestParts & { readonly secrets: ClientSecrets },
  auth: AuthGuard,
): Promise<void> {
  await app.register(fastifyMultipart, { limits: uploadLimits, throwFileSizeLimit: false });
  await addCharacters(app, parts, auth);
  addChat(app, parts, auth);
  addSpeech(app, parts, auth);
  addTranscriptions(app, parts, auth);
  addVoices(app, parts.config, auth);
  addLlm(app, parts, auth);
  addModels(app, parts, auth);
  if (parts.memories !== undefined) {
    addMemories(app, parts.memories, auth);
    addSaves(app, { ...parts, memories: parts.memories }, auth);
  }
}

/**
 * `GET /voices`: lists the voices of the library that can be assigned to a character. Voices without a clip, or with an
 * invalid record, are left out. `GET /voices/ID/clip`: the reference clip of a voice, as WAV.
 */
function addVoices(app: FastifyInstance, { dataDir }: Pick<Config, 'dataDir'>, auth: AuthGuard): void {
  const store = openVoiceStore(dataDir);
  const guard = { onRequest: auth.serverKey };

  app.get('/voices', guard, async () => {
    const found = await Promise.all((await store.list()).map((id) => readyVoice(store, id)));
    return {
      voices: found.flatMap((voice) => {
        if (voice === undefined) return [];
        const { id, language, licence, consent, reference } = voice;
        const { transcript, measured } = reference;
        return [{ id, language, licence, consent, transcript, seconds: measured.seconds }];
      }),
    };
  });

  app.get<{ Params: { id: string } }>('/voices/:id/clip', guard, async (request, reply) => {
    const { id } = request.params;
    const voice = await readyVoice(store, id);
    if (voice === undefined) {
      const message = `There is no voice "${id.slice(0, 64)}" with a clip.`;
      return sendProblem(reply, 404, { code: 'not_found', message });
    }
    reply.type('audio/wav').header('cache-control', 'no-store');
    return readFile(store.place(id, voice.reference.file));
  });
}
