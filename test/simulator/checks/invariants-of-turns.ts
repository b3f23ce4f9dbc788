import { allSteps } from './invariants-of-words.ts';
import type { PersonRun } from '../world.ts';

/** Events between a person's turn and its answer, in the order in which the client gets them. */
interface Told {
  readonly type: string;
  readonly item_id?: string;
  readonly delta?: string;
  readonly transcript?: string;
  readonly previous_item_id?: string | null;
  readonly item?: { readonly id: string };
}

/**
 * Checks that every understood utterance is answered or continued: a transcript with words is followed by a response,
 * unless one is already in progress, or by new speech.
 */
export function answeredEach({ person: { record }, part }: PersonRun): string[] {
  // With other settings, the client asks for replies.
  if (part.session !== undefined || allSteps(part.script).some((step) => step.do === 'send')) return [];
  const events = record.eventsOf() as unknown as Told[];
  return events.flatMap((event, index) => {
    if (event.type !== 'conversation.item.input_audio_transcription.completed' || event.transcript === '') return [];
    const committed = events.findIndex(
      ({ type, item_id: id }) => type === 'input_audio_buffer.committed' && id === event.item_id,
    );
    const after = events.slice(committed);
    const isAnswered = after.some(({ type }) => answers.has(type));
    const isBusy = isSpeaking(events.slice(0, index));
    return isAnswered || isBusy ? [] : [`${event.item_id} was understood, and never answered`];
  });
}

const answers = new Set(['response.created', 'input_audio_buffer.speech_started']);

function isSpeaking(events: readonly Told[]): boolean {
  const count = (type: string): number => events.filter((event) => event.type === type).length;
  return count('response.created') > count('response.done');
}

/** Checks that each item follows an item known to the client, and that streamed text equals the final text. */
export function agrees({ person: { record } }: PersonRun): string[] {
  const known = new Set<string | null>([null]);
  const wrong: string[] = [];
  const partial = new Map<string, string>();
  for (const event of record.eventsOf() as unknown as Told[]) {
    const id = event.item_id ?? event.item?.id ?? '';
    if (event.type === 'conversation.item.added') {
      if (!known.has(event.previous_item_id ?? null)) wrong.push(`${id} follows an item that nobody knows`);
      known.add(id);
    } else if (event.type === 'conversation.item.input_audio_transcription.delta')
      partial.set(id, (partial.get(id) ?? '') + (event.delta ?? ''));
    else if (event.type === 'conversation.item.input_audio_transcription.completed') {
      const text = partial.get(id)?.trimEnd() ?? '';
      if (event.transcript !== '' && !(event.transcript ?? '').startsWith(text))
        wrong.push(`the transcript of ${id} takes back what was stable: “${text}”`);
    }
  }
  return wrong;
}
