import { z } from 'zod';
import { clientEventSchema } from './client-events.ts';
import { limits, wireSampleRate } from './limits.ts';
import { serverEventSchema } from './server-events.ts';

type Union = typeof clientEventSchema | typeof serverEventSchema;

/** Returns the wire protocol as an AsyncAPI 3.0 document, generated from the validation schemas. */
export function asyncapiDocument(version: string): Record<string, unknown> {
  const fromClient = messagesOf(clientEventSchema, 'input');
  const fromServer = messagesOf(serverEventSchema, 'output');
  const channel = { $ref: '#/channels/realtime' };
  const names = (messages: object): { $ref: string }[] =>
    Object.keys(messages).map((name) => ({ $ref: `#/channels/realtime/messages/${name}` }));
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'Dramatis',
      version,
      license: { name: 'Apache-2.0' },
      description:
        `OpenAI Realtime (GA) over WebSocket. Audio is base64 of 16-bit little-endian mono PCM at ${wireSampleRate} Hz ` +
        `unless the session sets another format. A frame has at most ${limits.frameBytes} bytes.`,
    },
    channels: {
      realtime: {
        address: '/v1/realtime?model={character}',
        parameters: { character: { description: 'Id of a character; `GET /characters` lists them.' } },
        messages: { ...fromClient, ...fromServer },
      },
    },
    operations: {
      receive: { action: 'receive', channel, messages: names(fromClient) },
      send: { action: 'send', channel, messages: names(fromServer) },
    },
  };
}

/** Returns one message per member of the union, by event type. */
function messagesOf(union: Union, io: 'input' | 'output'): Record<string, unknown> {
  return Object.fromEntries(
    union.options.map((option) => {
      const type: string = option.shape.type.value;
      const payload = z.toJSONSchema(option, { io, unrepresentable: 'any' });
      return [type, { name: type, contentType: 'application/json', payload }];
    }),
  );
}
