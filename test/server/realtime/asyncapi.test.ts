import { describe, expect, it } from 'vitest';
import { asyncapiDocument } from '../../../server/protocol/asyncapi.ts';
import { clientEventTypes } from '../../../server/protocol/client-events.ts';
import { serverEventSchema } from '../../../server/protocol/server-events.ts';
import { latencyComponents } from '../../../server/session/contract/latency-breakdown.ts';

describe('the AsyncAPI document', () => {
  const document = asyncapiDocument('1.2.3') as {
    channels: { realtime: { messages: Record<string, { payload: { properties: Record<string, unknown> } }> } };
    operations: Record<'send' | 'receive', { messages: { $ref: string }[] }>;
  };

  it('lists every event of both directions, with its fields', () => {
    const { messages } = document.channels.realtime;
    expect(document.operations.receive.messages).toHaveLength(clientEventTypes.size);
    expect(document.operations.send.messages).toHaveLength(serverEventSchema.options.length);
    expect(messages['conversation.item.truncate']?.payload.properties).toHaveProperty('audio_end_ms');
    expect(messages['response.done']?.payload.properties).toHaveProperty('response');
  });

  it('names everybody whom the wait for a reply can be owed to', () => {
    const payload = JSON.stringify(document.channels.realtime.messages['response.done']?.payload);
    for (const owner of latencyComponents) expect(payload).toContain(`"${owner}"`);
  });

  it('is plain JSON whose references all lead somewhere', () => {
    const { messages } = document.channels.realtime;
    expect(JSON.parse(JSON.stringify(document))).toEqual(document);
    for (const { $ref } of [...document.operations.send.messages, ...document.operations.receive.messages]) {
      expect(messages).toHaveProperty([$ref.split('/').at(-1) ?? '']);
    }
  });
});
