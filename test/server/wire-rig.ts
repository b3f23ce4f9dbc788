import { serverEventSchema } from '../../server/protocol/server-events.ts';
import type { fakeEngines } from '../fakes/engines.ts';
import { recordConnection } from './connection-rig.ts';

/** A connection on fakes; every test of it ends with a check of its events, of each alone and of their order. */
export function connect(
  options: Parameters<typeof fakeEngines>[0] & { readonly intent?: 'transcription'; readonly holds?: boolean } = {},
) {
  const rig = recordConnection(options, { intent: options.intent, holds: options.holds === true });
  return {
    ...rig,
    async hangUp() {
      await rig.hangUp();
      for (const event of rig.events) serverEventSchema.parse(event);
    },
  };
}
