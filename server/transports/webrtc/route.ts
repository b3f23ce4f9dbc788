import { isIPv4 } from 'node:net';
import type { FastifyInstance, preHandlerAsyncHookHandler } from 'fastify';
import type { AuthGuard } from '../../http/auth-guard.ts';
import { resumeTokenOf } from '../../http/access.ts';
import type { SocketDeps } from '../../connections/open-stream.ts';
import { sendProblem, sendRefusal } from '../../http/problem.ts';
import { callRequestBytes, readCallRequest } from './call-request.ts';
import { Calls } from './calls.ts';
import { iceSettingsFor } from './ice.ts';
import { checkBinding } from './udp-ports.ts';

const path = '/v1/realtime/calls';

/** The hooks of a server that is one of several nodes. */
export interface CallNode {
  readonly cluster: { readonly nodeId: string };
  readonly bringBackCall: preHandlerAsyncHookHandler;
  readonly toItsNode: preHandlerAsyncHookHandler;
}

/** Adds `POST /v1/realtime/calls`, OpenAI's WebRTC endpoint (GA), and `…/{call_id}/hangup`. */
export function addCalls(
  app: FastifyInstance,
  deps: Omit<SocketDeps, 'caller'>,
  guard: AuthGuard,
  node: CallNode | undefined,
): void {
  const calls = new Calls(deps.config, node?.cluster.nodeId);
  app.addHook('onReady', () => checkBinding(iceSettingsFor(deps.config, undefined)));
  app.addHook('onClose', () => calls.close());
  // A separate scope, in which every body is taken as raw bytes.
  void app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    const asIs = { parseAs: 'buffer', bodyLimit: callRequestBytes } as const;
    scope.addContentTypeParser('*', asIs, (_request, body, done) => done(null, body));
    addRoutes(scope, calls, { deps, guard, node });
  });
}

interface RouteParts {
  readonly deps: Omit<SocketDeps, 'caller'>;
  readonly guard: AuthGuard;
  readonly node: CallNode | undefined;
}

function addRoutes(scope: FastifyInstance, calls: Calls, { deps, guard, node }: RouteParts): void {
  scope.post<{ Querystring: Record<string, string | string[] | undefined> }>(
    path,
    { onRequest: guard.session, preHandler: node === undefined ? [] : node.bringBackCall },
    async (request, reply) => {
      const asked = await readCallRequest(request.body, request.headers['content-type']);
      if ('code' in asked) return sendProblem(reply, 400, asked);
      const [model, x, after] = ['model', 'x', 'after'].map((name) => [request.query[name]].flat()[0]);
      const resume = resumeTokenOf(request.headers, request.query);
      const caller = guard.authenticatedCaller(request);
      const reached = withoutMapping(request.socket.localAddress);
      // A request that another node has passed on comes from its client.
      const clientAddress = isIPv4(caller.address) ? caller.address : withoutMapping(request.ip);
      const answered = await calls.answer(
        { ...asked, model, x, resume, after, reached, clientAddress },
        { ...deps, caller },
        request.log,
      );
      if ('status' in answered) return sendRefusal(reply, answered);
      return reply.code(201).header('location', `${path}/${answered.id}`).type('application/sdp').send(answered.sdp);
    },
  );
  scope.post<{ Params: { id: string } }>(
    `${path}/:id/hangup`,
    { onRequest: guard.serverKey, preHandler: node === undefined ? [] : node.toItsNode },
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
