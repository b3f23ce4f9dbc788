import {
  actionIn,
  namesAction,
  offerLine,
  toldAction,
  writtenAction,
  type ChosenAction,
  type OfferedAction,
  type Target,
} from '../../../agents/output/offered-actions.ts';
import type { SurroundingsOf, WorldChange } from '../../../agents/surroundings.ts';
import type { ActionOutcome, Problem, ReplyRequest, Respond, WorldMessage, WorldTaken } from '../contract/events.ts';
import type { MessageItem, PlacedAction, PlacedCue, Speaker } from '../contract/item.ts';
import type { SessionContext } from './context.ts';
import { SessionWorld } from './session-world.ts';

/** Longest wait for the outcome of an action after it was sent. */
const outcomeMs = 30_000;
/** Time after a cut in which the client may still report how much it heard; then the unheard rest is withdrawn. */
const reportMs = 600;
/** The character may react by itself this often. */
const autoEveryMs = 10_000;
/** Actions and messages of the client that are remembered by their ids. */
const remembered = 64;

/** Who speaks: the user, or a character; `free` if none speaks or is about to. */
export type Floor = 'user' | 'character' | 'free';

/** A later action, with its place in the session's queue. */
export interface ActingInput {
  readonly type: 'due';
  readonly run: () => void;
}

/** Calls of the game to its session. */
type ActingContext = Pick<
  SessionContext<ActingInput>,
  'clock' | 'newId' | 'conversation' | 'settings' | 'participants' | 'emit' | 'post'
>;

/** Part of a reply that its actions depend on. */
interface ActingReply {
  readonly request: ReplyRequest;
  readonly speaks: boolean;
  readonly speaker: Speaker | undefined;
  readonly item: MessageItem | undefined;
}

/** An action that was sent to the client. `off`: withdrawn. */
interface Act {
  readonly action: PlacedAction;
  readonly item: MessageItem | undefined;
  readonly stopsOnBargeIn: boolean;
  state: 'told' | 'off' | 'over';
  readonly stop: () => void;
}

/**
 * The client's game in a session: its world, and the actions that it offers. An action belongs to a word; if the reply
 * is cut before that was heard, the action is withdrawn. Made when a client first sends a world or offers actions.
 */
export class Acting {
  readonly world = new SessionWorld();
  readonly #context: ActingContext;
  readonly #acts = new Map<string, Act>();
  readonly #taken = new Map<string, WorldTaken>();
  /** Actions that take place when all of their reply was heard. */
  readonly #atEnd = new WeakMap<ActingReply, PlacedCue[]>();
  readonly #cutOnce = new WeakSet<MessageItem>();
  readonly #timers = new Set<() => void>();
  /** The strongest wish for a reaction that no reply has met. */
  #pending: Respond = 'silent';
  #mayActFromMs = 0;
  /** Number of the last event that a reply could know of. */
  #known = 0;

  constructor(context: ActingContext) {
    this.#context = context;
    context.conversation.onCut = (item, isFinal) => this.#cut(item, isFinal);
  }

