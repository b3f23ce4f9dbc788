import { createHmac } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { sameSecret } from '../../config/api-keys.ts';
import type { Refusal } from '../../http/problem.ts';

/**
 * Whether a handshake comes from Twilio: it signs the address of the stream, as the TwiML has it, with the account's auth
 * token (HMAC-SHA1, base64; Twilio's "Validating signatures"). Streams are always `wss`; some accounts sign a slash more.
 */
export function signatureRefusal(request: FastifyRequest, authToken: string): Refusal | undefined {
  const shown = request.headers['x-twilio-signature'];
  const address = `wss://${request.host}${request.url}`;
  const isTwilio = [address, `${address}/`].some((signed) => {
    const expected = createHmac('sha1', authToken).update(signed).digest('base64');
    return typeof shown === 'string' && sameSecret(expected, shown);
  });
  if (isTwilio) return undefined;
  const message =
    'The call is not signed by Twilio for this address. Check DRAMATIS_TWILIO_AUTH_TOKEN, and that the host is the one in the TwiML.';
  return { status: 403, problem: { code: 'invalid_twilio_signature', message } };
}
