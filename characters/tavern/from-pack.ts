import { isDeepStrictEqual } from 'node:util';
import type { Card, DialoguePair } from '../card.ts';
import { newCard, withData, type JsonObject, type TavernCard } from './card-file.ts';
import { fingerprintOf } from './fingerprint.ts';
import type { Lorebook } from './lorebook.ts';
import { mergeEntries } from './merge-book.ts';
import { macroFiller, toPack } from './to-pack.ts';

/** Contents of a pack for export: card and lines. */
export interface PackContents {
  readonly card: Card;
  readonly lines: readonly DialoguePair[];
  /** Facts of the clip that `card.voice.reference` names, if available. */
  readonly clip?: ClipFacts | undefined;
}

/** Facts exported with the name of a clip, so that anyone who has the clip knows what it may be used for. */
export interface ClipFacts {
  readonly transcript: string;
  readonly language: string;
  readonly licence: string;
  /** Consent to voice cloning: by whom, and the evidence. */
  readonly consent: string;
}

/**
 * Exports a pack as a card. A pack that was imported and not changed since returns its original card, key for key; a
 * changed one returns that card with the changed fields; one of ours becomes a new V3 card. Data without a field in the
 * specifications is stored in `extensions.x_voice`, `x_speech` and `x_dramatis`.
 */
export function fromPack(pack: PackContents, source?: TavernCard): TavernCard {
  const data = dataOf(pack);
  if (source === undefined) {
    const written = newCard({ ...data, name: pack.card.name });
    return withData(written, { extensions: extensionsOf(pack, written.data, {}) });
  }
  const imported = toPack(source, pack.card.id, pack.card.id);
  if (isDeepStrictEqual(plain(imported), plain(pack))) return source;
  const before = dataOf(imported);
  // The nickname, if present, is the name that counts.
  const nameField = source.data.nickname ? 'nickname' : 'name';
  const changes = Object.fromEntries(
    Object.entries(data)
      .filter(([field, value]) => !isDeepStrictEqual(value, before[field]))
      .map(([field, value]) => [field === 'name' ? nameField : field, value]),
  );
  const book = source.data.character_book;
  const isBookChanged = !isDeepStrictEqual(data['character_book'], before['character_book']);
  const changed = withData(source, {
    ...changes,
    ...(book && isBookChanged
      ? { character_book: editedBook(book, pack.card, imported.card, macroFiller(source.data)) }
      : {}),
  });
  return withData(changed, { extensions: extensionsOf(pack, changed.data, source.data.extensions) });
}

function extensionsOf(pack: PackContents, data: JsonObject, others: JsonObject): JsonObject {
  const { card, lines, clip } = pack;
  return {
    ...others,
    x_voice: { ...card.voice, ...(clip === undefined ? {} : { clip }) },
    x_speech: { ...card.speech, ...card.turnTaking },
    x_dramatis: { of: fingerprintOf(data), card, lines },
  };
}

/** Fields of the specifications that a pack has data for. */
function dataOf({ card, lines }: PackContents): JsonObject {
  const [greeting = '', ...otherGreetings] = card.greetings;
  return {
    name: card.name,
    description: descriptionOf(card),
    personality: [card.temperament.join(', '), card.style].filter(Boolean).join('. '),
    scenario: card.scenario ?? '',
    first_mes: greeting,
    alternate_greetings: otherGreetings,
    mes_example: lines.map((pair) => `<START>\n{{user}}: ${pair.asks[0] ?? ''}\n{{char}}: ${pair.reply}`).join('\n'),
    system_prompt: card.directions?.before ?? '',
    post_history_instructions: card.directions?.after ?? '',
    creator_notes: `${card.tagline}\n\n${card.work.title}: ${card.work.rights}`,
    ...(card.lorebook.length === 0 ? {} : { character_book: bookOf(card) }),
  };
}

function descriptionOf(card: Card): string {
  const people = card.relationships.map(({ name, relation }) => `${name}: ${relation}`).join('\n');
  const parts = [
    card.profile.startsWith(card.identity) ? '' : card.identity,
    card.profile,
    card.background,
    people === '' ? '' : `People {{char}} knows:\n${people}`,
    `What {{char}} knows: ${card.knowledge.knows}`,
    `What {{char}} does not know: ${card.knowledge.unknown}`,
  ];
  return parts.filter((part) => part !== '').join('\n\n');
}

function bookOf(card: Card): JsonObject {
  return { name: card.name, ...readingOf(card), extensions: {}, entries: card.lorebook.map(entryOf) };
}

/** The imported book, with the changes since. */
function editedBook(book: Lorebook, card: Card, imported: Card, say: (text: string) => string): JsonObject {
  const [before, now] = [readingOf(imported), readingOf(card)];
  const changes = Object.entries(now).filter(([name, value]) => value !== before[name]);
  return { ...book, ...Object.fromEntries(changes), entries: mergeEntries(book, card.lorebook, entryOf, say) };
}

function readingOf({ loreReading }: Card): JsonObject {
  return {
    scan_depth: loreReading.scanDepth,
    token_budget: loreReading.budgetTokens,
    recursive_scanning: loreReading.recursive,
  };
}

function entryOf(entry: Card['lorebook'][number], index: number): JsonObject {
  return {
    keys: entry.keys,
    content: entry.content,
    extensions: {},
    enabled: entry.enabled ?? true,
    insertion_order: entry.order ?? index,
    case_sensitive: entry.caseSensitive ?? false,
    use_regex: entry.regex ?? false,
    constant: entry.constant,
    ...(entry.name === undefined ? {} : { name: entry.name }),
    ...(entry.priority === undefined ? {} : { priority: entry.priority }),
    ...(entry.secondaryKeys === undefined ? {} : { selective: true, secondary_keys: entry.secondaryKeys }),
  };
}

/** As stored in a file: without undefined fields. */
function plain({ card, lines }: PackContents): unknown {
  return JSON.parse(JSON.stringify({ card, lines }));
}
