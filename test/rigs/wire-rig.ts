import { serverEventSchema } from '../../server/protocol/server-events.ts';
import type { Client } from '../../server/realtime/peer.ts';
import type { fakeEngines } from '../fakes/engines.ts';
import { recordConnection } from './connection-rig.ts';

/** A connection on fakes. Every test ends with a check of its events, each alone and in order. */
export function connect(
  options: Parameters<typeof fakeEngines>[0] & {
    readonly intent?: 'transcription';
  } & Pick<Client, 'holds' | 'cues'> = {},
) {
  const { intent, holds = false, cues = 'none' } = options;
  const rig = recordConnection(options, { intent, client: { holds, cues } });
  return {
    ...rig,
    async hangUp() {
      await rig.hangUp();
      for (const event of rig.events) serverEventSchema.parse(event);
    },
  };
}
