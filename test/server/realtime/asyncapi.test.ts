import { describe, expect, it } from 'vitest';
import { asyncapiDocument } from '../../../server/protocol/asyncapi.ts';
import { clientEventTypes } from '../../../server/protocol/client-events.ts';
import { serverEventSchema } from '../../../server/protocol/server-events.ts';
import { latencyComponents } from '../../../server/session/contract/turn-timings.ts';

describe('asyncapiDocument', () => {
  const document = asyncapiDocument('1.2.3') as {
    channels: { realtime: { messages: Record<string, { payload: { properties: Record<string, unknown> } }> } };
    operations: Record<'send' | 'receive', { messages: { $ref: string }[] }>;
  };

  it('lists every client and server event with its fields in the AsyncAPI document', () => {
    const { messages } = document.channels.realtime;
    expect(document.operations.receive.messages).toHaveLength(clientEventTypes.size);
    expect(document.operations.send.messages).toHaveLength(serverEventSchema.options.length);
    expect(messages['conversation.item.truncate']?.payload.properties).toHaveProperty('audio_end_ms');
    expect(messages['response.done']?.payload.properties).toHaveProperty('response');
  });

  it('names every latency component in the AsyncAPI document', () => {
    const payload = JSON.stringify(document.channels.realtime.messages['response.done']?.payload);
    for (const owner of latencyComponents) expect(payload).toContain(`"${owner}"`);
  });

  it('resolves every reference of the AsyncAPI document', () => {
    const { messages } = document.channels.realtime;
    expect(JSON.parse(JSON.stringify(document))).toEqual(document);
    for (const { $ref } of [...document.operations.send.messages, ...document.operations.receive.messages]) {
      expect(messages).toHaveProperty([$ref.split('/').at(-1) ?? '']);
    }
  });
});