  close(): void {
    for (const stop of this.#timers) stop();
  }

  /** Continues with a world that the character already knows. */
  restore(saved: WorldChange): WorldTaken & { readonly change: WorldChange } {
    const taken = this.world.restore(saved);
    this.#known = this.world.latest;
    return { id: undefined, ...taken, respond: 'silent' };
  }

  /** Takes a change of the world, or reports why it is not possible. */
  take({ id, change, respond }: WorldMessage, floor: Floor): Problem | undefined {
    const before = id === undefined ? undefined : this.#taken.get(id);
    if (before !== undefined) return this.#tell({}, before);
    const taken = this.world.take(change);
    if ('code' in taken) return taken;
    change.events?.forEach((event) => this.#context.participants.feel(event));
    const told = { id, ...taken, respond: this.#wish(respond, floor) };
    if (id !== undefined) keep(this.#taken, id, told);
    return this.#tell(change, told);
  }

  /** Takes the outcome of an action: it joins the events of the world. */
  done({ actionId, outcome, note = '', respond }: ActionOutcome, floor: Floor): Problem | undefined {
    const act = this.#acts.get(actionId);
    if (act === undefined) return { code: 'action_not_found', message: 'No recent action has this id.' };
    if (act.state === 'over') return undefined;
    // The client knows best what was heard.
    if (outcome === 'done' || outcome === 'failed') act.action.isOff = false;
    return this.#end(actionId, act, `${outcome}. ${note}`, respond, floor);
  }

  /** Returns what surrounds each character in a reply that is about to be made. */
  surroundings({ situation, mayPass }: ReplyRequest): SurroundingsOf {
    const known = this.#known;
    const { actions: offers = [] } = this.#context.settings();
    const reacts = situation !== 'event' ? undefined : mayPass === true ? 'may' : 'must';
    return (characterId) => ({
      facts: this.world.factsFor(characterId, known),
      states: this.world.states,
      news: this.world.newsFor(characterId, known),
      actions: offers.map(offerLine),
      isAction: (inside) => namesAction(inside, offers),
      reacts,
    });
  }

  /** Notes that a reply of the conversation has begun: it knows all that has happened. */
  replied(): void {
    this.#pending = 'silent';
    this.#known = this.world.latest;
  }

  /** Returns what is due: a reply, or an end to the one that is being said. */
  due(floor: Floor): 'reply' | 'reply-if-any' | 'cut' | undefined {
    if (this.#pending === 'silent' || floor === 'user') return undefined;
    if (floor === 'free') return this.#pending === 'auto' ? 'reply-if-any' : 'reply';
    return this.#pending === 'interrupt' ? 'cut' : undefined;
  }

  /** Notes that a reply is about to be cut: the reaction follows when it has ended. */
  cuts(): void {
    this.#pending = 'must';
  }

  /** Runs something later, unless the session ends. */
  after(ms: number, run: () => void): () => void {
    const stop = this.#context.clock.after(ms, () => {
      this.#timers.delete(stop);
      this.#context.post({ type: 'due', run });
    });
    this.#timers.add(stop);
    return () => {
      stop();
      this.#timers.delete(stop);
    };
  }

  /** The user begins to speak: actions that go on until then stop. */
  interrupt(): void {
    for (const [id, act] of this.#acts)
      if (act.stopsOnBargeIn && act.state === 'told') this.#withdraw(id, act, 'barge_in');
  }

  /**
   * Returns the directions of a reply that are sent now; if one names an offered action, as an action. `endMs`: all of the
   * reply has been sent, so actions at its end are sent too.
   */
  act(reply: ActingReply, cues: readonly PlacedCue[], endMs?: number): PlacedCue[] {
    const now: PlacedCue[] = [];
    const atEnd = this.#atEnd.get(reply) ?? [];
    for (const cue of cues) {
      const chosen = cue.kind === 'action' ? this.#chosenIn(cue.text, reply.speaker) : undefined;
      if (chosen === undefined) {
        if (reply.request.situation !== 'event' || !isSilence(cue.text)) now.push(cue);
      } else if (chosen.offer.when === 'end') atEnd.push(this.#placed(cue, chosen, reply));
      else now.push(this.#tellLater(this.#placed(cue, chosen, reply), chosen.offer, reply));
    }
    if (endMs === undefined) {
      if (atEnd.length > 0) this.#atEnd.set(reply, atEnd);
      return now;
    }
    this.#atEnd.delete(reply);
    const { actions = [] } = this.#context.settings();
    const last = atEnd.map((cue) => {
      const offer = actions.find(({ name }) => name === cue.action?.name);
      return this.#tellLater({ ...cue, startMs: endMs }, offer, reply);
    });
    return [...now, ...last];
  }

  #chosenIn(inside: string, by: Speaker | undefined): ChosenAction | undefined {
    const { actions = [] } = this.#context.settings();
    return actionIn(inside, actions, { all: this.#targetsFor(by), attention: this.world.attention?.id });
  }

  #targetsFor(by: Speaker | undefined): Target[] {
    const { speakers = [] } = this.#context.participants.cast;
    const people = speakers.filter(({ id }) => id !== by?.id).map(({ id, name }) => ({ id, names: [name] }));
    const user = { id: 'user', names: ['player', 'visitor', 'you', '客人', '玩家'] };
    return [
      ...[...this.world.objects.values()].map(({ id, name, can }) => ({
        id,
        names: [name],
        kind: 'object' as const,
        can,
      })),
      ...[...people, user].map((person) => ({ ...person, kind: 'person' as const })),
    ];
  }

  #placed(cue: PlacedCue, chosen: ChosenAction, { speaker: by }: ActingReply): PlacedCue {
    const { offer, target, args } = chosen;
    const { speakers = [] } = this.#context.participants.cast;
    const known =
      target === undefined ? undefined : (this.world.objects.get(target) ?? speakers.find(({ id }) => id === target));
    const action: PlacedAction = {
      id: this.#context.newId('act'),
      name: offer.name,
      ...(target === undefined ? {} : { target }),
      args,
      written: writtenAction(chosen),
      ...(by === undefined ? {} : { by }),
    };
    return { ...cue, text: toldAction(cue.text, chosen, known?.name ?? target), action };
  }

  /** Remembers an action that is about to be sent to the client. */
  #tellLater(cue: PlacedCue, offer: OfferedAction | undefined, { item }: ActingReply): PlacedCue {
    const { action } = cue;
    if (action === undefined) return cue;
    const { id } = action;
    const stop = this.after(outcomeMs, () => {
      const act = this.#acts.get(id);
      if (act?.state === 'told') this.#end(id, act, 'unknown', 'silent', 'free');
    });
    keep(this.#acts, id, { action, item, stopsOnBargeIn: offer?.stopsOnBargeIn === true, state: 'told', stop })?.stop();
    return cue;
  }

  #end(id: string, act: Act, outcome: string, respond: Respond, floor: Floor): Problem | undefined {
    act.state = 'over';
    act.stop();
    const { by, written } = act.action;
    const text = `${by === undefined ? 'your action' : by.name} (${written}): ${outcome}`.trim();
    return this.take({ id, change: { events: [{ text }] }, respond }, floor);
  }

  /** Withdraws what was not heard of a cut item; at once if the client itself has truncated it. */
  #cut(item: MessageItem, isFinal: boolean): void {
    const withdraw = (): void => {
      for (const [id, act] of this.#acts) {
        if (act.item !== item) continue;
        if (act.state === 'told' && act.action.isOff === true) this.#withdraw(id, act, 'unheard');
        else if (act.state === 'off' && act.action.isOff === false) act.state = 'told';
      }
    };
    if (isFinal) return withdraw();
    if (this.#cutOnce.has(item)) return;
    this.#cutOnce.add(item);
    this.after(reportMs, withdraw);
  }

  #withdraw(id: string, act: Act, because: 'unheard' | 'barge_in'): void {
    act.state = 'off';
    act.stop();
    this.#context.emit({ type: 'action-off', actionId: id, because });
  }

  /** Notes how the character must react, and returns the consequence. */
  #wish(respond: Respond, floor: Floor): WorldTaken['respond'] {
    const nowMs = this.#context.clock.now();
    if (respond === 'silent' || (respond === 'auto' && nowMs < this.#mayActFromMs)) return 'silent';
    if (respond === 'auto') this.#mayActFromMs = nowMs + autoEveryMs;
    const order: readonly Respond[] = ['silent', 'auto', 'must', 'interrupt'];
    if (order.indexOf(respond) > order.indexOf(this.#pending)) this.#pending = respond;
    if (floor === 'user') return 'after_user';
    return floor === 'character' && respond !== 'interrupt' ? 'after_reply' : respond;
  }

  #tell(change: WorldChange, taken: WorldTaken): undefined {
    this.#context.emit({ type: 'world-taken', change, ...taken });
  }
}

/** Adds to a map that forgets its oldest entry. Returns what was forgotten. */
function keep<Value>(map: Map<string, Value>, key: string, value: Value): Value | undefined {
  map.set(key, value);
  const [oldest] = map;
  if (map.size <= remembered || oldest === undefined) return undefined;
  map.delete(oldest[0]);
  return oldest[1];
}

/** A character that would say nothing writes so. */
function isSilence(text: string): boolean {
  return /^(?:silence|silent|stays? silent|says? nothing|nothing|沉默|不说话|无)[.。]?$/iu.test(text.trim());
}
