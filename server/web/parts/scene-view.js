import { portrait } from './portrait.js';
import { make } from './dom.js';
import { moodChips } from './mood.js';

/** @import { Scene, Speaker } from '../../client/types/events.d.ts' */

/**
 * What happens in a scene: somebody begins or stops to be heard, how all of them feel, that they wait for the person, or that it is over.
 *
 * @typedef {{ type: 'speaks', id: string | undefined }
 *   | { type: 'feelings', of: Readonly<Record<string, Readonly<Record<string, number>>>> }
 *   | { type: 'yours' }
 *   | { type: 'over' }} SceneNews
 */

/** Who plays in a scene: a portrait each, lit while they speak, with how they feel. */
export class SceneView {
  #list;
  /** @type {Scene | undefined} */
  #scene;
  /** @type {Map<string, { row: HTMLElement, mood: HTMLElement }>} */
  #rows = new Map();
  /** Who is heard now; the environment too. @type {string | undefined} */
  #speaks;
  isOver = false;
  /** They wait for the person. */
  isYours = false;

  /** @param {HTMLUListElement} list */
  constructor(list) {
    this.#list = list;
  }

  /** Whether the person is in it: `none` where no scene is played. @returns {'none' | 'listens' | 'plays'} */
  get part() {
    if (this.#scene === undefined) return 'none';
    return this.#scene.user === 'listener' ? 'listens' : 'plays';
  }

  /** Who the person is in it; undefined where nobody. */
  get userName() {
    const user = this.#scene?.user;
    return user === undefined || user === 'listener' ? undefined : user.name;
  }

  /** The name of who speaks; empty where nobody of the cast does. */
  get speaker() {
    return this.#scene?.cast.find(({ id }) => id === this.#speaks)?.name ?? '';
  }

  /** @param {Scene | undefined} scene */
  show(scene) {
    this.#scene = scene;
    this.#list.hidden = scene === undefined;
    this.#rows = new Map((scene?.cast ?? []).map((player) => [player.id, rowOf(player)]));
    this.#list.replaceChildren(...[...this.#rows.values()].map(({ row }) => row));
    this.restart();
  }

  /** Everybody is calm and silent again. */
  restart() {
    this.isOver = false;
    this.isYours = false;
    this.take({ type: 'speaks', id: undefined });
    this.take({ type: 'feelings', of: {} });
  }

  /** @param {SceneNews} news */
  take(news) {
    if (news.type === 'over') this.isOver = true;
    if (news.type === 'yours') this.isYours = true;
    if (news.type === 'speaks') {
      this.#speaks = news.id;
      if (news.id !== undefined) this.isYours = false;
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

/** @param {Speaker} player */
function rowOf(player) {
  const mood = make('span', 'mood');
  const words = make('span', 'about', make('span', 'name', player.name), mood);
  const row = make('li', '', portrait(player), words);
  return { row, mood };
}
