import { serverEventSchema } from '../../server/protocol/server-events.ts';
import type { CuesTold } from '../../server/realtime/encode-response.ts';
import type { fakeEngines } from '../fakes/engines.ts';
import { recordConnection } from './connection-rig.ts';

/** A connection on fakes; every test of it ends with a check of its events, of each alone and of their order. */
export function connect(
  options: Parameters<typeof fakeEngines>[0] & {
    readonly intent?: 'transcription';
    readonly holds?: boolean;
    readonly cues?: CuesTold;
  } = {},
) {
  const rig = recordConnection(options, {
    intent: options.intent,
    holds: options.holds === true,
    cues: options.cues,
  });
  return {
    ...rig,
    async hangUp() {
      await rig.hangUp();
      for (const event of rig.events) serverEventSchema.parse(event);
    },
  };
}
