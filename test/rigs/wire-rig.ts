import { serverEventSchema } from '../../server/protocol/server-events.ts';
import type { CuesTold } from '../../server/realtime/encode-response.ts';
import type { fakeEngines } from '../fakes/engines.ts';
import { recordConnection } from './connection-rig.ts';

/** A connection on fakes. Every test ends with a check of its events, each alone and in order. */
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
