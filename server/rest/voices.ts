import { readFile } from 'node:fs/promises';
import type { FastifyInstance } from 'fastify';
import { openVoiceStore } from '../../voices/library/store.ts';
import type { Config } from '../config/config.ts';
import { readyVoice } from '../engines/library-clip.ts';
import type { Door } from '../http/auth-guard.ts';
import { sendProblem } from '../http/problem.ts';

/**
 * `GET /voices`: lists the voices of the library that can be assigned to a character. Voices without a clip, or with an
 * invalid record, are left out. `GET /voices/ID/clip`: the reference clip of a voice, as WAV.
 */
export function addVoices(app: FastifyInstance, { dataDir }: Pick<Config, 'dataDir'>, door: Door): void {
  const store = openVoiceStore(dataDir);
  const guard = { onRequest: door.serverKey };

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
