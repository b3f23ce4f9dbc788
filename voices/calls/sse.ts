/** One server-sent event: `data` with its lines joined; `event` is empty if the stream names none. */
export interface ServerSentEvent {
  readonly event: string;
  readonly data: string;
}

/**
 * Parses `text/event-stream`, however its bytes are split: any line ending, several data lines, comments (pings)
 * skipped. An event cut off by the end of the stream counts, because some servers omit the last empty line. `[DONE]` is
 * an event like any other.
 */
export async function* serverSentEvents(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<ServerSentEvent> {
  let event = '';
  let data: string[] = [];
  for await (const line of linesOf(bytes)) {
    if (line === '') {
      if (data.length > 0) yield { event, data: data.join('\n') };
      event = '';
      data = [];
      continue;
    }
    const colon = line.indexOf(':');
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (field === 'data') data.push(value);
    else if (field === 'event') event = value;
  }
  if (data.length > 0) yield { event, data: data.join('\n') };
}

/** Lines without their line endings; a carriage return at the end of a piece may be half of one. */
export async function* linesOf(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let held = '';
  for await (const piece of bytes) {
    held += decoder.decode(piece, { stream: true });
    const lines = held.split(/\r\n|\n|\r(?!$)/);
    held = lines.pop() ?? '';
    yield* lines;
  }
  held += decoder.decode();
  if (held !== '') yield held.replace(/\r$/, '');
}
