import { z } from 'zod';

/** What is wrong with a voice, or with what was asked for; the message says what to do about it. */
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

/** A voice's name in commands and cards. */
export const voiceIdSchema = z
  .string()
  .max(64)
  .regex(/^[a-z0-9]+(-[a-z0-9]+)*$/, 'lower-case words joined by hyphens');

/** What is measured of a clip. What no engine was there for is null. */
const measuredSchema = z.strictObject({
  seconds: z.number().positive(),
  /** Of speech to what is between it, in decibels, 0 to 100. */
  snrDb: z.number(),
  /** Fundamental frequency in hertz; the range is that of the middle nine tenths. */
  pitch: z.strictObject({ medianHertz: z.number(), lowHertz: z.number(), highHertz: z.number() }).nullable(),
  /** In words a minute, or characters where the language writes no spaces; of the time in which speech sounds. */
  speakingRate: z.strictObject({ perMinute: z.number(), unit: z.enum(['words', 'characters']) }).nullable(),
  /** DNSMOS, 1 to 5: P.835's three, and P.808's. */
  quality: z
    .strictObject({
      meter: z.string(),
      signal: z.number(),
      background: z.number(),
      overall: z.number(),
      p808: z.number().optional(),
    })
    .nullable(),
  /** Who speaks; to be compared with those of the same encoder alone. */
  embedding: z
    .strictObject({
      encoder: z.string(),
      values: z.array(z.number()).min(1),
      /** How alike parts of the clip are, -1 to 1: low where several people speak. Absent where that was not asked. */
      partsAlike: z.number().optional(),
    })
    .nullable(),
});

const clipSchema = z.strictObject({
  /** Mono WAV at 24 kHz, relative to the voice's folder. */
  file: z.string().regex(/^clips\/[\w.-]+\.wav$/),
  sha256: hash,
  /** Where in its recording. */
  startMs: milliseconds,
  endMs: milliseconds,
  /** What is said in it; empty where that could not be made out. */
  transcript: z.string(),
  /** Who heard it: a recognizer, or `text file`; null: nobody has tried yet. */
  transcribedBy: z.string().nullable(),
  /** Null until it was measured. */
  measured: measuredSchema.nullable(),
});

/** A recording and what was cut out of it: the journal that an interrupted `voices add` goes on with. */
export const sourceSchema = z.strictObject({
  version: z.literal(1),
  /** The file's name, without its folder. */
  name: z.string().min(1),
  sha256: hash,
  seconds: z.number().positive(),
  clips: z.array(clipSchema),
});

/** How a reference was chosen among `clips` that were fit. */
const choiceSchema = z.strictObject({
  /** `embedding`: highest mean cosine to the others. Without a speaker encoder `dnsmos`, without that `snr`: the cleanest, which says nothing of how typical it is. */
  by: z.enum(['embedding', 'dnsmos', 'snr']),
  score: z.number(),
  clips: z.number().int().min(1),
  /** Whose clip it is, of how many people heard; 1 speaks longest. Absent where all clips were taken for one speaker's. */
  speaker: z.strictObject({ number: z.number().int().min(1), of: z.number().int().min(1) }).optional(),
});

/** A voice, `voices/<id>/voice.json` under the data folder. */
export const voiceSchema = z.strictObject({
  version: z.literal(1),
  id: voiceIdSchema,
  /** BCP 47 tag of what is said in the clip. */
  language: z.string().regex(/^[a-z]{2,3}(-[A-Za-z0-9]+)*$/),
  /** What the recordings may be used for, in words; `not stated` where nobody said. */
  licence: z.string().min(1),
  /** Who allowed the voice to be cloned, and how that is known. */
  consent: z.strictObject({ note: z.string().trim().min(1).max(2_000), recordedAt: z.iso.datetime() }),
  /** What engines clone; null until one was chosen. */
  reference: clipSchema.extend({ measured: measuredSchema, source: z.string(), choice: choiceSchema }).nullable(),
});

export type Measured = z.infer<typeof measuredSchema>;
export type VoiceClip = z.infer<typeof clipSchema>;
export type VoiceSource = z.infer<typeof sourceSchema>;
export type VoiceChoice = z.infer<typeof choiceSchema>;
export type VoiceRecord = z.infer<typeof voiceSchema>;
