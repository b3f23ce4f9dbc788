import { z } from 'zod';
import { cardSchema, dialoguePairSchema, type Card, type DialoguePair } from '../card.ts';
import { slugOf } from '../slug.ts';
import { firstSentence, languageOfText, wholeSentences } from '../tavern/plain-text.ts';
import { genericLines } from '../tavern/generic-lines.ts';

/** A problem in a data set: location (file, and row if there are rows) and description. */
export interface Problem {
  readonly where: string;
  readonly what: string;
}

/** A character pack made from a data set. */
export interface ImportedPack {
  readonly card: Card;
  readonly lines: readonly DialoguePair[];
  /** Voice clip in the data set, with its transcript. */
  readonly voice?: { readonly file: string; readonly transcript: string };
}

export interface ImportReport {
  readonly packs: readonly ImportedPack[];
  readonly problems: readonly Problem[];
}

/** Data of a character from a data set; only name and rights are required. */
export interface Draft {
  readonly name: string;
  /** Key of the role in the data set; the id is made from this, otherwise from the name. */
  readonly key?: string;
  readonly work?: string;
  readonly rights: string;
  readonly profile?: string;
  readonly background?: string;
  readonly temperament?: readonly string[];
  readonly style?: string;
  readonly mbti?: string;
  readonly scenario?: string;
  readonly untilYear?: number;
  readonly gender?: 'female' | 'male' | 'neutral';
  readonly relationships?: readonly { readonly name: string; readonly relation: string }[];
  readonly lore?: readonly { readonly keys: readonly string[]; readonly content: string }[];
  readonly experiences?: readonly string[];
  /** Exchanges in the order of the source; those that do not fit a pack are dropped. */
  readonly exchanges?: readonly { readonly ask: string; readonly reply: string }[];
}

const longest = { text: 40_000, short: 400, tagline: 120, reply: 320, traits: 40, people: 100, experience: 2_000 };
/** Limits: more cost a second at every server start, and are hardly ever used. */
const most = { lines: 20_000, experiences: 5_000 };

/** Converts a draft to a pack; adds problems to the list. Undefined if it cannot be played at all. */
export function packOf(draft: Draft, where: string, problems: Problem[]): Omit<ImportedPack, 'voice'> | undefined {
  const told = [draft.profile, draft.background, ...(draft.exchanges ?? []).slice(0, 20).map(({ reply }) => reply)];
  const language = languageOfText(told.join(' '));
  const out = genericLines(language);
  const profile = cut(draft.profile ?? '', longest.text, 'the description', where, problems);
  const summary = firstSentence(profile) || `${draft.name}.`;
  const parsed = cardSchema.safeParse({
    id: slugOf(draft.key ?? draft.name),
    name: draft.name.slice(0, longest.tagline),
    tagline: summary.slice(0, longest.tagline).trim(),
    identity: summary.slice(0, longest.short).trim(),
    work: { title: (draft.work?.trim() || 'an imported character').slice(0, longest.short), rights: draft.rights },
    languages: [language],
    profile: profile || summary,
    ...(isAddressed(profile) ? { description2: profile } : {}),
    background: cut(draft.background ?? '', longest.text, 'the life', where, problems),
    relationships: (draft.relationships ?? [])
      .map(({ name, relation }) => ({ name: short(name), relation: short(relation) }))
      .filter(({ name, relation }) => name !== '' && relation !== '')
      .slice(0, longest.people),
    temperament: (draft.temperament ?? []).map(short).filter(Boolean).slice(0, longest.traits),
    style: draft.style ?? '',
    catchphrases: [],
    ...(draft.mbti === undefined ? {} : { mbti: draft.mbti }),
    knowledge: {
      knows: out.knows,
      unknown: out.unknown,
      ...(draft.untilYear === undefined ? {} : { untilYear: draft.untilYear }),
    },
    ...experiencesOf(draft, where, problems),
    ...(draft.scenario === undefined ? {} : { scenario: draft.scenario.slice(0, longest.text) }),
    greetings: [out.greeting(draft.name)],
    evasions: out.evasions,
    repeatRequests: out.repeatRequests,
    lorebook: (draft.lore ?? [])
      .filter(({ keys }) => keys.length > 0)
      .map(({ keys, content }) => ({ keys: [...keys], content })),
    voice: { gender: draft.gender ?? 'neutral', description: `the voice of ${draft.name}` },
  });
  if (!parsed.success) {
    problems.push({ where, what: `is not a valid character: ${z.prettifyError(parsed.error).replaceAll('\n', ' ')}` });
    return undefined;
  }
  return { card: parsed.data, lines: linesOf(draft, where, problems) };
}

function experiencesOf({ experiences = [] }: Draft, where: string, problems: Problem[]): Partial<Card> {
  const told = [...new Set(experiences.map((text) => text.slice(0, longest.experience).trim()))].filter(Boolean);
  if (told.length > most.experiences)
    problems.push({ where, what: `${told.length} experiences; the first ${most.experiences} are used` });
  return told.length === 0 ? {} : { experiences: told.slice(0, most.experiences) };
}

/** Exchanges that can be spoken; of repeated triggers the first counts. */
function linesOf({ exchanges = [] }: Draft, where: string, problems: Problem[]): DialoguePair[] {
  const seen = new Set<string>();
  const lines = exchanges.flatMap(({ ask, reply }) => {
    const pair = {
      asks: [wholeSentences(ask.trim(), longest.short)],
      reply: wholeSentences(reply.trim(), longest.reply),
    };
    const checked = dialoguePairSchema.safeParse(pair);
    if (!checked.success || seen.has(pair.asks[0] ?? '')) return [];
    seen.add(pair.asks[0] ?? '');
    return [checked.data];
  });
  if (exchanges.length > 0 && lines.length < exchanges.length)
    problems.push({
      where,
      what: `${exchanges.length - lines.length} of ${exchanges.length} exchanges are empty or repeated; skipped`,
    });
  if (lines.length > most.lines)
    problems.push({ where, what: `${lines.length} lines; the first ${most.lines} are used` });
  return lines.slice(0, most.lines);
}

/** True if a description speaks to the character, as those of RoleLLM and SpeechRole do, rather than about it. */
function isAddressed(description: string): boolean {
  const count = (pattern: RegExp): number => description.match(pattern)?.length ?? 0;
  const [to, about] = [/\byou(?:r|rs|rself)?\b|你/giu, /\b(?:he|she|him|his|her|hers|himself|herself)\b|[他她]/giu];
  return count(to) > count(about);
}

function short(text: string): string {
  return text.trim().slice(0, longest.short).trim();
}

function cut(text: string, most: number, what: string, where: string, problems: Problem[]): string {
  if (text.length > most)
    problems.push({ where, what: `${what} has ${text.length} characters; the first ${most} are used` });
  return text.slice(0, most).trim();
}
