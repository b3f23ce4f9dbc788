import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const place = new URL('../../../voices/runtime/worker-pool.ts', import.meta.url).href;

/** Closes a pool while a reply is on its way and nothing else keeps the process alive. */
const program = `
  import { openWorkerPool } from ${JSON.stringify(place)};
  const worker = \`
    import { parentPort, workerData } from 'node:worker_threads';
    const gate = new Int32Array(workerData.gate);
    parentPort.on('message', ({ id }) => {
      parentPort.postMessage({ id, reply: 'late' });
      Atomics.store(gate, 0, 1);
      Atomics.notify(gate, 0);
    });\`;
  const gate = new Int32Array(new SharedArrayBuffer(4));
  const url = new URL('data:text/javascript,' + encodeURIComponent(worker));
  const pool = openWorkerPool({ name: 'test', url, size: 1, workerData: { gate: gate.buffer } });
  pool.call({}, { signal: new AbortController().signal }).catch(() => undefined);
  Atomics.wait(gate, 0, 0);
  await pool.close();
  console.log('closed');`;

it('closing the worker pool as a reply arrives does not end the process with status 13', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program]);
  expect(stdout).toBe('closed\n');
});
