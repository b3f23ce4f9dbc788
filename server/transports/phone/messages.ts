import { z } from 'zod';

const text = z.string().max(4_096);

const messageSchema = z.discriminatedUnion('event', [
  z.looseObject({ event: z.literal('connected') }),
  z.looseObject({
    event: z.literal('start'),
    start: z.looseObject({
      streamSid: text,
      customParameters: z.record(text, text).default({}),
      mediaFormat: z.looseObject({ encoding: z.literal('audio/x-mulaw'), sampleRate: z.literal(8_000) }).optional(),
    }),
  }),
  z.looseObject({
    event: z.literal('media'),
    /** `track` distinguishes the caller's audio from our own, which Twilio also sends if the stream was asked for both. */
    media: z.looseObject({ payload: z.string(), track: text.default('inbound') }),
  }),
  z.looseObject({ event: z.literal('mark'), mark: z.looseObject({ name: text }) }),
  z.looseObject({ event: z.literal('dtmf') }),
  z.looseObject({ event: z.literal('stop') }),
]);

/** A message of Twilio Media Streams, as Twilio sends it. */
export type TwilioMessage = z.infer<typeof messageSchema>;

/** A message to Twilio; `media` carries µ-law at 8 kHz in base64. */
export type TwilioCommand =
  | { readonly event: 'media'; readonly streamSid: string; readonly media: { readonly payload: string } }
  /** Comes back once everything sent before it has been played, or discarded by `clear`. */
  | { readonly event: 'mark'; readonly streamSid: string; readonly mark: { readonly name: string } }
  /** Discards what has not been played yet. */
  | { readonly event: 'clear'; readonly streamSid: string };

/** Parses one frame; undefined if it is not a Twilio message. */
export function parseTwilioMessage(frame: string): TwilioMessage | undefined {
  try {
    return messageSchema.safeParse(JSON.parse(frame)).data;
  } catch {
    return undefined;
  }
}
