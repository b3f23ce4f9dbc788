import { z } from 'zod';
import { emotions } from './emotion.ts';
import { ratings } from './rating.ts';
import { relationAxis, relationRange } from './relations.ts';
import { maxCardKeys, maxCardPatternInstructions, maxCardPatterns } from './limits.ts';
import { patternInstructions, patternProblem } from './lore-pattern.ts';

const shortText = z.string().trim().min(1).max(400);
const longText = z.string().trim().min(1).max(40_000);
/** An optional text of a character. */
const ownText = z.string().trim().max(40_000);
const language = z.string().regex(/^[a-z]{2,3}(-[A-Za-z0-9]+)*$/, 'a BCP 47 tag such as "en" or "zh"');

/** Voice of one embedded synthesizer for this character. `pitch` and `rate` are factors, 1 = the voice unchanged. */
const presetVoice = z.strictObject({
  /** Voice name of that synthesizer, for example `rms` for Flite or `cmn` for eSpeak NG. */
  id: shortText,
  pitch: z.number().min(0.5).max(2).default(1),
  rate: z.number().min(0.5).max(2).default(1),
});

/** Lore entry: a fact that is added to the prompt if one of its keys is mentioned (Character Card V2 and V3). */
const loreFields = z.strictObject({
  /** May be empty only for constant entries. */
  keys: z.array(shortText).max(100),
  /** May begin with decorators of Character Card V3, one `@@name value` per line. */
  content: z.string().trim().min(1).max(20_000),
  /** Always in the prompt, mentioned or not. */
  constant: z.boolean().default(false),
  /** If present, one of these must be mentioned as well. */
  secondaryKeys: z.array(shortText).max(100).optional(),
  caseSensitive: z.boolean().optional(),
  /** Keys are regular expressions (RE2: no look-around or backreferences, but linear time). */
  regex: z.boolean().optional(),
  /** Lower comes earlier in the prompt. */
  order: z.number().optional(),
  /** The lowest is dropped first if the token budget is exceeded. */
  priority: z.number().optional(),
  enabled: z.boolean().optional(),
  name: z.string().max(400).optional(),
});

const loreEntry = loreFields.superRefine((entry, context) => {
  if (!entry.constant && entry.keys.length === 0)
    context.addIssue({ code: 'custom', path: ['keys'], message: 'an entry requires "keys" or "constant": true' });
  if (entry.regex !== true) return;
  for (const field of ['keys', 'secondaryKeys'] as const) {
    for (const [index, key] of (entry[field] ?? []).entries()) {
      const message = patternProblem(key);
      if (message !== undefined) context.addIssue({ code: 'custom', path: [field, index], message });
    }
  }
});

/** The patterns of an entry: its keys, if they are regular expressions. */
export function patternsOf({
  regex,
  keys,
  secondaryKeys = [],
}: Pick<z.infer<typeof loreFields>, 'regex' | 'keys' | 'secondaryKeys'>): readonly string[] {
  return regex === true ? [...keys, ...secondaryKeys] : [];
}

/** The lore of one card. Its patterns are compiled when they are first tried, so their sizes are only estimated here. */
const lorebook = z
  .array(loreEntry)
  .max(20_000)
  .superRefine((entries, context) => {
    const add = (message: string): void => context.addIssue({ code: 'custom', message });
    const keyCount = entries.reduce((sum, { keys, secondaryKeys = [] }) => sum + keys.length + secondaryKeys.length, 0);
    const patterns = entries.flatMap(patternsOf);
    if (keyCount > maxCardKeys) add(`at most ${maxCardKeys} keys in all entries`);
    if (patterns.length > maxCardPatterns) add(`at most ${maxCardPatterns} regular expressions in all entries`);
    else if (patterns.reduce((sum, key) => sum + patternInstructions(key), 0) > maxCardPatternInstructions)
      add('the regular expressions of all entries are too large; shorten them, or use plain keys');
  });

/** Settings for scanning the lorebook. */
const loreReading = z.strictObject({
  /** Number of latest messages searched for keys. */
  scanDepth: z.number().int().min(0).max(1_000).default(3),
  /** Limit of triggered entries, in estimated tokens. */
  budgetTokens: z.number().int().min(0).max(100_000).default(600),
  /** Triggered entries are searched for the keys of others. */
  recursive: z.boolean().default(false),
});

/**
 * A character card, `characters/<id>/card.json`: everything about a character except its example dialogue
 * (`lines.jsonl`, see {@link dialoguePairSchema}).
 */
