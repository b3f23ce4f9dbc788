import { z } from 'zod';

/** A problem with a voice or with the request; the message says what to do about it. */
export class VoiceError extends Error {
  override readonly name = 'VoiceError';
  readonly code: 'voice_not_found' | 'voice_invalid' | 'voice_consent_missing' | 'voice_not_usable' | 'voice_in_use';

  constructor(code: VoiceError['code'], detail: string, cause?: unknown) {
    super(detail, { cause });
    this.code = code;
  }
}

const hash = z.hash('sha256');
const milliseconds = z.number().min(0);

/** Name of a voice in commands and character cards. */
export const voiceIdSchema = z
  .string()
  .max(64)
  .regex(/^[a-z0-9]+(-[a-z0-9]+)*$/, 'lower-case words joined by hyphens');

/** Measurements of a clip. A value is null if no engine was available to measure it. */
const measuredSchema = z.strictObject({
  seconds: z.number().positive(),
  /** Signal-to-noise ratio: speech against the pauses between, in decibels, 0 to 100. */
  snrDb: z.number(),
  /** Fundamental frequency in hertz; the range covers the middle nine tenths. */
  pitch: z.strictObject({ medianHertz: z.number(), lowHertz: z.number(), highHertz: z.number() }).nullable(),
  /** Words per minute, or characters if the language writes no spaces; counts only the time with speech. */
  speakingRate: z.strictObject({ perMinute: z.number(), unit: z.enum(['words', 'characters']) }).nullable(),
  /** DNSMOS, 1 to 5: the three scores of P.835, and that of P.808. */
  quality: z
    .strictObject({
      meter: z.string(),
      signal: z.number(),
      background: z.number(),
      overall: z.number(),
      p808: z.number().optional(),
    })
    .nullable(),
  /** Speaker embedding; to be compared only with those of the same encoder. */
  embedding: z
    .strictObject({
      encoder: z.string(),
      values: z.array(z.number()).min(1),
      /** Similarity of the parts of the clip, -1 to 1: low if several people speak. Absent if it was not measured. */
      partsAlike: z.number().optional(),
    })
    .nullable(),
});

const clipSchema = z.strictObject({
  /** Mono WAV at 24 kHz, relative to the voice's folder. */
  file: z.string().regex(/^clips\/[\w.-]+\.wav$/),
  sha256: hash,
  /** Position in its recording. */
  startMs: milliseconds,
  endMs: milliseconds,
  /** Transcript; empty if it could not be recognized. */
  transcript: z.string(),
  /** Source of the transcript: a recognizer's name, or `text file`; null if not tried yet. */
  transcribedBy: z.string().nullable(),
  /** Null until measured. */
  measured: measuredSchema.nullable(),
});

/** A recording and the clips cut from it: the journal from which an interrupted `voices add` resumes. */
export const sourceSchema = z.strictObject({
  version: z.literal(1),
  /** File name without its folder. */
  name: z.string().min(1),
  sha256: hash,
  seconds: z.number().positive(),
  clips: z.array(clipSchema),
});

/** Choice of a reference among `clips` fit clips. */
const choiceSchema = z.strictObject({
  /** `embedding`: highest mean cosine to the others; without an encoder `dnsmos`, then `snr`: the cleanest clip. */
  by: z.enum(['embedding', 'dnsmos', 'snr']),
  score: z.number(),
  clips: z.number().int().min(1),
  /** Speaker of the clip, of those detected; 1 speaks longest. Absent if all clips were taken for one speaker's. */
  speaker: z.strictObject({ number: z.number().int().min(1), of: z.number().int().min(1) }).optional(),
});

/** A voice: `voices/<id>/voice.json` in the data folder. */
export const voiceSchema = z.strictObject({
  version: z.literal(1),
  id: voiceIdSchema,
  /** BCP 47 tag of the clip's language. */
  language: z.string().regex(/^[a-z]{2,3}(-[A-Za-z0-9]+)*$/),
  /** Permitted use of the recordings, in words; `not stated` if none was given. */
  licence: z.string().min(1),
  /** Note on who allowed the voice to be cloned and how that is known. */
  consent: z.strictObject({ note: z.string().trim().min(1).max(2_000), recordedAt: z.iso.datetime() }),
  /** The clip that engines clone; null until one was chosen. */
  reference: clipSchema.extend({ measured: measuredSchema, source: z.string(), choice: choiceSchema }).nullable(),
});

export type Measured = z.infer<typeof measuredSchema>;
export type VoiceClip = z.infer<typeof clipSchema>;
export type VoiceSource = z.infer<typeof sourceSchema>;
export type VoiceChoice = z.infer<typeof choiceSchema>;
export type VoiceRecord = z.infer<typeof voiceSchema>;
