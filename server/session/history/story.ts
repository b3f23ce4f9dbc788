import { triggersIn, type StoryPlace } from '../../../agents/scene/sections.ts';
import { triggerMark, type Section } from '../../../characters/scene.ts';
import type { Problem, SessionEvent } from '../contract/events.ts';

/** Values of triggers that are remembered; the oldest are forgotten. */
const mostGiven = 32;

/** A trigger as the game sends it. */
export interface Trigger {
  readonly name: string;
  readonly given: Readonly<Record<string, string>>;
}

/** The sections of a scene: the present one, and the transitions from it. */
export class Story {
  readonly #sections: readonly Section[];
  readonly #emit: (event: SessionEvent) => void;
  #place: StoryPlace;

  /** `place`: of a session that is restored. */
  constructor(sections: readonly Section[], emit: (event: SessionEvent) => void, place?: StoryPlace) {
    this.#sections = sections;
    this.#emit = emit;
    const isKnown = sections.some(({ id }) => id === place?.section);
    this.#place = place !== undefined && isKnown ? place : { section: sections[0]?.id ?? '', given: {} };
  }

  get place(): StoryPlace {
    return this.#place;
  }

  /** Takes the edge that a trigger opens, or returns why there is none. */
  trigger({ name, given }: Trigger): Problem | undefined {
    const on = `${triggerMark}${name}`;
    const edge = this.#sections.find(({ id }) => id === this.#place.section)?.edges.find((one) => one.on === on);
    if (edge === undefined) return this.#unusable(name);
    const all = Object.entries({ ...this.#place.given, ...given }).slice(-mostGiven);
    this.#enter({ section: edge.to, given: Object.fromEntries(all) }, on);
    return undefined;
  }

  /** Takes an edge of the section `from` whose condition the model has found true; nothing if the section was left in the meantime. */
  take(from: string, on: string): void {
    if (from !== this.#place.section) return;
    const edge = this.#sections.find(({ id }) => id === from)?.edges.find((one) => one.on === on);
    if (edge !== undefined) this.#enter({ ...this.#place, section: edge.to }, on);
  }

  /** Continues in the section of an earlier session, and informs the client. */
  restore(place: StoryPlace): void {
    if (this.#sections.some(({ id }) => id === place.section)) this.#enter(place, 'restored');
  }

  #enter(place: StoryPlace, because: string): void {
    const from = this.#place.section;
    this.#place = place;
    this.#emit({ type: 'section', ...place, from, because });
  }

  #unusable(name: string): Problem {
    const known = triggersIn(this.#sections);
    const param = 'name';
    if (!known.includes(name))
      return {
        code: 'unknown_trigger',
        message: `The scene has no trigger "${name}". Known: ${known.join(', ') || 'none'}.`,
        param,
      };
    const message = `No edge leads on "${name}" from the present section, "${this.#place.section}". Send it in a section that has one.`;
    return { code: 'trigger_not_open', message, param };
  }
}

/** The problem of a trigger in a session whose scene has no sections. */
export const noSections: Problem = {
  code: 'unknown_trigger',
  message: 'No scene with sections is played. Enter one with `session.update`: `x_dramatis: {scene: {id}}`.',
  param: 'type',
};
