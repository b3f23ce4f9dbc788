import type { FastifyInstance } from 'fastify';
import type { AuthGuard } from '../../http/auth-guard.ts';
import type { SessionDeps } from '../../connections/open-session.ts';
import { sendProblem, sendRefusal } from '../../http/problem.ts';
import { callRequestBytes, readCallRequest } from './call-request.ts';
import { Calls } from './calls.ts';
import { iceSettingsFor } from './ice.ts';
import { checkBinding } from './udp-ports.ts';

const path = '/v1/realtime/calls';

/** Adds `POST /v1/realtime/calls`, OpenAI's WebRTC endpoint (GA), and `…/{call_id}/hangup`. */
export function addCalls(app: FastifyInstance, deps: Omit<SessionDeps, 'caller'>, guard: AuthGuard): void {
  const calls = new Calls(deps.config);
  app.addHook('onReady', () => checkBinding(iceSettingsFor(deps.config, undefined)));
  app.addHook('onClose', () => calls.close());
  // A separate scope, in which every body is taken as raw bytes.
  void app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    const asIs = { parseAs: 'buffer', bodyLimit: callRequestBytes } as const;
    scope.addContentTypeParser('*', asIs, (_request, body, done) => done(null, body));
    addRoutes(scope, calls, deps, guard);
  });
}

function addRoutes(scope: FastifyInstance, calls: Calls, deps: Omit<SessionDeps, 'caller'>, guard: AuthGuard): void {
  scope.post<{ Querystring: { model?: string | string[] } }>(
    path,
    { onRequest: guard.session },
    async (request, reply) => {
      const asked = await readCallRequest(request.body, request.headers['content-type']);
      if ('code' in asked) return sendProblem(reply, 400, asked);
      const model = [request.query.model].flat()[0];
      const caller = guard.authenticatedCaller(request);
      const reached = withoutMapping(request.socket.localAddress);
      const clientAddress = withoutMapping(request.ip);
      const answered = await calls.answer(
        { ...asked, model, reached, clientAddress },
        { ...deps, caller },
        request.log,
      );
      if ('status' in answered) return sendRefusal(reply, answered);
      return reply.code(201).header('location', `${path}/${answered.id}`).type('application/sdp').send(answered.sdp);
    },
  );
  scope.post<{ Params: { id: string } }>(
    `${path}/:id/hangup`,
    { onRequest: guard.serverKey },
    async (request, reply) => {
      if (calls.hangUp(request.params.id, guard.authenticatedCaller(request).owner)) return reply.code(200).send();
      return sendProblem(reply, 404, { code: 'not_found', message: 'There is no such call, or it has ended.' });
    },
  );
}

/** Dual-stack sockets report IPv4 addresses in mapped IPv6 form. */
function withoutMapping<Address extends string | undefined>(address: Address): Address {
  return address?.replace(/^::ffff:(?=\d+\.)/i, '') as Address;
}
