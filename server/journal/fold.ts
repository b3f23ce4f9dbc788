import { castIdOf } from '../realtime/wire-scene.ts';
import type { WireSession } from '../realtime/wire-session.ts';
import { SessionWorld } from '../session/history/session-world.ts';
import { keptPhrases, keptSounds, type JournalLine, type KeptItem } from './lines.ts';
import { createdIn } from './unfinished.ts';

/** More changes of the world than these are merged. */
const mostWorlds = 20;

type Line<Type extends JournalLine['type']> = Extract<JournalLine, { type: Type }>;

/** An item as the lines so far leave it. */
interface FoldedItem {
  readonly id: string;
  item: KeptItem;
  /** Truncations since its content was last written, by content part. */
  truncated: Map<number, Line<'truncated'>>;
}

/** State that a journal contains, without parts that later lines have undone. */
interface Folded {
  open: Line<'open'> | undefined;
  session: Line<'session'> | undefined;
  before: string[];
  sequence: Line<'sequence'> | undefined;
  kept: Line<'kept'> | undefined;
  taken: Line<'taken'>[];
  felt: Line<'felt'> | undefined;
  spent: Line<'spent'> | undefined;
  /** The last one, since the cast was changed. */
  story: Line<'section'> | undefined;
  told: Line<'told'>[];
  /** Changes of the world. */
  worlds: Line<'world'>[];
  /** The last line of each relation. */
  readonly relations: Map<string, Line<'relation'>>;
  readonly items: FoldedItem[];
  readonly byId: Map<string, FoldedItem>;
  /** Lines of replies that have not ended, by reply. */
  readonly replies: Map<string, JournalLine[]>;
  /** Sounds of the last phrases; those of a reply that has ended only until the next begins. */
  sounds: Line<'sound'>[];
  soundsOfEnded: Line<'sound'>[];
  /** Those of the reply that ended last, unless another has begun: the client may lack the end of its sound. */
  lately: JournalLine[];
}

/**
 * Returns the shortest journal that restores the same session: `restore(fold(lines))` equals `restore(lines)`. Each item
 * is written once, in its place and with its last content; replies in progress keep their lines.
 */
export function fold(lines: readonly JournalLine[]): JournalLine[] {
  const folded: Folded = {
    open: undefined,
    session: undefined,
    before: [],
    sequence: undefined,
    kept: undefined,
    taken: [],
    felt: undefined,
    spent: undefined,
    story: undefined,
    told: [],
    worlds: [],
    relations: new Map(),
    items: [],
    byId: new Map(),
    replies: new Map(),
    sounds: [],
    soundsOfEnded: [],
    lately: [],
  };
  for (const line of lines) take(folded, line);
  const { open, session, before, sequence, kept, taken, felt, told, worlds, items, replies, lately } = folded;
  if (open === undefined) return [];
  const standing = items.flatMap(({ item, truncated }, place): JournalLine[] => [
    { type: 'item', item, after: items[place - 1]?.id ?? null },
    ...truncated.values(),
  ]);
  const settings: JournalLine[] = session === undefined ? [] : [{ ...session, before }];
  return [
    open,
    ...(sequence === undefined ? [] : [sequence]),
    ...(kept === undefined ? [] : [kept]),
    ...taken,
    ...standing,
    ...settings,
    ...worlds,
    ...folded.relations.values(),
    ...(felt === undefined ? [] : [felt]),
    ...(folded.story === undefined ? [] : [folded.story]),
    ...(folded.spent === undefined ? [] : [folded.spent]),
    ...folded.sounds.filter((sound) => folded.soundsOfEnded.includes(sound)),
    ...[...replies.values()].flat(),
    ...lately,
    ...folded.sounds.filter((sound) => !folded.soundsOfEnded.includes(sound)),
    ...told,
  ];
}

function take(folded: Folded, line: JournalLine): void {
  switch (line.type) {
    case 'open':
      folded.open ??= line;
      return;
    case 'sequence':
      folded.sequence = line;
      return;
    case 'felt':
      folded.felt = line;
      return;
    case 'spent':
      folded.spent = line;
      return;
    case 'section':
      folded.story = line;
      return;
    case 'world':
      folded.worlds = merged(folded.worlds, line);
      return;
    case 'relation':
      folded.relations.set(`${line.with} ${line.character} ${line.axis}`, line);
      return;
    case 'taken':
      folded.taken.push(line);
      return;
    case 'told':
      return tell(folded, line);
    case 'kept':
      folded.kept = line;
      folded.taken = folded.taken.filter(({ sequence }) => sequence > line.upTo);
      return;
    case 'session':
      return takeSession(folded, line);
    case 'item':
      return insert(folded, line);
    case 'deleted':
      return remove(folded, line.itemId);
    case 'sound':
      folded.sounds = [...folded.sounds, line].slice(-keptSounds);
      return;
    case 'started':
      folded.lately = [];
      folded.sounds = folded.sounds.filter((sound) => !folded.soundsOfEnded.includes(sound));
      folded.replies.set(line.replyId, [line]);
      return;
    case 'ended':
      return end(folded, line);
    case 'transcript':
    case 'truncated':
      return change(folded, line);
    default:
      takeReplyLine(folded, line);
  }
}

