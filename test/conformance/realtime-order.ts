/** A server event, as recorded by any client. */
export interface RecordedEvent extends Record<string, unknown> {
  readonly type: string;
}

interface OpenItem {
  readonly id: string;
  readonly type: unknown;
  part: boolean;
  /** Kinds of content that have ended. */
  readonly ended: Set<'audio' | 'text' | 'arguments'>;
  arguments: string;
  done: boolean;
}

interface OpenResponse {
  readonly inConversation: boolean;
  readonly items: OpenItem[];
}

/** Last event of a conversation item. */
type ItemState = 'started' | 'stopped' | 'timed out' | 'committed' | 'added' | 'done' | 'deleted';

interface OrderState {
  readonly responses: Map<string, OpenResponse>;
  readonly ended: Set<string>;
  readonly items: Map<string, ItemState>;
  readonly transcribed: Set<string>;
  /**
   * State that an item must reach before its response is done. The pre-GA dialect does not report the end of an item.
   */
  readonly lastOfItem: ItemState;
  readonly say: (event: RecordedEvent, what: string) => void;
}

/**
 * Checks a recorded stream of server events against the ordering rules of OpenAI Realtime (GA): what must come first,
 * how events nest, and that every response ends exactly once. Returns the violations in words; empty if there are none.
 */
export function orderViolations(events: readonly RecordedEvent[]): string[] {
  const wrong: string[] = [];
  const seenIds = new Set<unknown>();
  const ledger: OrderState = {
    responses: new Map(),
    ended: new Set(),
    items: new Map(),
    transcribed: new Set(),
    lastOfItem: events.some((event) => event.type === 'conversation.item.done') ? 'done' : 'added',
    say: (event, what) => void wrong.push(`${event.type}: ${what}`),
  };
  for (const [index, event] of events.entries()) {
    if (index === 0 && event.type !== 'session.created') ledger.say(event, 'the first event must be session.created');
    if (typeof event['event_id'] !== 'string' || seenIds.has(event['event_id']))
      ledger.say(event, 'event_id missing or repeated');
    seenIds.add(event['event_id']);
    const isLimits = event.type === 'rate_limits.updated';
    if (isLimits !== (events[index - 1]?.type === 'response.done'))
      ledger.say(event, 'rate_limits.updated comes after each response.done, and nowhere else');
    if (event.type.startsWith('response.')) checkResponse(event, ledger);
    else checkConversation(event, ledger);
  }
  return wrong;
}

/** Ids of responses that were created and not ended. */
export function unfinishedResponses(events: readonly RecordedEvent[]): string[] {
  const idsOf = (type: string): string[] =>
    events.filter((event) => event.type === type).map((event) => (event['response'] as { id: string }).id);
  const done = new Set(idsOf('response.done'));
  return idsOf('response.created').filter((id) => !done.has(id));
}

function checkResponse(event: RecordedEvent, ledger: OrderState): void {
  const { responses, ended, say } = ledger;
  const about = event['response'] as { id: string; conversation_id: string | null } | undefined;
  const id = (event['response_id'] ?? about?.id) as string;
  if (ended.has(id)) return say(event, 'came after its response.done');
  if (event.type === 'response.created') {
    if (responses.has(id)) say(event, 'created twice');
    responses.set(id, { inConversation: about?.conversation_id != null, items: [] });
    return;
  }
  const response = responses.get(id);
  if (response === undefined) return say(event, 'came before its response.created');
  if (event.type !== 'response.done') return checkOutput(event, response, ledger);
  checkEnd(event, response, ledger);
  responses.delete(id);
  ended.add(id);
}

function checkEnd(event: RecordedEvent, response: OpenResponse, { items, lastOfItem, say }: OrderState): void {
  const { output, status } = event['response'] as { output: { id: string; status: string }[]; status: string };
  const ids = response.items.map((item) => item.id);
  if (JSON.stringify(output.map((item) => item.id)) !== JSON.stringify(ids)) say(event, 'lists other items than came');
  if (status === 'completed' && output.some((item) => item.status !== 'completed')) say(event, 'has unfinished items');
  for (const item of response.items) {
    if (!item.done) say(event, 'came before its item was done');
    const wanted: (ItemState | undefined)[] = response.inConversation ? [lastOfItem, 'deleted'] : [undefined];
    if (!wanted.includes(items.get(item.id))) say(event, `came when its item was ${items.get(item.id) ?? 'not added'}`);
  }
}

/** Events inside an item: the kind of content, and whether they end it. */
const innerEvents: Readonly<Record<string, { readonly of: 'audio' | 'text' | 'arguments'; readonly ends: boolean }>> = {
  'response.output_audio.delta': { of: 'audio', ends: false },
  'response.output_audio.done': { of: 'audio', ends: true },
  'response.output_audio_transcript.delta': { of: 'text', ends: false },
  'response.output_audio_transcript.done': { of: 'text', ends: true },
  'response.output_text.delta': { of: 'text', ends: false },
  'response.output_text.done': { of: 'text', ends: true },
  'response.function_call_arguments.delta': { of: 'arguments', ends: false },
  'response.function_call_arguments.done': { of: 'arguments', ends: true },
};

