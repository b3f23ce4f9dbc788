import { z } from 'zod';
import type { EngineContext } from '../../calls/context.ts';
import { badReply, readJson } from '../../calls/http-faults.ts';
import type { PlacedTimes } from '../../calls/pcm-stream.ts';
import type { RenderOptions } from '../../synthesis/by-phrase.ts';
import type { TimedPhone } from '../../synthesizer.ts';

/** A text message of the Speech protocol: headers, an empty line, the body. */
export function azureMessage(path: string, requestId: string, body: string): string {
  const type = path === 'ssml' ? 'application/ssml+xml' : 'application/json';
  const time = new Date().toISOString();
  const headers = [`Path: ${path}`, `X-RequestId: ${requestId}`, `X-Timestamp: ${time}`, `Content-Type: ${type}`];
  return `${headers.join('\r\n')}\r\n\r\n${body}`;
}

/** Its speaking styles for our emotions; a voice without the style speaks as usual. */
const styles: Readonly<Record<string, string>> = {
  cheerful: 'cheerful',
  tender: 'gentle',
  sad: 'sad',
  angry: 'angry',
  afraid: 'terrified',
  surprised: 'excited',
};

/** The document that asks for one text; `speed` is a factor from 0.5 to 2. */
export function ssmlOf(
  text: string,
  voice: string,
  { language, speed, emotion }: Pick<RenderOptions, 'language' | 'speed' | 'emotion'>,
): string {
  const percent = Math.round((Math.min(2, Math.max(0.5, speed)) - 1) * 100);
  const style = styles[emotion ?? ''];
  const paced =
    percent === 0 ? escaped(text) : `<prosody rate="${percent > 0 ? '+' : ''}${percent}%">${escaped(text)}</prosody>`;
  const styled = style === undefined ? paced : `<mstts:express-as style="${style}">${paced}</mstts:express-as>`;
  return (
    '<speak version="1.0" xmlns="http://www.w3.org/2001/10/synthesis" xmlns:mstts="http://www.w3.org/2001/mstts" ' +
    `xml:lang="${escaped(language ?? 'en-US')}"><voice name="${escaped(voice)}">${styled}</voice></speak>`
  );
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
};

/** Text for XML, without control characters, most of which it may not hold. */
function escaped(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, ' ').replaceAll(/[&<>"']/g, (mark) => entities[mark] ?? '');
}

const metadataSchema = z.object({
  Metadata: z.array(
    z.object({
      Type: z.string(),
      Data: z.object({
        /** Units of 100 ns. */
        Offset: z.number().default(0),
        Duration: z.number().default(0),
        text: z.object({ Text: z.string() }).optional(),
        VisemeId: z.number().optional(),
      }),
    }),
  ),
});
type Metadata = z.infer<typeof metadataSchema>['Metadata'];

/** A message of the server. */
export interface AzureMessage {
  readonly path: string;
  readonly audio?: Buffer;
  readonly metadata?: Metadata;
}

/** Reads a text message, or a binary one: two bytes with the length of its headers, headers, audio. */
export function readAzureMessage(message: string | Buffer, context: EngineContext): AzureMessage {
  if (typeof message === 'string') {
    const [head = '', ...rest] = message.split('\r\n\r\n');
    const path = pathIn(head, context);
    if (path !== 'audio.metadata') return { path };
    const body = readJson(rest.join('\r\n\r\n'), metadataSchema, context, 'times that cannot be read');
    return { path, metadata: body.Metadata };
  }
  const length = message.length < 2 ? 0 : message.readUInt16BE(0);
  return { path: pathIn(message.toString('latin1', 2, 2 + length), context), audio: message.subarray(2 + length) };
}

function pathIn(headers: string, context: EngineContext): string {
  const path = /^path:\s*(?<path>\S+)/im.exec(headers)?.groups?.['path'];
  if (path === undefined) throw badReply(context, 'a message that is none of Azure Speech');
  return path.toLowerCase();
}

/** A sound for each of its 22 visemes, one of those that look the same. */
const soundOfViseme = [
  '',
  'ə',
  'ɑ',
  'ɔ',
  'ɛ',
  'ɝ',
  'i',
  'u',
  'oʊ',
  'aʊ',
  'ɔɪ',
  'aɪ',
  'h',
  'ɹ',
  'l',
  's',
  'ʃ',
  'ð',
  'f',
  't',
  'k',
  'p',
];
const ticksPerMs = 10_000;

/** Its words, and its visemes, each of which lasts until the next begins. */
export class PlacedByAzure {
  #last: { readonly sound: string; readonly startMs: number } | undefined;

  take(metadata: Metadata): PlacedTimes {
    const told = metadata.flatMap(({ Type, Data: { Offset, Duration, text } }) =>
      Type !== 'WordBoundary' || text === undefined
        ? []
        : [{ text: text.Text, startMs: Offset / ticksPerMs, endMs: (Offset + Duration) / ticksPerMs }],
    );
    const sounds: TimedPhone[] = [];
    for (const { Type, Data } of metadata) {
      // The length of all audio.
      if (Type === 'SessionEnd') sounds.push(...this.#until(Data.Offset / ticksPerMs, undefined));
      if (Type === 'Viseme' && Data.VisemeId !== undefined)
        sounds.push(...this.#until(Data.Offset / ticksPerMs, soundOfViseme[Data.VisemeId] ?? ''));
    }
    return { ...(told.length > 0 && { told }), ...(sounds.length > 0 && { sounds }) };
  }

  /** Returns the last viseme, if its end was not sent. */
  rest(): PlacedTimes {
    return { sounds: this.#until((this.#last?.startMs ?? 0) + usualMs, undefined) };
  }

  #until(endMs: number, next: string | undefined): TimedPhone[] {
    const last = this.#last;
    this.#last = next === undefined ? undefined : { sound: next, startMs: endMs };
    return last === undefined ? [] : [{ ...last, endMs }];
  }
}

/** Length of a last viseme whose end is not known. */
const usualMs = 80;
