import { openProcess } from '../../voices/runtime/process.ts';

/** Started by a test as a process of its own: starts an engine's process and prints its id, then stays. */
const engine = openProcess<string, string>({
  name: 'fake',
  url: new URL('./process-engine-worker.ts', import.meta.url),
  data: { loads: 'well' },
});
await engine.once('hello', { signal: new AbortController().signal });
console.log(engine.processId);
setInterval(() => undefined, 60_000);
