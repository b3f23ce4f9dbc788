import { z } from 'zod';
import { emotions } from './emotion.ts';
import { lorePattern } from './lore-pattern.ts';

const shortText = z.string().trim().min(1).max(400);
const longText = z.string().trim().min(1).max(40_000);
/** A text that a character can do without. */
const ownText = z.string().trim().max(40_000);
const language = z.string().regex(/^[a-z]{2,3}(-[A-Za-z0-9]+)*$/, 'a BCP 47 tag such as "en" or "zh"');

/** How one embedded synthesizer speaks as this character. `pitch` and `rate` are factors, 1 = the voice as it is. */
const presetVoice = z.strictObject({
  /** Voice name inside that synthesizer, for example `rms` for Flite or `cmn` for eSpeak NG. */
  id: shortText,
  pitch: z.number().min(0.5).max(2).default(1),
  rate: z.number().min(0.5).max(2).default(1),
});

/** A fact the mind recalls when one of its keys is mentioned: an entry of a lorebook (Character Card V2 and V3). */
const loreFields = z.strictObject({
  /** May be empty for constant entries only. */
  keys: z.array(shortText).max(100),
  /** May begin with decorators of Character Card V3, one `@@name value` a line. */
  content: z.string().trim().min(1).max(20_000),
  /** Always in the prompt, mentioned or not. */
  constant: z.boolean().default(false),
  /** Where there are some, one of them must be mentioned as well. */
  secondaryKeys: z.array(shortText).max(100).optional(),
  caseSensitive: z.boolean().optional(),
  /** Keys are regular expressions (RE2: no look-around, no references to groups; in return they are quick). */
  regex: z.boolean().optional(),
  /** Lower stands earlier in the prompt; the highest goes first where the budget is short. */
  order: z.number().optional(),
  /** The lowest is dropped first where the budget is short, before the order is looked at. */
  priority: z.number().optional(),
  enabled: z.boolean().optional(),
  name: z.string().max(400).optional(),
});

const loreEntry = loreFields.superRefine((entry, context) => {
  if (!entry.constant && entry.keys.length === 0)
    context.addIssue({ code: 'custom', path: ['keys'], message: 'an entry needs keys, or "constant": true' });
  if (entry.regex !== true) return;
  for (const field of ['keys', 'secondaryKeys'] as const) {
    for (const [index, key] of (entry[field] ?? []).entries()) {
      const message = whyNoPattern(key);
      if (message !== undefined) context.addIssue({ code: 'custom', path: [field, index], message });
    }
  }
});

function whyNoPattern(key: string): string | undefined {
  try {
    lorePattern(key, false);
    return undefined;
  } catch (fault) {
    return fault instanceof Error ? fault.message : String(fault);
  }
}

/** How the lorebook is read. */
const loreReading = z.strictObject({
  /** How many of the latest messages are searched for keys. */
  scanDepth: z.number().int().min(0).max(1_000).default(3),
  /** The most estimated tokens that recalled entries take. */
  budgetTokens: z.number().int().min(0).max(100_000).default(600),
  /** Whether recalled entries are searched for the keys of others. */
  recursive: z.boolean().default(false),
});

/**
 * A character card, `characters/<id>/card.json`. Everything a mind, a voice and the turn machine must know about one
 * character, apart from its example dialogue (`lines.jsonl`, see {@link dialoguePairSchema}).
 */
