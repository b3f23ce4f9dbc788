import type { CallOptions } from '../../voices/engine.ts';
import { cardSchema, type Card, type DialoguePair } from '../../characters/card.ts';
import { CharacterError } from '../../characters/character-error.ts';
import { packOf, type Problem } from '../../characters/importers/draft.ts';
import type { ChatModel } from '../chat.ts';
import { completeCard } from './complete-card.ts';
import { condense } from './condense.ts';
import { comparable } from './passages.ts';
import type { Statement } from './statements.ts';

/** A card sentence summarized from statements; `from` are their indexes in the list, from 0. */
export interface WrittenSentence {
  readonly field: Statement['field'];
  readonly text: string;
  readonly from: readonly number[];
}

/** A card drafted from statements, and its example lines. */
export interface DraftedPack {
  readonly card: Card;
  readonly lines: readonly DialoguePair[];
  readonly problems: readonly Problem[];
  readonly written: readonly WrittenSentence[];
}

/** Source of a draft. */
export interface DraftSource {
  readonly name: string;
  readonly work: string;
  readonly author?: string | undefined;
  /** The whole text, used to count catchphrases. */
  readonly text: string;
}

/** Limits of items, since all of them are in every prompt. */
const most = { trait: 12, catchphrase: 8, person: 30, lore: 300, profile: 8, life: 15, style: 6 };
/** Lengths in characters up to which statements are used unchanged. */
const characters = { profile: 1_500, life: 2_500, style: 1_200 };

/**
 * Drafts a card from statements: people, lore and lines as the text gave them, traits and catchphrases by frequency.
 * Profile, life and style are used as given if they are short, otherwise they are summarized, each sentence with the
 * statements it rests on; then all events become experiences. One call of the model adds what the text does not give
 * (`completeCard`). Throws `CharacterError` if nothing was found, `EngineError` if the model fails.
 */
export async function draftCard(
  source: DraftSource,
  statements: readonly Statement[],
  model: ChatModel,
  options: CallOptions,
): Promise<DraftedPack> {
  const { name, work, author, text } = source;
  if (statements.length === 0)
    throw new CharacterError(`The text says nothing about "${name}". Pass another --name, spelled as in the text.`);
  const of = (field: Statement['field']): readonly Statement[] => statements.filter((one) => one.field === field);
  const together = async (field: keyof typeof characters, what: string): Promise<WrittenSentence[]> => {
    const places = statements.flatMap((one, place) => (one.field === field ? [place] : []));
    const own = [...new Map(places.map((place) => [statements[place]?.text ?? '', place])).entries()];
    const about = { name, what, most: most[field], characters: characters[field] };
    const sentences = await condense(
      own.map(([each]) => each),
      about,
      model,
      options,
    );
    return sentences.map((each) => ({ field, text: each.text, from: each.from.flatMap((at) => own[at]?.[1] ?? []) }));
  };
  const profile = await together('profile', `who ${name} is`);
  const life = await together('life', `the life of ${name}`);
  const style = await together('style', `how ${name} speaks`);
  const joined = (sentences: readonly WrittenSentence[]): string => sentences.map((each) => each.text).join(' ');
  const written = [...profile, ...life, ...style].filter((each) => statements[each.from[0] ?? -1]?.text !== each.text);
  const phrases = catchphrasesIn(of('catchphrase'), text);
  const problems: Problem[] = [];
  const draft = packOf(
    {
      name,
      work,
      rights: 'drafted from a text; state here why it may be used',
      profile: joined(profile),
      background: joined(life),
      temperament: byCount(of('trait').map((one) => one.text)).slice(0, most.trait),
      style: joined(style),
      relationships: firstOfEach(of('person'), most.person).map((one) => ({ name: one.about, relation: one.text })),
      lore: firstOfEach(of('lore'), most.lore).map((one) => ({ keys: [one.about], content: one.text })),
      ...(written.some(({ field }) => field === 'life') ? { experiences: of('life').map((one) => one.text) } : {}),
      exchanges: of('line').flatMap((one) => (one.about === '' ? [] : [{ ask: one.about, reply: one.text }])),
    },
    work,
    problems,
  );
  if (draft === undefined) throw new CharacterError(`${work}: ${problems[0]?.what ?? 'the text yields no card'}`);
  const { gender, ...added } = await completeCard(name, materialOf(draft.card, phrases, draft.lines), model, options);
  const card = cardSchema.parse({
    ...draft.card,
    ...added,
    work: { ...draft.card.work, ...(author === undefined ? {} : { author: author.slice(0, 400) }) },
    catchphrases: phrases,
    voice: { ...draft.card.voice, gender },
  });
  return { card, lines: draft.lines, problems, written };
}

/** The draft so far, as material for the model that completes it. */
function materialOf(card: Card, phrases: readonly string[], lines: readonly DialoguePair[]): string {
  return [
    `profile: ${card.profile}`,
    `life: ${card.background}`,
    `traits: ${card.temperament.join(', ')}`,
    `style: ${card.style}`,
    `catchphrases: ${phrases.join(' | ')}`,
    ...card.relationships.map((person) => `person: ${person.name}, ${person.relation}`),
    ...lines.slice(0, 20).map(({ asks, reply }) => `line: ${asks[0] ?? ''} - ${reply}`),
  ].join('\n');
}

/** Removes duplicates, ignoring spelling, and sorts by frequency. */
function byCount(texts: readonly string[]): string[] {
  const groups = Map.groupBy(texts, (text) => comparable(text));
  return [...groups.values()].toSorted((left, right) => right.length - left.length).flatMap(([first]) => first ?? []);
}

/** Catchphrases by their frequency in the whole text; those that occur once are kept only if none occurs again. */
function catchphrasesIn(found: readonly Statement[], text: string): string[] {
  const whole = comparable(text);
  const phrases = byCount(found.map((one) => one.text))
    .filter((phrase) => phrase.length <= 400)
    .map((phrase) => ({ phrase, count: whole.split(comparable(phrase)).length - 1 }))
    .toSorted((left, right) => right.count - left.count);
  const again = phrases.filter(({ count }) => count > 1);
  return (again.length > 0 ? again : phrases).slice(0, most.catchphrase).map(({ phrase }) => phrase);
}

/** One statement for each name or key, the most frequent first. */
function firstOfEach(statements: readonly Statement[], count: number): Statement[] {
  const named = statements.filter((one) => one.about !== '');
  return [...Map.groupBy(named, (one) => comparable(one.about)).values()]
    .toSorted((left, right) => right.length - left.length)
    .flatMap(([first]) => first ?? [])
    .slice(0, count);
}
