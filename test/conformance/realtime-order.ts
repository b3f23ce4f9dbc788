/** A server event, as any client records it. */
export interface RecordedEvent extends Record<string, unknown> {
  readonly type: string;
}

interface OpenResponse {
  item: string | undefined;
  part: boolean;
  text: boolean;
  audio: boolean;
  itemDone: boolean;
}

/**
 * Checks a recorded stream of server events against the ordering rules of OpenAI Realtime (GA): what must come first,
 * what brackets what, and that every response ends exactly once. Returns what is wrong, in words; empty is right.
 */
export function orderViolations(events: readonly RecordedEvent[]): string[] {
  const wrong: string[] = [];
  const seenIds = new Set<unknown>();
  const open = new Map<string, OpenResponse>();
  const ended = new Set<string>();
  const speech = new Map<string, 'started' | 'stopped' | 'committed' | 'added' | 'done'>();
  const say = (event: RecordedEvent, what: string): number => wrong.push(`${event.type}: ${what}`);
  for (const [index, event] of events.entries()) {
    if (index === 0 && event.type !== 'session.created') say(event, 'the first event must be session.created');
    if (typeof event['event_id'] !== 'string' || seenIds.has(event['event_id']))
      say(event, 'event_id missing or repeated');
    seenIds.add(event['event_id']);
    if (event.type.startsWith('response.')) checkResponse(event, open, ended, say);
    else checkSpeech(event, speech, say);
  }
  return wrong;
}

/** Responses that have begun and not ended. */
export function unfinishedResponses(events: readonly RecordedEvent[]): string[] {
  const idsOf = (type: string): string[] =>
    events.filter((event) => event.type === type).map((event) => (event['response'] as { id: string }).id);
  const done = new Set(idsOf('response.done'));
  return idsOf('response.created').filter((id) => !done.has(id));
}

type Say = (event: RecordedEvent, what: string) => void;

function checkResponse(event: RecordedEvent, open: Map<string, OpenResponse>, ended: Set<string>, say: Say): void {
  const id = (event['response_id'] ?? (event['response'] as { id: string } | undefined)?.id) as string;
  if (ended.has(id)) return say(event, 'came after its response.done');
  if (event.type === 'response.created') {
    if (open.has(id)) say(event, 'created twice');
    open.set(id, { item: undefined, part: false, text: false, audio: false, itemDone: false });
    return;
  }
  const response = open.get(id);
  if (response === undefined) return say(event, 'came before its response.created');
  checkOpenResponse(event, response, say);
  if (event.type !== 'response.done') return;
  if (response.item !== undefined && !response.itemDone) say(event, 'came before its item was done');
  open.delete(id);
  ended.add(id);
}

/** What each event of a content part does to it: before which `done` it must come, and which it is. */
const partEvents: Readonly<Record<string, { readonly of: 'audio' | 'text'; readonly ends: boolean }>> = {
  'response.output_audio.delta': { of: 'audio', ends: false },
  'response.output_audio.done': { of: 'audio', ends: true },
  'response.output_audio_transcript.delta': { of: 'text', ends: false },
  'response.output_audio_transcript.done': { of: 'text', ends: true },
  'response.output_text.delta': { of: 'text', ends: false },
  'response.output_text.done': { of: 'text', ends: true },
};

function checkOpenResponse(event: RecordedEvent, response: OpenResponse, say: Say): void {
  const partEvent = partEvents[event.type];
  if (partEvent !== undefined || event.type === 'response.content_part.done') {
    if (!response.part) say(event, 'came outside its content part');
    if (event['item_id'] !== response.item) say(event, 'names another item');
    if (event['output_index'] !== 0 || event['content_index'] !== 0) say(event, 'lacks output_index or content_index');
  }
  if (partEvent !== undefined) {
    if (response[partEvent.of]) say(event, 'came after its done');
    response[partEvent.of] = partEvent.ends;
  } else if (event.type === 'response.output_item.added') {
    if (response.item !== undefined) say(event, 'added twice');
    response.item = (event['item'] as { id: string }).id;
  } else if (event.type === 'response.content_part.added') {
    if (response.item === undefined) say(event, 'came before its item');
    response.part = true;
  } else if (event.type === 'response.content_part.done') {
    if (!response.text) say(event, 'came before its text was done');
    response.part = false;
  } else if (event.type === 'response.output_item.done') {
    if (response.part) say(event, 'came before its content part was done');
    response.itemDone = true;
  } else if (event.type !== 'response.done') say(event, 'is not an event of a response');
}

const speechOrder = {
  'input_audio_buffer.speech_started': [undefined, 'started'],
  'input_audio_buffer.speech_stopped': ['started', 'stopped'],
} as const;

function checkSpeech(event: RecordedEvent, speech: Map<string, string>, say: Say): void {
  const id = (event['item_id'] ?? (event['item'] as { id: string } | undefined)?.id) as string;
  const state = speech.get(id);
  if (event.type === 'input_audio_buffer.speech_started' || event.type === 'input_audio_buffer.speech_stopped') {
    const [before, after] = speechOrder[event.type];
    if (state !== before) say(event, `came when the utterance was ${state ?? 'unknown'}`);
    speech.set(id, after);
  } else if (event.type === 'input_audio_buffer.committed') {
    if (state === 'committed') say(event, 'committed twice');
    speech.set(id, 'committed');
  } else if (event.type === 'conversation.item.added') {
    if (state === 'added' || state === 'done') say(event, 'added twice');
    speech.set(id, 'added');
  } else if (event.type === 'conversation.item.deleted') speech.delete(id);
  else if (event.type === 'conversation.item.done') {
    if (state !== 'added') say(event, `done when the item was ${state ?? 'unknown'}`);
    speech.set(id, 'done');
  }
}
