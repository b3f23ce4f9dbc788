import type { ActionArgument, OfferedAction } from '../../agents/output/offered-actions.ts';
import type { WorldChange } from '../../agents/surroundings.ts';
import type { WireAction, WireOutcome, WireReport, WireTrigger, WireWorld } from '../protocol/game-events.ts';
import type { WireEvent } from '../protocol/server-events.ts';
import type { Problem, SessionCommand, SessionEvent } from '../session/contract/events.ts';
import { speakerOf } from '../session/contract/settings.ts';
import type { Client } from './peer.ts';
import { playersOfEvents } from './wire-players.ts';
import type { WireSession } from './wire-session.ts';
import { wireSamplesOf } from './wire-visemes.ts';

type EventOf<Type extends SessionEvent['type']> = Extract<SessionEvent, { readonly type: Type }>;

/** Actions that a client may offer only by their names. */
const standard: Readonly<Record<string, Partial<Pick<OfferedAction, 'about' | 'target' | 'when' | 'stopsOnBargeIn'>>>> =
  {
    look_at: { about: 'looks there', target: 'either' },
    nod: { about: 'nods' },
    shake_head: { about: 'shakes the head' },
    wave: { about: 'waves a hand' },
    point_at: { about: 'points there with a hand', target: 'either' },
    shrug: { about: 'shrugs' },
    think: { about: 'ponders, visibly' },
    laugh: { about: 'laughs, without a word' },
    sigh: { about: 'sighs' },
    walk_to: { about: 'walks there', target: 'either', when: 'end', stopsOnBargeIn: true },
    follow: { about: 'follows them from now on', target: 'person', when: 'end' },
    stop: { about: 'stops walking or following' },
    give: { about: 'gives it to the one spoken to', target: 'object' },
    take: { about: 'takes it', target: 'object' },
    sit: { about: 'sits down' },
    stand: { about: 'stands up' },
  };

/** Converts the actions that a client offers; those of a standard name need nothing else. */
export function actionsOf(offers: readonly WireAction[]): OfferedAction[] {
  return offers.map((offer) => {
    const usual = Object.hasOwn(standard, offer.name) ? standard[offer.name] : undefined;
    const { properties = {}, required = [] } = offer.args ?? {};
    return {
      name: offer.name,
      aliases: offer.aliases ?? [],
      about: offer.about ?? usual?.about ?? '',
      target: offer.target ?? usual?.target ?? 'none',
      when: offer.when ?? usual?.when ?? 'word',
      stopsOnBargeIn: offer.stops_on_barge_in ?? usual?.stopsOnBargeIn ?? false,
      args: Object.fromEntries(
        Object.entries(properties).map(
          ([name, { type = 'string', enum: choices, minimum, maximum }]): [string, ActionArgument] => [
            name,
            { type, isRequired: required.includes(name), choices, minimum, maximum },
          ],
        ),
      ),
    };
  });
}

/** The problem of asking for a reply if there are none. */
export const noReplies: Problem = {
  code: 'invalid_intent',
  message: 'A transcription session makes no responses. Open a session without ?intent=transcription.',
  param: 'type',
};

const reportsOff: Problem = {
  code: 'reports_off',
  message: 'This server keeps no reports. Enable them with DRAMATIS_REPORTS.',
  param: 'type',
};

/** Converts a change of the client's world, the outcome of an action, a trigger, or a report of the player. */
export function gameCommand(
  event: WireWorld | WireOutcome | WireReport | WireTrigger,
  { session, reports }: { readonly session: WireSession; readonly reports?: boolean | undefined },
): SessionCommand | Problem {
  if (session.type === 'transcription') return noReplies;
  if (event.type === 'x_dramatis.report') {
    const { item_id: itemId, reason, note } = event;
    return reports === true ? { type: 'report', itemId, reason, note } : reportsOff;
  }
  if (event.type === 'x_dramatis.trigger') {
    const given = Object.entries(event.with ?? {}).map(([name, value]) => [name, String(value)]);
    return { type: 'trigger', name: event.name, given: Object.fromEntries(given) };
  }
  if (event.type === 'x_dramatis.world') {
    const { id, respond, events = [] } = event;
    const problem = playersOfEvents(events, session);
    if (problem !== undefined) return problem;
    return { type: 'world', id, respond, change: changeOf(event) };
  }
  const { action_id: actionId, outcome, note, respond } = event;
  return { type: 'action-done', actionId, outcome, note, respond };
}

function changeOf({ set, unset, objects, gone, attention, events }: WireWorld): WorldChange {
  return {
    set: set && Object.fromEntries(Object.entries(set).map(([name, value]) => [name, String(value)])),
    unset,
    objects: objects?.map(({ id, name, about, can }) => ({ id, name, about, can })),
    gone,
    attention,
    events: events?.map(({ text, seen_by: seenBy, feel, player }) => {
      return { text, seenBy, feel, by: player === undefined ? undefined : speakerOf({ number: player, name: '' }).id };
    }),
  };
}

/** Returns the event of a stage direction that is an action on offer. */
export function actionEvent({ replyId, itemId, cue }: EventOf<'reply-cue'>): WireEvent[] {
  const { action, text, startMs } = cue;
  if (action === undefined) return [];
  const { id, name, target, args, by } = action;
  return [
    {
      type: 'x_dramatis.action',
      response_id: replyId,
      item_id: itemId,
      action_id: id,
      ...(by === undefined ? {} : { speaker: { id: by.id, name: by.name } }),
      name,
      ...(target === undefined ? {} : { target }),
      args: { ...args },
      text,
      start_ms: Math.round(startMs),
      samples: wireSamplesOf(startMs),
    },
  ];
}

/** An event of the client's game, or of its scene. */
export type GameEvent = EventOf<'world-taken' | 'action-off' | 'relation' | 'section'>;

/** Returns the event of a change of the world, of a relation or of the section, or of an action that is withdrawn. */
export function gameEvent(
  event: GameEvent,
  { relations, sections }: Pick<Client, 'relations' | 'sections'>,
): WireEvent[] {
  if (event.type === 'section') {
    const { section: id, from, because } = event;
    return sections === true ? [{ type: 'x_dramatis.section', id, from, because }] : [];
  }
  if (event.type === 'relation') return relations === true ? [{ ...event, type: 'x_dramatis.relation' }] : [];
  if (event.type === 'action-off')
    return [{ type: 'x_dramatis.action_off', action_id: event.actionId, because: event.because }];
  const { id = null, revision, tokens, tokensLeft, droppedEvents, respond } = event;
  const told = { revision, tokens, tokens_left: tokensLeft, dropped_events: droppedEvents, respond };
  return [{ type: 'x_dramatis.world_taken', id, ...told }];
}
