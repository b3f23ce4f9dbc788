import { createHmac } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { sameSecret } from '../../config/api-keys.ts';
import type { Refusal } from '../../http/problem.ts';

/**
 * Returns a `Refusal` unless a handshake is signed by Twilio. Twilio signs the URL of the stream, as given in the
 * TwiML, with the account's auth token (HMAC-SHA1, base64; see "Validating signatures" in Twilio's docs). The scheme is
 * always `wss`; some accounts sign the URL with a trailing slash.
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