function checkOutput(event: RecordedEvent, response: OpenResponse, ledger: OrderState): void {
  const { say } = ledger;
  if (event.type === 'response.output_item.added') return addItem(event, response, say);
  const item = response.items.at(-1);
  if (item === undefined || item.done) return say(event, 'came outside an item');
  if (itemIdOf(event) !== item.id) say(event, 'names another item');
  if (event['output_index'] !== response.items.length - 1) say(event, 'has another output_index than its item');
  const wanted: (ItemState | undefined)[] = response.inConversation ? ['added', 'deleted'] : [undefined];
  if (!wanted.includes(ledger.items.get(item.id)))
    say(event, `came when its item was ${ledger.items.get(item.id) ?? 'not added'}`);
  const inner = innerEvents[event.type];
  if (inner === undefined) checkBracket(event, item, say);
  else checkInner(event, item, inner, say);
}

function checkBracket(event: RecordedEvent, item: OpenItem, say: OrderState['say']): void {
  switch (event.type) {
    case 'response.content_part.added':
      if (item.type !== 'message' || item.part) say(event, 'has no place in its item');
      item.part = true;
      return;
    case 'response.content_part.done':
      if (!item.part || !item.ended.has('text')) say(event, 'came before its text was done');
      item.part = false;
      return;
    case 'response.output_item.done':
      if (item.part) say(event, 'came before its content part was done');
      if (item.type === 'function_call') checkCall(event, item, say);
      item.done = true;
      return;
    default:
      say(event, 'is not an event of a response');
  }
}

function addItem(event: RecordedEvent, response: OpenResponse, say: OrderState['say']): void {
  const { id, type, status } = event['item'] as { id: string; type: string; status: string };
  if (response.items.some((item) => !item.done)) say(event, 'came before the item before it was done');
  if (event['output_index'] !== response.items.length) say(event, 'has the wrong output_index');
  if (status !== 'in_progress') say(event, 'is of an item that is not in progress');
  response.items.push({ id, type, part: false, ended: new Set(), arguments: '', done: false });
}

function checkInner(
  event: RecordedEvent,
  item: OpenItem,
  { of, ends }: { readonly of: 'audio' | 'text' | 'arguments'; readonly ends: boolean },
  say: OrderState['say'],
): void {
  if (item.ended.has(of)) say(event, 'came after its done');
  if (ends) item.ended.add(of);
  if (of !== 'arguments') {
    if (!item.part) say(event, 'came outside its content part');
    if (event['content_index'] !== 0) say(event, 'lacks its content_index');
    return;
  }
  if (item.type !== 'function_call') say(event, 'came in an item that is no call');
  if (typeof event['call_id'] !== 'string') say(event, 'lacks its call_id');
  if (!ends) item.arguments += event['delta'] as string;
  else if (event['arguments'] !== item.arguments) say(event, 'has other arguments than its deltas');
}

function checkCall(event: RecordedEvent, item: OpenItem, say: OrderState['say']): void {
  const call = event['item'] as Record<string, unknown>;
  if (!item.ended.has('arguments')) say(event, 'came before its arguments were done');
  if (call['status'] !== 'completed' || call['arguments'] !== item.arguments) say(event, 'is of an unfinished call');
}

/** Allowed states of an item before each event, and its state after it. `undefined`: unknown item. */
const steps: Readonly<Record<string, { readonly from: readonly (ItemState | undefined)[]; readonly to: ItemState }>> = {
  'input_audio_buffer.speech_started': { from: [undefined], to: 'started' },
  'input_audio_buffer.speech_stopped': { from: ['started'], to: 'stopped' },
  'input_audio_buffer.timeout_triggered': { from: [undefined], to: 'timed out' },
  // A client may commit while the user speaks, and commit audio that no VAD has processed.
  'input_audio_buffer.committed': { from: [undefined, 'started', 'stopped', 'timed out'], to: 'committed' },
  // The id of a deleted item may be used again.
  'conversation.item.added': { from: [undefined, 'committed', 'deleted'], to: 'added' },
  'conversation.item.done': { from: ['added', 'deleted'], to: 'done' },
  'conversation.item.deleted': { from: ['added', 'done'], to: 'deleted' },
};

function checkConversation(event: RecordedEvent, { items, transcribed, say }: OrderState): void {
  const id = itemIdOf(event);
  const step = steps[event.type];
  if (step !== undefined) {
    if (!step.from.includes(items.get(id))) say(event, `came when the item was ${items.get(id) ?? 'unknown'}`);
    items.set(id, step.to);
  }
  if (!event.type.startsWith('conversation.item.input_audio_transcription.')) return;
  if (transcribed.has(id)) say(event, 'came after the transcript was complete');
  if (!event.type.endsWith('.delta')) transcribed.add(id);
}

function itemIdOf(event: RecordedEvent): string {
  return (event['item_id'] ?? (event['item'] as { id: string } | undefined)?.id) as string;
}
