import { z } from 'zod';
import { badReply, brokenOff, errorWord, type Upstream } from '../calls/http-faults.ts';
import { serverSentEvents } from '../calls/sse.ts';
import { EngineError } from '../engine.ts';
import { joinTexts } from './decode-ahead.ts';

/** Schema of OpenAI's events, vLLM's chunks, and the segments of speaches. */
const eventSchema = z.object({
  type: z.string().optional(),
  delta: z.string().optional(),
  text: z.string().optional(),
  choices: z
    .array(
      z.object({ delta: z.object({ content: z.string().nullish() }).nullish(), finish_reason: z.string().nullish() }),
    )
    .optional(),
  error: z.unknown().optional(),
});

/**
 * Reads a transcript sent as events; passes the whole text so far to `onText` as it grows. Resolves to the whole text,
 * white space unchanged. Throws `EngineError` if the stream reports an error, is something else, or ends before the
 * text does.
 */
export async function readTranscript(
  bytes: AsyncIterable<Uint8Array>,
  upstream: Upstream,
  onText: (text: string) => void,
): Promise<string> {
  const segments: string[] = [];
  let grown = '';
  let isOver = false;
  for await (const { data } of serverSentEvents(bytes)) {
    if (data === '[DONE]') return grown;
    const { type, delta, text, choices } = readEvent(data, upstream);
    if (type === 'transcript.text.done') return text ?? grown;
    const [choice] = choices ?? [];
    if (choice?.finish_reason !== undefined && choice.finish_reason !== null) isOver = true;
    grown += delta ?? choice?.delta?.content ?? '';
    // A segment is complete by itself, and the end of the stream is the end of the text.
    if (type === undefined && text !== undefined) {
      segments.push(text);
      grown = joinTexts(segments);
      isOver = true;
    }
    if (grown.trim() !== '') onText(grown.trim());
  }
  if (!isOver) throw grown === '' ? badReply(upstream, 'no transcript') : brokenOff(upstream);
  return grown;
}

function readEvent(data: string, upstream: Upstream): z.infer<typeof eventSchema> {
  let event: z.infer<typeof eventSchema>;
  try {
    event = eventSchema.parse(JSON.parse(data));
  } catch {
    throw badReply(upstream, 'an invalid transcript event');
  }
  if (event.error === undefined || event.error === null) return event;
  const word = errorWord(data);
  const detail = `the server reported an error in its stream${word === undefined ? '' : ` (${word})`}`;
  throw new EngineError(upstream.name, 'ENGINE_UNAVAILABLE', detail);
}
