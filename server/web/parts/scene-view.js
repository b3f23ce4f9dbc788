import { portrait } from '../face/portrait.js';
import { make } from '../browser/dom.js';
import { moodChips } from '../face/mood.js';

/** @import { Scene, Speaker } from '../../client/types/events.d.ts' */

/**
 * A scene event: a speaker starts or stops, the feelings of all characters, the user's turn, or the
 * end.
 *
 * @typedef {{ type: 'speaks', id: string | undefined }
 * | { type: 'feelings', of: Readonly<Record<string, Readonly<Record<string, number>>>> }
 * | { type: 'yours' }
 * | { type: 'over' }} SceneEvent
 */

/** Cast of a scene: portrait and feelings of each character; the speaker is highlighted. */
export class SceneView {
  #list;
  /** @type {Scene | undefined} */
  #scene;
  /** @type {Map<string, { row: HTMLElement, mood: HTMLElement }>} */
  #rows = new Map();
  /** Id of the current speaker, which can be the environment. @type {string | undefined} */
  #speaks;
  isOver = false;
  /** True while the scene waits for the user. */
  isUsersTurn = false;

  /** @param {HTMLUListElement} list */
  constructor(list) {
    this.#list = list;
  }

  /**
   * Role of the user in the scene; `none` without a scene.
   *
   * @returns {'none' | 'listens' | 'plays'}
   */
  get part() {
    if (this.#scene === undefined) return 'none';
    return this.#scene.user === 'listener' ? 'listens' : 'plays';
  }

  /**
   * How a conversation starts.
   *
   * @returns {'voice' | 'listen'}
   */
  get beginsBy() {
    return this.part === 'listens' ? 'listen' : 'voice';
  }

  /** Name of the user's role; undefined if the user has none. */
  get userName() {
    const user = this.#scene?.user;
    return user === undefined || user === 'listener' ? undefined : user.name;
  }

  /** Name of the current speaker; empty if it is no one of the cast. */
  get speaker() {
    return this.#scene?.cast.find(({ id }) => id === this.#speaks)?.name ?? '';
  }

  /** @param {Scene | undefined} scene */
  show(scene) {
    this.#scene = scene;
    this.#list.hidden = scene === undefined;
    this.#rows = new Map((scene?.cast ?? []).map((participant) => [participant.id, rowOf(participant)]));
    this.#list.replaceChildren(...[...this.#rows.values()].map(({ row }) => row));
    this.restart();
  }

  /** Resets all characters to calm and silent. */
  restart() {
    this.isOver = false;
    this.isUsersTurn = false;
    this.take({ type: 'speaks', id: undefined });
    this.take({ type: 'feelings', of: {} });
  }

  /** @param {SceneEvent} news */
  take(news) {
    if (news.type === 'over') this.isOver = true;
    if (news.type === 'yours') this.isUsersTurn = true;
    if (news.type === 'speaks') {
      this.#speaks = news.id;
      if (news.id !== undefined) this.isUsersTurn = false;
    }
    for (const [id, { row, mood }] of this.#rows) {
      if (news.type === 'speaks') row.dataset.speaks = String(news.id === id);
      if (news.type === 'feelings') mood.replaceChildren(...moodOf(news.of[id]));
    }
  }
}

/** @param {Readonly<Record<string, number>> | undefined} feelings */
function moodOf(feelings) {
  const chips = moodChips(feelings);
  return chips.length === 0 ? ['calm'] : chips;
}

/** @param {Speaker} participant */
function rowOf(participant) {
  const mood = make('span', 'mood');
  const words = make('span', 'about', make('span', 'name', participant.name), mood);
  const row = make('li', '', portrait(participant), words);
  return { row, mood };
}
