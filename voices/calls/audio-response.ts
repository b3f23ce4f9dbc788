import type { CallOptions } from '../engine.ts';
import { badReply, type Upstream } from './http-faults.ts';
import { send, type HttpReply, type HttpRequest } from './http.ts';
import { pcmBlocks, type PcmBlock, type RawFormat } from './pcm-stream.ts';

/** Sends a request and yields the audio of its response; `raw` is its format if it is not a WAV. Throws like `send`. */
export async function* sendForAudio(
  upstream: Upstream,
  request: HttpRequest,
  raw: RawFormat,
  options: CallOptions,
): AsyncGenerator<PcmBlock> {
  yield* audioOf(upstream, await send(upstream, request, options), raw);
}

/** Decodes the audio of a response; throws `ENGINE_BAD_REPLY` if its content type is text. */
export async function* audioOf(upstream: Upstream, reply: HttpReply, raw: RawFormat): AsyncGenerator<PcmBlock> {
  const type = reply.headers['content-type'] ?? '';
  if (/html|json|text\//.test(type)) throw badReply(upstream, `${type.split(';')[0]} instead of audio`);
  yield* pcmBlocks(reply.body, raw);
}
