import { setImmediate as tick } from 'node:timers/promises';
import { EngineError } from '../../voices/engine.ts';
import { serveProcess } from '../../voices/runtime/process-serve.ts';

/** Behaviour of the test engine; `answer` handles its commands. */
export interface FakeEngineData {
  readonly loads: 'well' | 'not at all' | 'once it is asked again' | 'to death' | 'to exit';
}

let loads = 0;

serveProcess<FakeEngineData, { aborted: number }, string, string>({
  async load(data) {
    loads += 1;
    process.stderr.write('fake.cc:12 I am loading\n');
    if (data.loads === 'not at all') throw new Error('no such layer');
    if (data.loads === 'once it is asked again' && loads === 1) {
      throw new EngineError('fake', 'ENGINE_MISSING', 'its weights are not there');
    }
    if (data.loads === 'to death' || data.loads === 'to exit') {
      process.stderr.write('fake.cc:34 Protobuf parsing failed.\n');
      // The output must have left before the process ends.
      await tick();
      if (data.loads === 'to death') process.kill(process.pid, 'SIGABRT');
      process.exit(255);
    }
    return { aborted: 0 };
  },
  async answer(engine, request, { signal, tell }) {
    if (request === 'die') {
      process.stderr.write('a secret of the conversation\n');
      await tick();
      process.kill(process.pid, 'SIGABRT');
    }
    if (request === 'fail') throw new Error('it is too hard');
    if (request === 'refuse') throw new EngineError('fake', 'ENGINE_REFUSED', 'not so');
    if (request === 'hang') await new Promise(() => undefined);
    if (request === 'aborted') tell(String(engine.aborted));
    else if (request === 'forever') {
      signal.addEventListener('abort', () => (engine.aborted += 1));
      for (let count = 0; !signal.aborted; count += 1) {
        tell(String(count));
        await tick();
      }
    } else for (const word of request.split(' ')) tell(word);
  },
});