export const cardSchema = z.strictObject({
  id: z
    .string()
    .regex(/^[a-z0-9]+(-[a-z0-9]+)*$/, 'lower-case words joined by hyphens')
    .max(64),
  name: shortText,
  /** One line for pickers and lists, at most 120 characters. */
  tagline: z.string().trim().min(1).max(120),
  /** Who this is, in one sentence, third person. */
  identity: shortText,
  work: z.strictObject({
    title: shortText,
    author: shortText.optional(),
    year: z.number().int().min(-3000).max(2100).optional(),
    /** Why we may use the character, for example "public domain (first published 1870)". */
    rights: shortText,
  }),
  /** Languages the example lines are written in; the first is the one greeted in. */
  languages: z.array(language).min(1).max(8),
  /** Age, station, looks, occupation. */
  profile: longText,
  /** Life so far. */
  background: ownText,
  relationships: z.array(z.strictObject({ name: shortText, relation: shortText })).max(100),
  /** Adjectives and short traits. */
  temperament: z.array(shortText).max(40),
  /** How the character talks: diction, rhythm, habits. */
  style: ownText,
  catchphrases: z.array(shortText).max(20),
  mbti: z
    .string()
    .regex(/^[EI][NS][FT][JP]$/, 'four letters, such as INTP')
    .optional(),
  knowledge: z.strictObject({
    /** What the character can speak of. */
    knows: longText,
    /** The last year the character knows anything about; absent for fairy-tale time. */
    untilYear: z.number().int().min(-3000).max(2100).optional(),
    /** What lies outside the character's world. */
    unknown: longText,
  }),
  /** Spoken when a session opens; one is chosen. */
  greetings: z.array(z.string().trim().min(1).max(1_200)).min(1).max(100),
  /** In-character ways out, for remarks that no known line answers. */
  evasions: z.array(shortText).min(6).max(60),
  /** In-character requests to say it again, for speech that was not understood. */
  repeatRequests: z.array(shortText).min(3).max(20),
  /** What it has lived through, a passage each: told to a model where the talk comes to it. */
  experiences: z.array(z.string().trim().min(1).max(2_000)).max(5_000).optional(),
  /** Where and when the talk takes place. */
  scenario: ownText.optional(),
  /** What the card's maker tells whoever plays the character. It never outranks the rules of the house. */
  directions: z.strictObject({ before: ownText.optional(), after: ownText.optional() }).optional(),
  lorebook: z.array(loreEntry).max(20_000).default([]),
  loreReading: loreReading.prefault({}),
  voice: z.strictObject({
    gender: z.enum(['female', 'male', 'neutral']),
    /** A voice of the library (`dramatis voices list`), for engines that clone. */
    reference: z
      .string()
      .regex(/^[a-z0-9]+(-[a-z0-9]+)*$/, 'lower-case words joined by hyphens')
      .max(64)
      .optional(),
    /** A few words for a human who casts a cloned voice: age, timbre, accent, pace. */
    description: shortText,
    flite: presetVoice.optional(),
    espeak: presetVoice.optional(),
  }),
  speech: z
    .strictObject({
      /** A factor: below 1 slower, above 1 faster than the voice is by itself. */
      pace: z.number().min(0.5).max(2).default(1),
      /** How words are said that the voice says wrongly: the word as written, and a spelling that sounds right. */
      pronunciations: z.record(shortText, shortText).default({}),
    })
    .prefault({}),
  /**
   * `instructions`: where a session has instructions, they are all that a model is told, word for word, and this card only
   * names and casts. For benchmarks that bring their own prompts. `card`, unless given: they are a scene under the character.
   */
  persona: z.enum(['card', 'instructions']).optional(),
  turnTaking: z
    .strictObject({
      /** 0 answers the moment you pause, 1 waits long before answering. */
      patience: z.number().min(0).max(1).default(0.5),
      /** 0 talks on through interruptions, 1 yields at once. */
      interruptibility: z.number().min(0).max(1).default(0.7),
      /** 0 listens in silence, 1 says "mm-hm" often. */
      backchannels: z.number().min(0).max(1).default(0.2),
    })
    .prefault({}),
});

/** A parsed character card; see the schema for ranges. */
export type Card = z.infer<typeof cardSchema>;

/**
 * One line of `characters/<id>/lines.jsonl`: one to four ways a person might say something, and what the character answers.
 * Replies are made for the ear: one to three short sentences, no markup, no stage directions.
 */
export const dialoguePairSchema = z.strictObject({
  asks: z.array(shortText).min(1).max(4),
  reply: z.string().trim().min(1).max(320),
  /** A BCP 47 tag where it differs from the card's first language. */
  language: language.optional(),
  /** How the reply is said, where that is plain. */
  emotion: z.enum(emotions).optional(),
});

/** One example exchange; see the schema. */
export type DialoguePair = z.infer<typeof dialoguePairSchema>;
