import { z } from 'zod';
import { cardSchema, dialoguePairSchema, type Card, type DialoguePair } from '../card.ts';
import { CharacterError } from '../character-error.ts';
import { charactersForOneSpoken, maxGreetings, maxNotes } from '../limits.ts';
import { slugOf } from '../slug.ts';
import { firstIssues, type TavernCard, type TavernData } from './card-file.ts';
import { fingerprintOf } from './fingerprint.ts';
import { loreOf } from './lore-entries.ts';
import { plainMacros } from './macros.ts';
import { aloudOf, firstSentence, languageOfText } from './plain-text.ts';
import { genericLines } from './generic-lines.ts';

/** A character pack made from a card. */
export interface Pack {
  readonly card: Card;
  readonly lines: readonly DialoguePair[];
  /** Notes for the user on what was shortened or left out. */
  readonly notes: readonly string[];
}

const ours = z.looseObject({ of: z.string(), card: cardSchema, lines: z.array(dialoguePairSchema) });

const xVoice = cardSchema.shape.voice.strip();

const xSpeech = z
  .looseObject({
    pace: z.number(),
    pronunciations: z.record(z.string(), z.string()),
    patience: z.number(),
    interruptibility: z.number(),
    backchannels: z.number(),
  })
  .partial();

/**
 * Converts a card to a pack: derives what our prompts, voices and turn-taking need. A card that Dramatis wrote
 * (`extensions.x_dramatis`) returns its original pack. Throws `CharacterError` if the card cannot be played.
 */
export function toPack(tavern: TavernCard, where: string, id?: string): Pack {
  const notes: string[] = [];
  const own = ours.safeParse(tavern.data.extensions['x_dramatis']);
  if (own.success && own.data.of === fingerprintOf(tavern.data)) {
    const { card, lines } = own.data;
    return { card: { ...card, id: id ?? card.id }, lines, notes };
  }
  if (own.success)
    notes.push('edited in another program after Dramatis wrote it; imported as a card of another program');
  const drafted = draft(tavern.data, id ?? slugOf(tavern.data.nickname || tavern.data.name), notes);
  const parsed = cardSchema.safeParse(drafted);
  if (!parsed.success) throw new CharacterError(`${where}: not a valid character\n${firstIssues(parsed.error)}`);
  const lines = exchangesOf(tavern.data).flatMap((pair) => {
    const checked = dialoguePairSchema.safeParse(pair);
    return checked.success ? [checked.data] : [];
  });
  return { card: parsed.data, lines, notes: notes.slice(0, maxNotes) };
}

function draft(data: TavernData, id: string, notes: string[]): unknown {
  const name = nameOf(data);
  const say = macroFiller(data);
  const fit = (text: string, longest: number, field: string): string => {
    const said = say(text.slice(0, 2 * longest));
    const length = Math.max(said.length, text.length);
    if (said.length > longest) notes.push(`${field} has ${length} characters; the first ${longest} are used`);
    return said.slice(0, longest).trim();
  };
  const description = fit(data.description, 40_000, 'description');
  const personality = fit(data.personality, 40_000, 'personality');
  const traits = traitsOf(personality);
  const language = languageOfText(`${description} ${data.first_mes.slice(0, 40_000)}`);
  const greetings = [data.first_mes, ...data.alternate_greetings]
    .slice(0, maxGreetings)
    .map((text) => aloudOf(say(text.slice(0, longestGreeting * charactersForOneSpoken)), longestGreeting))
    .filter(Boolean);
  const summary = firstSentence(description) || `${name} speaks with visitors.`;
  const lore = loreOf(data.character_book ?? undefined, say, notes);
  const out = genericLines(language);
  return {
    id,
    name,
    tagline:
      firstSentence(say(data.creator_notes.slice(0, 4_000)))
        .slice(0, 120)
        .trim() || summary.slice(0, 120).trim(),
    identity: summary.slice(0, 400).trim(),
    work: { title: data.source?.[0]?.slice(0, 400) || 'an imported card', rights: rightsOf(data) },
    languages: [language],
    profile: description || summary,
    background: '',
    relationships: [],
    temperament: traits,
    style: traits.length > 0 ? '' : personality,
    catchphrases: [],
    knowledge: { knows: out.knows, unknown: out.unknown },
    scenario: fit(data.scenario, 40_000, 'scenario'),
    directions: {
      before: fit(withoutOriginal(data.system_prompt), 40_000, 'system_prompt'),
      after: fit(withoutOriginal(data.post_history_instructions), 40_000, 'post_history_instructions'),
    },
    greetings: greetings.length > 0 ? greetings : [out.greeting(name)],
    evasions: out.evasions,
    repeatRequests: out.repeatRequests,
    lorebook: lore.entries,
    loreReading: lore.reading,
    voice: xVoice.safeParse(data.extensions['x_voice']).data ?? {
      gender: genderOf(description),
      description: `the voice of ${name}`,
    },
    ...manners(data),
  };
}