export const cardSchema = z.strictObject({
  id: z
    .string()
    .regex(/^[a-z0-9]+(-[a-z0-9]+)*$/, 'lower-case words joined by hyphens')
    .max(64),
  name: shortText,
  /** One line for pickers and lists, at most 120 characters. */
  tagline: z.string().trim().min(1).max(120),
  /** The character in one sentence, third person. */
  identity: shortText,
  work: z.strictObject({
    title: shortText,
    author: shortText.optional(),
    year: z.number().int().min(-3000).max(2100).optional(),
    /** Reason why we may use the character, for example "public domain (first published 1870)". */
    rights: shortText,
  }),
  /** Languages of the example lines; the first is the one of the greeting. */
  languages: z.array(language).min(1).max(8),
  /** Age, station, looks, occupation. */
  profile: longText,
  /** Life so far. */
  background: ownText,
  /**
   * The character in the second person, without its name: personality, life, main events. Recipes of
   * papers (`rolegpt`, `speechrole`, `chatharuhi`) use it; without it they use the fields in the third person.
   */
  description2: ownText.optional(),
  relationships: z.array(z.strictObject({ name: shortText, relation: shortText })).max(100),
  /** Adjectives and short traits. */
  temperament: z.array(shortText).max(40),
  /** Way of talking: diction, rhythm, habits. */
  style: ownText,
  catchphrases: z.array(shortText).max(20),
  mbti: z
    .string()
    .regex(/^[EI][NS][FT][JP]$/, 'four letters, such as INTP')
    .optional(),
  knowledge: z.strictObject({
    /** Subjects the character can speak about. */
    knows: longText,
    /** The last year the character knows anything about; absent for fairy-tale time. */
    untilYear: z.number().int().min(-3000).max(2100).optional(),
    /** Subjects outside the character's world. */
    unknown: longText,
  }),
  /** Spoken when a session opens; one is chosen. */
  greetings: z.array(z.string().trim().min(1).max(1_200)).min(1).max(100),
  /** In-character evasions of user messages that no line answers. */
  evasions: z.array(shortText).min(6).max(60),
  /** In-character requests to repeat, for speech that was not understood. */
  repeatRequests: z.array(shortText).min(3).max(20),
  /** Past experiences, one passage each, added to the prompt if the conversation touches them. */
  experiences: z.array(z.string().trim().min(1).max(2_000)).max(5_000).optional(),
  /** Place and time of the conversation. */
  scenario: ownText.optional(),
  /** The card author's instructions to the model. They never override our rules. */
  directions: z.strictObject({ before: ownText.optional(), after: ownText.optional() }).optional(),
  /** Audience for which its words are fit; without it they are not judged. */
  rating: z.enum(ratings).optional(),
  /** Axes of its relation to the user in a game, such as trust. */
  relations: z
    .array(relationAxis)
    .max(8)
    .refine((all) => new Set(all.map(({ axis }) => axis)).size === all.length, 'two axes have the same name')
    .optional(),
  lorebook: lorebook.default([]),
  loreReading: loreReading.prefault({}),
  voice: z.strictObject({
    gender: z.enum(['female', 'male', 'neutral']),
    /** Voice id in the library (`dramatis voices list`), for synthesizers that clone. */
    reference: z
      .string()
      .regex(/^[a-z0-9]+(-[a-z0-9]+)*$/, 'lower-case words joined by hyphens')
      .max(64)
      .optional(),
    /** A few words for a human who chooses a cloned voice: age, timbre, accent, pace. */
    description: shortText,
    flite: presetVoice.optional(),
    espeak: presetVoice.optional(),
  }),
  speech: z
    .strictObject({
      /** Rate factor: below 1 slower, above 1 faster than the voice by default. */
      pace: z.number().min(0.5).max(2).default(1),
      /** Fixes of wrong pronunciations: the word as written, and a spelling that sounds right. */
      pronunciations: z
        .record(shortText, shortText)
        .refine((words) => Object.keys(words).length <= 1_000, 'at most 1,000 words')
        .default({}),
    })
    .prefault({}),
  /**
   * `instructions`: if a session has instructions, they are the whole prompt, verbatim, and this card only
   * supplies name and voice. For benchmarks that bring their own prompts. `card` (default): instructions are a scene
   * below the character.
   */
  persona: z.enum(['card', 'instructions']).optional(),
  turnTaking: z
    .strictObject({
      /** 0 answers at the first pause, 1 waits long before answering. */
      patience: z.number().min(0).max(1).default(0.5),
      /** 0 talks on through interruptions, 1 yields at once. */
      interruptibility: z.number().min(0).max(1).default(0.7),
      /** 0 listens in silence, 1 often gives backchannels ("mm-hm"). */
      backchannels: z.number().min(0).max(1).default(0.2),
    })
    .prefault({}),
});

/** A parsed character card; see the schema for ranges. */
export type Card = z.infer<typeof cardSchema>;

/**
 * Aspect that a follow-up asks of a line that was just said: the reason, the manner, the place, the time, the persons, the
 * duration, the feelings, what came next, or more of it.
 */
export const followUpKinds = ['why', 'how', 'where', 'when', 'who', 'howLong', 'feeling', 'next', 'more'] as const;
/** One of {@link followUpKinds}. */
export type FollowUpKind = (typeof followUpKinds)[number];

const spokenReply = z.string().trim().min(1).max(320);

/**
 * One line of `characters/<id>/lines.jsonl`: one to four wordings of a user message (triggers), and the character's
 * answer. Replies are written for speech: one to three short sentences, no markup, no stage directions.
 */
export const dialoguePairSchema = z.strictObject({
  asks: z.array(shortText).min(1).max(4),
  reply: spokenReply,
  /** Answers to short questions that refer to this line after it was said: "Why?", "And how did it feel?" */
  followUps: z.partialRecord(z.enum(followUpKinds), spokenReply).optional(),
  /** BCP 47 tag, if different from the card's first language. */
  language: language.optional(),
  /** Emotion of the reply, if clear. */
  emotion: z.enum(emotions).optional(),
  /** In a game: states of the world and relations that the line asks for, and words of an event that it reacts to. */
  when: z
    .strictObject({
      state: z.record(z.string(), z.string()).optional(),
      relation: relationRange.optional(),
      event: shortText.optional(),
    })
    .optional(),
});

/** One example exchange; see the schema. */
export type DialoguePair = z.infer<typeof dialoguePairSchema>;

/** Returns true for a line that only fits a certain world of a game: it asks for one, or names a state of it. */
export function isOfWorld({ when, reply }: DialoguePair): boolean {
  return when !== undefined || reply.includes('{{world::');
}
