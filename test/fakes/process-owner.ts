import { openProcess } from '../../voices/runtime/process.ts';

/** Run by a test as a separate process: starts an engine process, prints its id, and stays alive. */
const engine = openProcess<string, string>({
  name: 'fake',
  url: new URL('./process-engine-worker.ts', import.meta.url),
  data: { loads: 'well' },
});
await engine.once('hello', { signal: new AbortController().signal });
console.log(engine.processId);
setInterval(() => undefined, 60_000);
