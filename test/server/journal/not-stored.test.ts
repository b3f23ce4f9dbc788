import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { memoryFile } from '../../../server/memory/store/store.ts';
import { serverEventSchema } from '../../../server/protocol/server-events.ts';
import { errorTable } from '../../../server/session/contract/errors.ts';
import { begin, dataFolder, say, type Call } from '../../rigs/memory-rig.ts';
import { serve } from '../../rigs/serve-rig.ts';

/** Collects the warnings that a client gets from now on. */
function warningsOf({ socket }: Call): unknown[] {
  const warnings: unknown[] = [];
  socket.on('message', (data: Buffer) => {
    const event = JSON.parse(data.toString()) as { readonly type: string };
    if (event.type === 'x_dramatis.warning') warnings.push(serverEventSchema.parse(event));
  });
  return warnings;
}

/** A server that can store no session. */
async function serveWithoutRoom() {
  const dataDir = dataFolder();
  writeFileSync(path.join(dataDir, 'sessions'), 'a file in the place of the folder');
  return serve({ flags: { store: true, dataDir } });
}

describe('what cannot be stored', () => {
  it('a client is warned once that its session cannot be stored, and the conversation continues', async () => {
    const call = await begin(await serveWithoutRoom(), '?model=alice&x=resume,notice');
    const warnings = warningsOf(call);
    for (const text of ['One.', 'Two.', 'Three.']) await say(call, text);
    expect(warnings).toMatchObject([{ code: 'session_not_stored', message: errorTable.session_not_stored[1] }]);
  });

  it('each session is warned of its own loss', async () => {
    const server = await serveWithoutRoom();
    for (const query of ['?model=alice&x=resume,notice', '?model=captain-nemo&x=resume,notice']) {
      const call = await begin(server, query);
      const warnings = warningsOf(call);
      await say(call, 'Good evening.');
      expect(warnings).toHaveLength(1);
    }
  });

  it('a client that asked for no notices gets none', async () => {
    const call = await begin(await serveWithoutRoom(), '?model=alice&x=resume');
    const warnings = warningsOf(call);
    await say(call, 'Good evening.');
    expect(warnings).toEqual([]);
  });

  it('a client is warned once that the conversation cannot be remembered, and it continues', async () => {
    const dataDir = dataFolder();
    const call = await begin(await serve({ flags: { memory: true, dataDir } }), '?model=alice&user=bob&x=notice');
    const warnings = warningsOf(call);
    await say(call, 'I live in Leeds.');
    expect(warnings).toEqual([]);
    const database = new DatabaseSync(memoryFile(dataDir));
    database.exec('DROP TABLE points; DROP TABLE facts; DROP TABLE turns');
    database.close();
    for (const text of ['One.', 'Two.', 'Three.']) await say(call, text);
    expect(warnings).toMatchObject([{ code: 'memory_not_stored', message: errorTable.memory_not_stored[1] }]);
  });
});
