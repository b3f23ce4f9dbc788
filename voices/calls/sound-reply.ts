import type { CallOptions } from '../engine.ts';
import { badReply, type Upstream } from './http-faults.ts';
import { send, type HttpReply, type HttpRequest } from './http.ts';
import { pcmBlocks, type PcmBlock, type RawFormat } from './pcm-stream.ts';

/** Sends a request whose answer is sound, as it comes; `raw` is what it is where it is no WAV. Throws like `send`. */
export async function* sendForSound(
  upstream: Upstream,
  request: HttpRequest,
  raw: RawFormat,
  options: CallOptions,
): AsyncGenerator<PcmBlock> {
  yield* soundOf(upstream, await send(upstream, request, options), raw);
}

/** The sound of an answer. One that says it is text is `ENGINE_BAD_REPLY`; any other type is believed to be sound. */
export async function* soundOf(upstream: Upstream, reply: HttpReply, raw: RawFormat): AsyncGenerator<PcmBlock> {
  const type = reply.headers['content-type'] ?? '';
  if (/html|json|text\//.test(type)) throw badReply(upstream, `${type.split(';')[0]} instead of sound`);
  yield* pcmBlocks(reply.body, raw);
}