/** Merges changes of the world into one, if there are many: what one replaces or takes away is left out. */
function merged(worlds: readonly Line<'world'>[], line: Line<'world'>): Line<'world'>[] {
  if (Object.keys(line.change).length === 0) return [...worlds];
  if (worlds.length < mostWorlds) return [...worlds, line];
  const world = new SessionWorld();
  for (const { change } of [...worlds, line]) world.take(change);
  return [{ type: 'world', change: world.asChange() as Line<'world'>['change'] }];
}

/** Events that the client has are left out, unless they are about a reply that has not ended. */
function tell(folded: Folded, line: Line<'told'>): void {
  const isOpen = ({ event }: Line<'told'>): boolean => folded.replies.has(createdIn(event) ?? '');
  folded.told = [...folded.told.filter((one) => one.sequence > line.acknowledged || isOpen(one)), line];
}

function takeSession(folded: Folded, line: Line<'session'>): void {
  const opened = folded.open?.character ?? '';
  const castOf = ({ session }: Line<'session'>): string => castIdOf(session as unknown as WireSession, opened);
  if (castOf(line) !== (folded.session === undefined ? opened : castOf(folded.session))) {
    folded.before = folded.items.map(({ id }) => id);
    folded.felt = undefined;
    folded.story = undefined;
  }
  if (line.before !== undefined) folded.before = line.before;
  folded.session = line;
}

function insert({ items, byId }: Folded, { item, after }: Line<'item'>): void {
  const folded = { id: item.id, item, truncated: new Map() };
  const before = after === null ? undefined : byId.get(after);
  const place = after === null ? 0 : before === undefined ? items.length : items.indexOf(before) + 1;
  items.splice(place, 0, folded);
  byId.set(item.id, folded);
}

function remove(folded: Folded, id: string): void {
  const { items, byId } = folded;
  const item = byId.get(id);
  if (item === undefined) return;
  if (isOf(folded.lately, id)) folded.lately = [];
  items.splice(items.indexOf(item), 1);
  byId.delete(id);
  folded.before = folded.before.filter((one) => one !== id);
}

function end(folded: Folded, line: Line<'ended'>): void {
  folded.lately = [...(folded.replies.get(line.replyId) ?? []), line];
  folded.replies.delete(line.replyId);
  folded.soundsOfEnded = folded.sounds;
  endItem(folded, line);
}

function endItem({ byId }: Folded, line: Line<'ended'>): void {
  const folded = line.item === undefined ? undefined : byId.get(line.item.id);
  if (line.item === undefined || folded?.item.type !== 'message') return;
  const { status, content, cues = folded.item.cues } = line.item;
  folded.item = { ...folded.item, status, content, ...(cues === undefined ? {} : { cues }) };
  folded.truncated = new Map();
}

/** A change of an item that a reply is still speaking comes after the reply's lines so far. */
function change(all: Folded, line: Line<'transcript'> | Line<'truncated'>): void {
  const { byId, replies } = all;
  const folded = byId.get(line.itemId);
  if (folded?.item.type !== 'message') return;
  if (isOf(all.lately, line.itemId)) all.lately = [];
  const speaking = [...replies.values()].find((lines) => isOf(lines, line.itemId));
  if (speaking !== undefined) speaking.push(line);
  else if (line.type === 'truncated') folded.truncated.set(line.contentIndex, line);
  else {
    const place = folded.item.content.findIndex(({ type }) => type === 'audio');
    const content = folded.item.content.map((part, index) =>
      index === place && part.type === 'audio' ? { ...part, transcript: line.text } : part,
    );
    folded.item = { ...folded.item, content };
  }
}

/**
 * Of the playback positions of a reply, the last one counts, even if the reply has ended: it plays on. Of its phrases,
 * the last few count.
 */
function takeReplyLine(folded: Folded, line: Line<'speaks' | 'words' | 'cue' | 'phrase' | 'heard'>): void {
  const lines = folded.replies.get(line.replyId);
  if (lines === undefined) {
    const [first] = folded.lately;
    const isLate = line.type === 'heard' && first?.type === 'started' && first.replyId === line.replyId;
    if (isLate) folded.lately = [...folded.lately.filter(({ type }) => type !== 'heard'), line];
    return;
  }
  lines.push(line);
  const most = line.type === 'heard' ? 1 : line.type === 'phrase' ? keptPhrases : Infinity;
  const ofType = lines.filter(({ type }) => type === line.type);
  const [oldest] = ofType;
  if (ofType.length > most && oldest !== undefined) lines.splice(lines.indexOf(oldest), 1);
}

/** Returns whether these are the lines of the reply that an item belongs to. */
function isOf(lines: readonly JournalLine[], itemId: string): boolean {
  return lines.some((line) => line.type === 'speaks' && line.itemId === itemId);
}
