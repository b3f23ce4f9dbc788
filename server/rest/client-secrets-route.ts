import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Character } from '../../characters/character.ts';
import type { Config } from '../config/config.ts';
import type { Engines } from '../engines/engines.ts';
import { sessionPatchSchema } from '../protocol/client-events.ts';
import { secretTerms, type SecretTerms } from '../protocol/secret-terms.ts';
import { betaSession, clientSecretFromBeta, transcriptionSecretFromBeta } from '../realtime/beta.ts';
import { newId } from '../realtime/encode.ts';
import { echoOf, mergeSession, newWireSession, type WireSession } from '../realtime/wire-session.ts';
import type { Problem } from '../session/contract/events.ts';
import { jsonBytes, type ClientSecrets } from '../http/client-secrets.ts';
import { limits } from '../limits/limits.ts';
import type { AuthGuard } from '../http/auth-guard.ts';
import { sessionExtras } from '../connections/open-session.ts';
import { sendRefusal, type Refusal } from '../http/problem.ts';
import { characterFor, noSuchCharacter } from '../connections/caller-choice.ts';
import { parseBody } from '../http/request-body.ts';

/** Fields that are not known are not kept. */
const schema = z.object({
  expires_after: z
    .object({
      anchor: z.literal('created_at').default('created_at'),
      seconds: z.number().int().min(10).max(7_200).default(600),
    })
    .default({ anchor: 'created_at', seconds: 600 }),
  session: sessionPatchSchema
    .extend({ model: z.string().max(256).optional() })
    .strip()
    .optional(),
  x_dramatis: secretTerms.optional(),
});

interface Deps {
  readonly config: Config;
  readonly engines: Engines;
  readonly characters: ReadonlyMap<string, Character>;
  /** Makes a client secret known to the other nodes, if there are any. Returns the refusal if that fails. */
  readonly shareSecret?: ((value: string) => Promise<Refusal | undefined>) | undefined;
}

/**
 * Adds `POST /v1/realtime/client_secrets`, and for pre-GA clients `POST /v1/realtime/sessions` and
 * `…/transcription_sessions`. Each issues a short-lived key for a browser or a game, bound to one character.
 */
export function addClientSecrets(app: FastifyInstance, deps: Deps, secrets: ClientSecrets, auth: AuthGuard): void {
  const make = async (request: FastifyRequest, body: unknown): Promise<MadeSecret | Refusal> => {
    const made = makeSecret(body, deps, secrets, auth.authenticatedCaller(request).owner);
    const refusal = 'session' in made ? await deps.shareSecret?.(made.value) : undefined;
    if (refusal !== undefined) return refusal;
    if ('session' in made) request.log.info({ character: made.session.model }, 'client secret made');
    return made;
  };
  const options = { onRequest: auth.serverKey, bodyLimit: limits.clientSecretBodyBytes.value };
  app.post('/v1/realtime/client_secrets', options, async (request, reply) => {
    const made = await make(request, request.body ?? {});
    if ('status' in made) return sendRefusal(reply, made);
    reply.header('cache-control', 'no-store');
    return { ...made, session: echoOf(made.session) };
  });
  const beforeGa = [
    ['/v1/realtime/sessions', clientSecretFromBeta],
    ['/v1/realtime/transcription_sessions', transcriptionSecretFromBeta],
  ] as const;
  for (const [path, fromBeta] of beforeGa) {
    app.post(path, options, async (request, reply) => {
      const made = await make(request, fromBeta(request.body));
      if ('status' in made) return sendRefusal(reply, made);
      reply.header('cache-control', 'no-store');
      const { value, expires_at, session } = made;
      return { ...betaSession(echoOf(session)), client_secret: { value, expires_at } };
    });
  }
}

interface MadeSecret {
  readonly value: string;
  readonly expires_at: number;
  readonly session: WireSession;
}

function makeSecret(
  body: unknown,
  deps: Deps,
  secrets: ClientSecrets,
  owner: string | undefined,
): MadeSecret | Refusal {
  const parsed = parseBody(schema, body);
  if ('problem' in parsed) return { status: 400, problem: parsed.problem };
  const { session: startWith, expires_after, x_dramatis: terms } = parsed.body;
  if (startWith !== undefined && jsonBytes(startWith) > limits.clientSecretBytes.value)
    return { status: 400, problem: tooLarge };
  const character = characterFor(startWith?.model, deps);
  if (character === undefined) {
    return { status: 404, problem: { ...noSuchCharacter(startWith?.model, deps), param: 'session.model' } };
  }
  const refusal = refusalOf(terms, deps);
  if (refusal !== undefined) return refusal;
  if (startWith?.x_dramatis?.scene) return { status: 400, problem: sceneIsModel };
  const expiresAtMs = Date.now() + expires_after.seconds * 1000;
  const fresh = newWireSession(character, {
    id: newId('sess'),
    model: character.id,
    expiresAt: Math.floor(expiresAtMs / 1000),
    recognizer: deps.engines.recognizer.name,
    about: sessionExtras(character, deps.engines),
    type: startWith?.type,
  });
  const session = startWith === undefined ? fresh : mergeSession(fresh, startWith, character);
  if ('code' in session) return { status: 400, problem: session };
  const value = secrets.issue({ character, startWith, terms, owner, expiresAtMs });
  if (value === undefined) return tooManySecrets;
  return { value, expires_at: session.expires_at, session };
}

/** Returns the refusal of terms that this server cannot keep. */
function refusalOf({ characters = [], limits: most }: SecretTerms = {}, deps: Deps): Refusal | undefined {
  const unknown = characters.find((id) => !deps.characters.has(id));
  if (unknown !== undefined)
    return { status: 404, problem: { ...noSuchCharacter(unknown, deps), param: 'x_dramatis.characters' } };
  const isPriced = deps.config.prices.length > 0;
  return most?.cost !== undefined && !isPriced ? { status: 400, problem: noPrices } : undefined;
}

const tooLarge: Problem = {
  code: 'text_too_long',
  message: `The session of a client secret may have ${limits.clientSecretBytes.value.toLocaleString('en')} bytes as JSON.`,
  param: 'session',
};

/** The refusal of an account that holds as many client secrets as it may. */
export const tooManySecrets: Refusal = {
  status: 429,
  problem: {
    code: 'too_many_client_secrets',
    message: 'There are too many client secrets, or they are too large. Wait until some expire.',
  },
  retryAfterSeconds: 60,
};

const noPrices: Problem = {
  code: 'invalid_value',
  message:
    'This server has no prices, so it cannot count cost. Set DRAMATIS_PRICES, or limit replies, tokens or audio_s.',
  param: 'x_dramatis.limits.cost',
};

const sceneIsModel: Problem = {
  code: 'invalid_value',
  message: 'To make a client secret for a scene, set `session.model` to `scene:ID`.',
  param: 'session.x_dramatis.scene',
};
