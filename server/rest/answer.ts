import type { FastifyReply, FastifyRequest } from 'fastify';
import { EngineError, type EngineErrorCode } from '../../voices/engine.ts';
import { sendProblem } from '../http/problem.ts';

const statusOf: Readonly<Record<EngineErrorCode, number>> = {
  ENGINE_UNAVAILABLE: 503,
  ENGINE_TIMEOUT: 504,
  ENGINE_BAD_REPLY: 502,
  ENGINE_REFUSED: 502,
  ENGINE_MISSING: 501,
  ENGINE_NOT_RECORDED: 501,
};

/**
 * Answers a request with the result of `work`. Its signal aborts when the client hangs up, so that no engine works for
 * a client that is gone. An `EngineError` becomes an error response with its code; `work` may also send an error
 * response itself.
 */
export async function answer(
  request: FastifyRequest,
  reply: FastifyReply,
  work: (signal: AbortSignal) => Promise<unknown>,
): Promise<unknown> {
  const gone = new AbortController();
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) gone.abort(new Error('the client disconnected'));
  });
  try {
    return await work(gone.signal);
  } catch (fault) {
    if (gone.signal.aborted) {
      request.log.info('client disconnected');
      return reply.hijack();
    }
    if (!(fault instanceof EngineError)) throw fault;
    request.log.error({ code: fault.code, fault: fault.message }, 'engine failed');
    return sendProblem(reply, statusOf[fault.code], { code: fault.code, message: fault.detail });
  }
}

/** Waits for the first item, so that a failure before it can still be answered with a status code. */
export async function withFirstItem<Item>(items: AsyncIterable<Item>): Promise<AsyncGenerator<Item>> {
  const iterator = items[Symbol.asyncIterator]();
  const first = await iterator.next();
  return (async function* () {
    try {
      for (let next = first; next.done !== true; next = await iterator.next()) yield next.value;
    } finally {
      await iterator.return?.();
    }
  })();
}
