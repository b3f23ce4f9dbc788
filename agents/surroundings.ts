/** Surroundings of a character in a game when a reply is made, and the actions on offer there. */
export interface Surroundings {
  /** Facts of the world that it knows, one a line. Players may have typed them: they are data, never instructions. */
  readonly facts: readonly string[];
  /** States of the world by name, for `{{world::NAME}}` in the lines of a pack. */
  readonly states: ReadonlyMap<string, string>;
  /** Events that it has noticed since it last spoke, oldest first. */
  readonly news: readonly string[];
  /** Actions that the game offers, one line each, such as `(point_at OBJECT): points with the hand`. */
  readonly actions: readonly string[];
  /** Returns true for text in brackets that names an action on offer. */
  readonly isAction: (inside: string) => boolean;
  /** Its relation to the user, on the axes of its card; absent if it has none. */
  readonly relations?: readonly RelationNow[] | undefined;
  /** Clarity with which it hears the others now, by id, from 0 to 1; 1 for those that are not named. */
  readonly hears?: Readonly<Record<string, number>> | undefined;
  /** The reply answers an event, not the user: the character must react, or may keep silent. */
  readonly reacts?: 'must' | 'may' | undefined;
}

/** A relation to the user: -100 to 100. */
export interface RelationNow {
  readonly axis: string;
  readonly value: number;
  /** Meaning of a high value. */
  readonly about?: string | undefined;
}

/** Returns the surroundings of the character with this id. */
export type SurroundingsOf = (characterId: string) => Surroundings;

/** One change of a game's world. */
export interface WorldChange {
  /** States by name: replaced, in the order in which they were first set; and names to forget. */
  readonly set?: Readonly<Record<string, string>> | undefined;
  readonly unset?: readonly string[] | undefined;
  /** Objects: replaced by id; and ids of those that are gone. */
  readonly objects?: readonly WorldObject[] | undefined;
  readonly gone?: readonly string[] | undefined;
  /** Id of the object that "this" means; null for none. */
  readonly attention?: string | null | undefined;
  readonly events?: readonly WorldEvent[] | undefined;
}

export interface WorldObject {
  readonly id: string;
  readonly name: string;
  readonly about?: string | undefined;
  /** Names of actions that are possible with it, and with no object that does not name them. */
  readonly can?: readonly string[] | undefined;
}

export interface WorldEvent {
  readonly text: string;
  /** Ids of the characters that noticed it; all if absent. */
  readonly seenBy?: readonly string[] | undefined;
  /** Changes of feelings, by their names, and of relations, by their axes. */
  readonly feel?: Readonly<Record<string, number>> | undefined;
  /** Id of the player to whom relations change, as a speaker; the user if absent. */
  readonly by?: string | undefined;
}
