import { graspOf, userSpeaks, type Clarity } from '../../../agents/scene/hearing.ts';
import type { RelationNow, Surroundings, SurroundingsOf, WorldEvent } from '../../../agents/surroundings.ts';
import { mostRelation, type RelationAxis } from '../../../characters/relations.ts';
import type { SessionEvent } from '../contract/events.ts';
import type { Cast } from '../contract/responder.ts';
import { textOf } from '../contract/item.ts';
import type { RelationValues, SavedState } from '../contract/settings.ts';

/**
 * Relations of a session's characters to the user, and to each player if there are several, on the axes of their cards;
 * changed by words and by events.
 */
export class Relations {
  readonly #emit: (event: SessionEvent) => void;
  readonly #values = new Map<string, number>();
  #axes: NonNullable<Cast['axes']> = {};
  /** Who spoke last: the user, or a player. */
  #speaker: string = userSpeaks;

  /** `values`: of a session that is restored. */
  constructor(emit: (event: SessionEvent) => void, { relations, relationsWith = {} }: Related = {}) {
    this.#emit = emit;
    this.#keep(userSpeaks, relations);
    for (const [speaker, values] of Object.entries(relationsWith)) this.#keep(speaker, values);
  }

  /** Takes the axes of the characters that are present; characters that return keep their values. */
  cast({ axes = {} }: Cast): this {
    this.#axes = axes;
    return this;
  }

  /** Continues with the values of earlier sessions, and sends them to the client. The others of a player that is named start as the card says. */
  restore({ relations = {}, relationsWith = {} }: Related): void {
    this.#restore(userSpeaks, relations);
    for (const [speaker, values] of Object.entries(relationsWith)) {
      for (const key of this.#values.keys()) if (key.startsWith(`${speaker} `)) this.#values.delete(key);
      this.#restore(speaker, values);
    }
  }

  /** Moves by what the user or a player (`speaker`) says, if it was heard. */
  note(event: SessionEvent, heardBy?: Clarity, speaker: string = userSpeaks): void {
    const isMessage = event.type === 'item-added' && event.item.type === 'message' && event.item.role === 'user';
    const isHeard = event.type === 'transcript-final' || event.type === 'understood';
    const text = isMessage ? textOf(event.item) : isHeard ? event.text : '';
    if (text === '') return;
    this.#speaker = speaker;
    const heard = wordsIn(text);
    const hearing = heardBy && Object.keys(this.#axes).filter((id) => graspOf(heardBy, id) === 'words');
    this.#move(speaker, hearing, ({ said = [] }) => said.some((words) => includes(heard, wordsIn(words))));
  }

  /** Moves by an event of the game: as its words say, and as the game itself does. */
  feel({ text, seenBy, feel = {}, by: speaker = userSpeaks }: WorldEvent): void {
    const happened = new Set(wordsIn(text));
    this.#move(
      speaker,
      seenBy,
      ({ event }) => event !== undefined && wordsIn(event).every((word) => happened.has(word)),
    );
    for (const { character, axis } of this.#present(seenBy)) {
      const by = feel[axis.axis];
      if (by !== undefined) this.#add(speaker, character, axis, by, text);
    }
  }

  /** Returns the present values of a character, towards the one who spoke last. */
  of(character: string): RelationNow[] {
    return (this.#axes[character] ?? []).map((axis) => {
      return { axis: axis.axis, value: this.#valueOf(this.#speaker, character, axis), about: axis.about };
    });
  }

  /** Adds the relations to what surrounds each character. */
  within(surroundings: SurroundingsOf | undefined): SurroundingsOf {
    return (id) => ({ ...(surroundings?.(id) ?? nothingAround), relations: this.of(id) });
  }

  #move(
    speaker: string,
    seenBy: readonly string[] | undefined,
    isMoved: (move: RelationAxis['moves'][number]) => boolean,
  ): void {
    for (const { character, axis } of this.#present(seenBy))
      for (const move of axis.moves) if (isMoved(move)) this.#add(speaker, character, axis, move.by, move.because);
  }

  #present(seenBy: readonly string[] | undefined): { readonly character: string; readonly axis: RelationAxis }[] {
    return Object.entries(this.#axes).flatMap(([character, axes]) =>
      seenBy?.includes(character) === false ? [] : axes.map((axis) => ({ character, axis })),
    );
  }

  #add(speaker: string, character: string, axis: RelationAxis, by: number, because: string): void {
    const before = this.#valueOf(speaker, character, axis);
    const value = Math.max(-mostRelation, Math.min(mostRelation, Math.round(before + by)));
    if (value === before) return;
    this.#values.set(keyOf(speaker, character, axis.axis), value);
    const change = value - before;
    this.#emit({ type: 'relation', character, with: speaker, axis: axis.axis, value, change, because });
  }

  #valueOf(speaker: string, character: string, { axis, start }: RelationAxis): number {
    return this.#values.get(keyOf(speaker, character, axis)) ?? start;
  }

  #keep(speaker: string, values: RelationValues = {}): void {
    for (const [character, axes] of Object.entries(values))
      for (const [axis, value] of Object.entries(axes)) this.#values.set(keyOf(speaker, character, axis), value);
  }

  #restore(speaker: string, values: RelationValues): void {
    this.#keep(speaker, values);
    for (const [character, axes] of Object.entries(this.#axes)) {
      for (const { axis } of axes) {
        const value = values[character]?.[axis];
        if (value === undefined) continue;
        this.#emit({ type: 'relation', character, with: speaker, axis, value, change: 0, because: 'restored' });
      }
    }
  }
}

/** Relations of earlier sessions. */
type Related = Pick<SavedState, 'relations' | 'relationsWith'>;

/** Surroundings of a character without a game. */
export const nothingAround: Surroundings = {
  facts: [],
  states: new Map(),
  news: [],
  actions: [],
  isAction: () => false,
};

function keyOf(speaker: string, character: string, axis: string): string {
  return `${speaker} ${character} ${axis}`;
}

function wordsIn(text: string): string[] {
  return text.toLowerCase().match(/\p{Script=Han}|[\p{L}\p{N}'’]+/gu) ?? [];
}

/** Returns true if these words occur in a text, one after the other. */
function includes(text: readonly string[], words: readonly string[]): boolean {
  return text.some((_, at) => words.every((word, index) => text[at + index] === word));
}
