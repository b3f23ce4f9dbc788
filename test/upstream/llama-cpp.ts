/** llama.cpp's tools/server, built in the checkout, with a model of one layer that says one sentence. */
import { existsSync } from 'node:fs';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { tinyGguf } from '../fakes/models/tiny-gguf.ts';

const [source = '', port = ''] = process.argv.slice(2);
const server = path.join(source, 'build/bin/llama-server');
if (!existsSync(server)) {
  console.error(
    `Build it first: cmake -S ${source} -B ${source}/build, then cmake --build ${source}/build -t llama-server`,
  );
  process.exit(1);
}
const model = path.join(await mkdtemp(path.join(tmpdir(), 'dramatis-upstream-')), 'model.gguf');
await writeFile(model, tinyGguf(['Good', ' evening,', ' my', ' friend.', ' What', ' brings', ' you', ' here?']));
const given = ['--model', model, '--alias', 'dramatis-stand-in', '--host', '127.0.0.1', '--port', port];
// This process becomes the server, so that it ends when it is ended.
process.execve?.(server, [server, ...given, '--ctx-size', '4096', '--parallel', '2', '--threads', '2', '--no-ui']);
