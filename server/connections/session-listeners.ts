import type { Character } from '../../characters/character.ts';
import type { Access } from '../http/access.ts';
import { sessionLine } from '../journal/event-lines.ts';
import { journalVersion, type JournalLine } from '../journal/lines.ts';
import type { ConnectionParts } from '../realtime/connection.ts';
import { newId } from '../realtime/encode.ts';
import type { Client, Peer } from '../realtime/peer.ts';
import { castIdOf } from '../realtime/wire-scene.ts';
import { sessionIn, type WireSession } from '../realtime/wire-session.ts';
import { errorTable } from '../session/contract/errors.ts';
import type { SessionListener } from '../session/contract/events.ts';
import type { Ports } from '../session/history/context.ts';
import { followCast } from './cast-memory.ts';
import { keepReports } from './keep-reports.ts';
import type { SessionDeps, SessionOptions } from './open-session.ts';

/** Returns the listeners to a session's events, in the order in which they are called, and the recall of memories. */
export function listenersOf(
  options: SessionOptions,
  deps: SessionDeps,
  peer: Peer,
  onFault: Ports['onFault'],
  place: SessionListener,
): Pick<ConnectionParts, 'listen' | 'recall'> {
  const { character, journal, restored, intent } = options;
  const { memories, caller, telemetry } = deps;
  const others = followOtherCast(character, restored?.session);
  const isRemembered = intent !== 'transcription';
  const warn = warnings(peer, options.client);
  const onLoss = (): void => warn('memory_not_stored');
  const remembers = isRemembered && memories?.state !== 'off';
  const told = { onFault, onLoss };
  const { characters } = deps;
  const owner = caller.owner ?? '';
  const memory =
    remembers && memories ? followCast({ memories, owner, opened: character, characters, told, restored }) : undefined;
  return {
    recall: memory?.recall,
    listen: (opened) => {
      const settings = options.startWith === undefined ? [] : [sessionLine(opened.session)];
      if (restored === undefined) journal?.write(openingLine(opened.id, options, caller), ...settings);
      const about = { session: opened.id, character: character.id };
      const listeners = [
        others,
        // Before the journal: a resumed session counts what the journal holds as remembered.
        memory?.begin(opened),
        journal,
        journal && {
          note() {
            if (journal.log.isFailing) warn('session_not_stored');
          },
        },
        { note: (event) => telemetry.note(event, about) },
        deps.config.reports
          ? keepReports(deps.config.dataDir, { ...about, owner }, (fault) => {
              onFault(fault);
              warn('report_not_stored');
            })
          : undefined,
        voiceListener(options, deps, peer, others),
        place,
      ] satisfies (SessionListener | undefined)[];
      return listeners.filter((listener) => listener !== undefined);
    },
  };
}

/** Follows whether other participants than the first take part: they do not have its voice. */
interface OtherCast extends SessionListener {
  takePart: boolean;
}

function followOtherCast({ id }: Character, restored: WireSession | undefined): OtherCast {
  const others: OtherCast = {
    takePart: castIdOf(restored, id) !== id,
    note(event) {
      if (event.type === 'updated') others.takePart = castIdOf(sessionIn(event), id) !== id;
    },
  };
  return others;
}

/** Returns a function that warns the client, once per code, that something is not stored; only if it asked for notices. */
function warnings(
  peer: Peer,
  { notice }: Client,
): (code: 'session_not_stored' | 'memory_not_stored' | 'report_not_stored') => void {
  const told = new Set<string>();
  return (code) => {
    if (notice !== true || told.has(code)) return;
    told.add(code);
    peer.send({ type: 'x_dramatis.warning', event_id: newId('event'), code, message: errorTable[code][1] });
  };
}

/** Compares the voice of replies with the character's, and reports the similarity to clients that ask for it. */
function voiceListener(
  { character, client }: SessionOptions,
  { telemetry, voiceWatch }: SessionDeps,
  peer: Peer,
  others: OtherCast,
): SessionListener | undefined {
  if (character.stage !== undefined || voiceWatch === undefined) return undefined;
  const hear = voiceWatch.follow(character, (found) => {
    telemetry.noteVoiceSimilarity?.(found);
    if (client.voice !== true) return;
    const { replyId, basis } = found;
    const similarity = Math.round(found.similarity * 1000) / 1000;
    peer.send({ type: 'x_dramatis.voice', event_id: newId('event'), response_id: replyId, similarity, basis });
  });
  return {
    note(event) {
      if (!others.takePart) hear(event);
    },
  };
}

function openingLine(id: string, options: SessionOptions, caller: Access): JournalLine {
  const { character, model, intent, client, medium } = options;
  const user = userOf(options, caller) ?? undefined;
  const { owner, secret } = caller;
  const bySecret = secret !== undefined;
  const who = {
    character: character.id,
    model,
    intent,
    beta: client.beta,
    user,
    owner,
    bySecret,
    terms: secret?.terms,
    account: secret?.terms?.limits && secret.account,
    medium,
  };
  return { type: 'open', version: journalVersion, id, ...who };
}

/** The user whom the character remembers. A client secret determines it; null if the secret names no user. */
export function userOf(
  { user, restored }: Pick<SessionOptions, 'user' | 'restored'>,
  { secret }: Access,
): string | null | undefined {
  if (secret !== undefined) return secret.startWith?.x_dramatis?.user ?? null;
  return restored?.user ?? user;
}
