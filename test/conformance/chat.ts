import { describe, expect, it } from 'vitest';
import type { ChatModel, ChatPart, Message } from '../../agents/chat.ts';
import { itLetsGo, itStopsWhenAborted, itSurvivesFaults, type Outcome, type Subject } from './upstream.ts';

export interface ChatSubject extends Subject<ChatModel> {
  /** The model's reply to anything, in more than one delta. */
  readonly says: RegExp;
}

const remark = 'my private remark';
const messages: readonly Message[] = [
  { role: 'system', text: 'You are Martha.' },
  { role: 'user', text: 'Good evening.' },
  { role: 'assistant', text: 'Good evening to you.' },
  { role: 'user', text: remark },
];

/** Requirements on every `ChatModel`. A model behind a server must also survive the server's faults. */
export function chatConformance(subject: ChatSubject): void {
  const { title, says } = subject;

  describe(`${title} as a chat model`, () => {
    it('the chat model emits text deltas, then exactly one end', async () => {
      await using opened = await subject.open();
      expect(opened.engine.name).not.toBe('');
      const parts = await chat(opened.engine);
      expect(textOf(parts)).toMatch(says);
      const ends = parts.map(({ type }) => type === 'chat-end');
      expect(ends).toEqual(parts.map((_, index) => index === parts.length - 1));
      for (const part of parts) if (part.type === 'text-delta') expect(part.text).not.toBe('');
    });

    it('the chat model serves two conversations at a time', async () => {
      await using opened = await subject.open();
      for (const parts of await Promise.all([chat(opened.engine), chat(opened.engine)])) {
        expect(textOf(parts)).toMatch(says);
      }
    });

    it('the chat model accepts a conversation with only a system message', async () => {
      await using opened = await subject.open();
      expect(textOf(await chat(opened.engine, messages.slice(0, 1)))).toMatch(says);
    });

    const call = (engine: ChatModel, signal: AbortSignal) => engine.chat(messages, { signal });
    itStopsWhenAborted(subject, 'chat model', call);
    itLetsGo(subject, 'chat model', call);
  });

  if (subject.behindServer !== true) return;
  describe(`${title} over its protocol`, () => {
    itSurvivesFaults(subject, outcomeOf, [remark]);
  });
}

function chat(model: ChatModel, said: readonly Message[] = messages): Promise<ChatPart[]> {
  return Array.fromAsync(model.chat(said, { signal: new AbortController().signal }));
}

async function outcomeOf(model: ChatModel): Promise<Outcome> {
  let delivered = '';
  try {
    for await (const part of model.chat(messages, { signal: new AbortController().signal })) {
      if (part.type === 'text-delta') delivered += part.text;
    }
    return { delivered };
  } catch (error) {
    return { delivered, error };
  }
}

function textOf(parts: readonly ChatPart[]): string {
  return parts.map((part) => (part.type === 'text-delta' ? part.text : '')).join('');
}