function nameOf({ nickname, name }: TavernData): string {
  return (nickname || name).trim().slice(0, 120);
}

/** Returns a function that fills in the macros of a card's texts. */
export function macroFiller(data: TavernData): (text: string) => string {
  const names = { char: nameOf(data), user: 'the visitor' };
  return (text) => plainMacros(text, names).trim();
}

/** `{{original}}` means the reader's own prompt, which we always send as well. */
function withoutOriginal(text: string): string {
  return text.replaceAll(/\{\{original\}\}/giu, '');
}

/** Splits a list of traits such as "shy, kind, stubborn"; anything longer is prose about the person. */
function traitsOf(personality: string): string[] {
  const parts = personality
    .split(/[,;，；、\n]/)
    .map((part) => part.trim())
    .filter((part) => part !== '');
  return parts.length >= 2 && parts.length <= 40 && parts.every((part) => part.length <= 60) ? parts : [];
}

function manners(data: TavernData): object {
  const parsed = xSpeech.safeParse(data.extensions['x_speech']);
  if (!parsed.success) return {};
  const { pace, pronunciations, patience, interruptibility, backchannels } = parsed.data;
  const known = (values: object): object =>
    Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
  return {
    speech: known({ pace, pronunciations }),
    turnTaking: known({ patience, interruptibility, backchannels }),
  };
}

function rightsOf(data: TavernData): string {
  return data.creator === ''
    ? 'unknown; ask the author of the card before you publish it'
    : `made by ${data.creator.slice(0, 200)}; ask them before you publish it`;
}

/** Guesses the gender from the pronouns of the description. */
function genderOf(description: string): 'female' | 'male' | 'neutral' {
  const count = (pattern: RegExp): number => description.match(pattern)?.length ?? 0;
  const female = count(/\b(?:she|her|hers|woman|girl|female)\b|[她女]/giu);
  const male = count(/\b(?:he|him|his|man|boy|male)\b|[他男]/giu);
  if (female === male) return 'neutral';
  return female > male ? 'female' : 'male';
}

/** One message of an example dialogue. */
interface Said {
  readonly byUser: boolean;
  readonly text: string;
}

const longestGreeting = 1_200;

const longestReply = 320;

const longestAsk = 400;

/**
 * Extracts the exchanges of `mes_example`: blocks begin with `<START>`, messages with `{{user}}:` or `{{char}}:`. An
 * exchange is a user message and the answer that follows; only speech counts.
 */
function exchangesOf(data: Pick<TavernData, 'name' | 'nickname' | 'mes_example'>): DialoguePair[] {
  const names = [data.name, data.nickname ?? ''].map((name) => name.trim().slice(0, 120)).filter((name) => name !== '');
  return data.mes_example.split(/<START>/iu).flatMap((block) => pairsOf(messagesOf(block, names), names[0] ?? ''));
}

function messagesOf(block: string, names: readonly string[]): Said[] {
  const speakers = ['{{user}}', '{{char}}', '<user>', '<bot>', 'user', 'you', ...names];
  const pattern = new RegExp(`^\\s*(${speakers.map((name) => RegExp.escape(name)).join('|')})\\s*[:：]`, 'iu');
  const messages: Said[] = [];
  for (const line of block.split('\n')) {
    const speaker = pattern.exec(line);
    if (speaker !== null) {
      const byUser = /^(?:\{\{user\}\}|<user>|user|you)$/iu.test(speaker[1] ?? '');
      messages.push({ byUser, text: line.slice(speaker[0].length) });
    } else if (messages.length > 0) {
      const last = messages.pop();
      if (last !== undefined) messages.push({ ...last, text: `${last.text}\n${line}` });
    }
  }
  return messages;
}

function pairsOf(messages: readonly Said[], name: string): DialoguePair[] {
  const say = (text: string, longest: number): string =>
    aloudOf(plainMacros(text.slice(0, longest * charactersForOneSpoken), { char: name, user: 'my friend' }), longest);
  return messages.flatMap((message, index) => {
    const before = messages[index - 1];
    if (message.byUser || before?.byUser !== true) return [];
    const [ask, reply] = [say(before.text, longestAsk), say(message.text, longestReply)];
    return ask === '' || reply === '' ? [] : [{ asks: [ask], reply }];
  });
}
