import { loadCharacters } from '../../../characters/character.ts';
import { buildApp } from '../../../server/app/app.ts';
import { builtInCharacters } from '../../../server/cast/cast.ts';
import { readConfig } from '../../../server/config/config.ts';
import { openEngines } from '../../../server/engines/engines.ts';

/** As `../server-process.ts`, on the server's own engines: settings come from the environment alone. */

const config = readConfig({ flags: { store: true, logLevel: 'error' }, environment: process.env });
const engines = await openEngines(config, () => undefined);
const characters = new Map((await loadCharacters(builtInCharacters)).map((pack) => [pack.id, pack]));
// On a busy machine Redis and a living node may be silent for a while.
const patience = { redisMs: 5_000, nodeMs: 5_000 };
const app = await buildApp({ config, engines, characters, version: '0', patience });
process.stdin.once('data', () => {
  void app.listen({ host: '127.0.0.1', port: config.port }).then(() => process.stdout.write('listening\n'));
});
process.stdout.write('loaded\n');
