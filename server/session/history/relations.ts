import type { RelationNow, Surroundings, SurroundingsOf, WorldEvent } from '../../../agents/surroundings.ts';
import { mostRelation, type RelationAxis } from '../../../characters/relations.ts';
import type { SessionEvent } from '../contract/events.ts';
import type { Cast } from '../contract/responder.ts';
import { textOf } from '../contract/item.ts';

/** Values by character, then by axis. */
export type RelationValues = Readonly<Record<string, Readonly<Record<string, number>>>>;

/** How the characters of a session stand with the user, on the axes of their cards; moved by words and by events. */
export class Relations {
  readonly #emit: (event: SessionEvent) => void;
  readonly #values = new Map<string, number>();
  #axes: NonNullable<Cast['axes']> = {};

  /** `values`: of a session that is restored. */
  constructor(emit: (event: SessionEvent) => void, values: RelationValues = {}) {
    this.#emit = emit;
    this.#keep(values);
  }

  /** Takes the axes of those who are present; those who come back stand as they stood. */
  cast({ axes = {} }: Cast): this {
    this.#axes = axes;
    return this;
  }

  /** Goes on from the values of an earlier session, of which the client is told. */
  restore(values: RelationValues = {}): void {
    this.#keep(values);
    for (const [character, axes] of Object.entries(this.#axes)) {
      for (const { axis } of axes) {
        const value = values[character]?.[axis];
        if (value !== undefined)
          this.#emit({ type: 'relation', character, axis, value, change: 0, because: 'restored' });
      }
    }
  }

  /** Moves by what the user says. */
  note(event: SessionEvent): void {
    const isMessage = event.type === 'item-added' && event.item.type === 'message' && event.item.role === 'user';
    const isHeard = event.type === 'transcript-final' || event.type === 'understood';
    const text = isMessage ? textOf(event.item) : isHeard ? event.text : '';
    if (text === '') return;
    const heard = wordsIn(text);
    this.#move(undefined, ({ said = [] }) => said.some((words) => includes(heard, wordsIn(words))));
  }

  /** Moves by an event of the game: as its words say, and as the game itself does. */
  feel({ text, seenBy, feel = {} }: WorldEvent): void {
    const happened = new Set(wordsIn(text));
    this.#move(seenBy, ({ event }) => event !== undefined && wordsIn(event).every((word) => happened.has(word)));
    for (const { character, axis } of this.#present(seenBy)) {
      const by = feel[axis.axis];
      if (by !== undefined) this.#add(character, axis, by, text);
    }
  }

  /** Returns how a character stands now. */
  of(character: string): RelationNow[] {
    return (this.#axes[character] ?? []).map((axis) => {
      return { axis: axis.axis, value: this.#valueOf(character, axis), about: axis.about };
    });
  }

  /** Adds the relations to what surrounds each character. */
  within(surroundings: SurroundingsOf | undefined): SurroundingsOf {
    return (id) => ({ ...(surroundings?.(id) ?? nothing), relations: this.of(id) });
  }

  #move(seenBy: readonly string[] | undefined, isMoved: (move: RelationAxis['moves'][number]) => boolean): void {
    for (const { character, axis } of this.#present(seenBy))
      for (const move of axis.moves) if (isMoved(move)) this.#add(character, axis, move.by, move.because);
  }

  #present(seenBy: readonly string[] | undefined): { readonly character: string; readonly axis: RelationAxis }[] {
    return Object.entries(this.#axes).flatMap(([character, axes]) =>
      seenBy?.includes(character) === false ? [] : axes.map((axis) => ({ character, axis })),
    );
  }

  #add(character: string, axis: RelationAxis, by: number, because: string): void {
    const before = this.#valueOf(character, axis);
    const value = Math.max(-mostRelation, Math.min(mostRelation, Math.round(before + by)));
    if (value === before) return;
    this.#values.set(keyOf(character, axis.axis), value);
    this.#emit({ type: 'relation', character, axis: axis.axis, value, change: value - before, because });
  }

  #valueOf(character: string, { axis, start }: RelationAxis): number {
    return this.#values.get(keyOf(character, axis)) ?? start;
  }

  #keep(values: RelationValues): void {
    for (const [character, axes] of Object.entries(values))
      for (const [axis, value] of Object.entries(axes)) this.#values.set(keyOf(character, axis), value);
  }
}

/** Surroundings of a character without a game. */
const nothing: Surroundings = { facts: [], states: new Map(), news: [], actions: [], isAction: () => false };

function keyOf(character: string, axis: string): string {
  return `${character} ${axis}`;
}

function wordsIn(text: string): string[] {
  return text.toLowerCase().match(/\p{Script=Han}|[\p{L}\p{N}'’]+/gu) ?? [];
}

/** Returns true if these words stand in a text, one after the other. */
function includes(text: readonly string[], words: readonly string[]): boolean {
  return text.some((_, at) => words.every((word, index) => text[at + index] === word));
}
