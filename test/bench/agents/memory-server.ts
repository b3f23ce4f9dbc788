import type { AddressInfo } from 'node:net';
import { loadCharacters } from '../../../characters/character.ts';
import { readConfig } from '../../../server/config/config.ts';
import { buildApp } from '../../../server/app/app.ts';
import { openMemories } from '../../../server/memory/memories.ts';
import { builtInCharacters } from '../../../server/cast/cast.ts';
import { fakeEngines } from '../../fakes/engines.ts';

/**
 * A server with memory on and engines that cost nothing, in a process that can be killed: `memory-server.ts DATA_DIR [POSTGRES_URL]`.
 */
const dataDir = process.argv[2] ?? '';
const [, , , postgresUrl] = process.argv;
const flags = {
  logLevel: 'silent',
  memory: true,
  dataDir,
  ...(postgresUrl !== undefined && { postgresUrl }),
  maxSessionsPerAddress: '64',
  maxHandshakesPerMinute: '9999',
};
const config = readConfig({ flags, environment: {} });
const characters = new Map((await loadCharacters(builtInCharacters)).map((pack) => [pack.id, pack]));
const engines = fakeEngines();
const onFault = (fault: unknown): void => void process.stderr.write(`${String(fault)}\n`);
const memories = await openMemories({ config, chatModel: undefined, characters, onFault });
const app = await buildApp({ config, engines, characters, version: '0', memories });
await app.listen({ host: '127.0.0.1', port: 0 });
process.stdout.write(`${memories.state} ${(app.server.address() as AddressInfo).port}\n`);
