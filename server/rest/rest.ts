import fastifyMultipart from '@fastify/multipart';
import type { FastifyInstance } from 'fastify';
import type { Character } from '../../characters/character.ts';
import type { Config } from '../config/config.ts';
import type { Engines } from '../engines/engines.ts';
import type { Memories } from '../memory/memories.ts';
import type { ClientSecrets } from '../http/client-secrets.ts';
import type { Door } from '../http/auth-guard.ts';
import { addCharacters } from './characters.ts';
import { addChat } from './chat.ts';
import { addMemories } from './memories.ts';
import { addSpeech } from './speech.ts';
import { addTranscriptions, uploadLimits } from './transcriptions.ts';
import { addVoices } from './voices.ts';

/** Dependencies of the REST endpoints. */
export interface RestParts {
  readonly config: Config;
  readonly engines: Engines;
  /** Imported and changed characters are written into it. */
  readonly characters: Map<string, Character>;
  readonly memories?: Memories | undefined;
}

/**
 * Adds the REST endpoints: OpenAI's chat, speech and transcription APIs, and the routes for characters, voices and
 * memories.
 */
export async function addRest(
  app: FastifyInstance,
  parts: RestParts & { readonly secrets: ClientSecrets },
  door: Door,
): Promise<void> {
  await app.register(fastifyMultipart, { limits: uploadLimits, throwFileSizeLimit: false });
  await addCharacters(app, parts, door);
  addChat(app, parts, door);
  addSpeech(app, parts, door);
  addTranscriptions(app, parts, door);
  addVoices(app, parts.config, door);
  if (parts.memories !== undefined) addMemories(app, parts.memories, door);
}
