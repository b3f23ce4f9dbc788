import type { CallOptions } from '../../voices/engine.ts';
import { cardSchema, type Card, type DialoguePair } from '../../characters/card.ts';
import { CharacterError } from '../../characters/character-error.ts';
import { packOf, type Problem } from '../../characters/importers/draft.ts';
import type { ChatModel } from '../chat.ts';
import { completeCard } from './complete-card.ts';
import { condense } from './condense.ts';
import { comparable } from './passages.ts';
import type { Statement } from './statements.ts';

/** A sentence of the card that was written together from statements: from which, by their places in the list, from 0. */
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

/** Who is drafted, from what. */
export interface DraftSource {
  readonly name: string;
  readonly work: string;
  readonly author?: string | undefined;
  /** The whole text: what is said again and again is counted there. */
  readonly text: string;
}

/** What stands in every prompt is kept short. */
const most = { trait: 12, catchphrase: 8, person: 30, lore: 300, profile: 8, life: 15, style: 6 };
/** What is within so many characters stays as the statements say it. */
const characters = { profile: 1_500, life: 2_500, style: 1_200 };

/**
 * Puts statements together: people, lore and lines stand in the card as the text gave them, traits and catchphrases by how often. Profile,
 * life and style do too, where they are short, else they are written together, each sentence with the statements it rests on; then all
 * that happened becomes experiences. One call of the model adds what no text tells (`completeCard`). Throws `CharacterError` where nothing was
 * found, `EngineError` where the model fails.
 */
export async function draftCard(
  source: DraftSource,
  statements: readonly Statement[],
  model: ChatModel,
  options: CallOptions,
): Promise<DraftedPack> {
  const { name, work, author, text } = source;
  if (statements.length === 0)
    throw new CharacterError(`The text tells nothing about "${name}". Give another --name, as the text writes it.`);
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
      rights: 'drafted from a text; say here why it may be used',
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
  if (draft === undefined) throw new CharacterError(`${work}: ${problems[0]?.what ?? 'no card could be made'}`);
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

/** What is known by now, for the model that completes it. */
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

/** Each once, however it is written, the most frequent first. */
function byCount(texts: readonly string[]): string[] {
  const groups = Map.groupBy(texts, (text) => comparable(text));
  return [...groups.values()].toSorted((left, right) => right.length - left.length).flatMap(([first]) => first ?? []);
}

/** By how often the whole text has them; what it has once is kept where nothing is said again and again. */
function catchphrasesIn(found: readonly Statement[], text: string): string[] {
  const whole = comparable(text);
  const phrases = byCount(found.map((one) => one.text))
    .filter((phrase) => phrase.length <= 400)
    .map((phrase) => ({ phrase, count: whole.split(comparable(phrase)).length - 1 }))
    .toSorted((left, right) => right.count - left.count);
  const again = phrases.filter(({ count }) => count > 1);
  return (again.length > 0 ? again : phrases).slice(0, most.catchphrase).map(({ phrase }) => phrase);
}

/** One statement of each name or key, those first of which most was said. */
function firstOfEach(statements: readonly Statement[], count: number): Statement[] {
  const named = statements.filter((one) => one.about !== '');
  return [...Map.groupBy(named, (one) => comparable(one.about)).values()]
    .toSorted((left, right) => right.length - left.length)
    .flatMap(([first]) => first ?? [])
    .slice(0, count);
}
