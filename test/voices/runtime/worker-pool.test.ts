import { afterEach, describe, expect, it } from 'vitest';
import { openWorkerPool, type WorkerPool } from '../../../voices/runtime/worker-pool.ts';

/** Commands of the test worker; every result names its thread. */
type Request =
  | { readonly type: 'echo'; readonly value: unknown }
  | { readonly type: 'wait' }
  | { readonly type: 'throw' | 'exit' | 'fail' }
  | { readonly type: 'bytes'; readonly bytes: Uint8Array };
interface Reply {
  readonly thread: number;
  readonly value: unknown;
}

/** `wait` returns when the shared number becomes 1, so a test decides how long a worker is busy. */
const source = `
  import { parentPort, threadId, workerData } from 'node:worker_threads';
  const gate = new Int32Array(workerData.gate);
  parentPort.on('message', ({ id, request }) => {
    const answer = (value) => parentPort.postMessage({ id, reply: { thread: threadId, value } });
    if (request.type === 'echo') answer(request.value);
    if (request.type === 'bytes') answer(request.bytes.length);
    if (request.type === 'throw') throw new Error('out of memory');
    if (request.type === 'exit') process.exit(1);
    if (request.type === 'fail') parentPort.postMessage({ id, error: { code: 'ENGINE_REFUSED', detail: 'no' } });
    if (request.type === 'wait') { Atomics.wait(gate, 0, 0); answer('waited'); }
  });`;

let pool: WorkerPool<Request, Reply>;
let gate: Int32Array<SharedArrayBuffer>;
const never = new AbortController().signal;
const call = (request: Request, priority = 0) => pool.call(request, { signal: never, priority });

function openPool(size: number, code = source, finishMs = 0): void {
  gate = new Int32Array(new SharedArrayBuffer(4));
  const url = new URL(`data:text/javascript,${encodeURIComponent(code)}`);
  pool = openWorkerPool<Request, Reply>({ name: 'test', url, size, workerData: { gate: gate.buffer }, finishMs });
}

function openGate(): void {
  Atomics.store(gate, 0, 1);
  Atomics.notify(gate, 0);
}

afterEach(async () => {
  openGate();
  await pool.close();
});

describe('worker pool', () => {
  it('the worker pool answers requests and reuses an idle thread', async () => {
    openPool(4);
    const first = await call({ type: 'echo', value: 1 });
    const second = await call({ type: 'echo', value: 2 });
    expect([first.value, second.value]).toEqual([1, 2]);
    expect(second.thread).toBe(first.thread);
    expect(pool.load).toEqual({ running: 0, waiting: 0 });
  });

  it('the worker pool runs as many requests at a time as it has threads', async () => {
    openPool(2);
    const busy = call({ type: 'wait' });
    const [one, two] = [await call({ type: 'echo', value: 1 }), await call({ type: 'echo', value: 2 })];
    expect(two.thread).toBe(one.thread);
    openGate();
    expect((await busy).thread).not.toBe(one.thread);
  });

  it('waiting requests start by priority, then in order of arrival', async () => {
    openPool(1);
    const busy = call({ type: 'wait' });
    const order: string[] = [];
    const waiting = [
      ['low', 0],
      ['high 1', 5],
      ['middle', 2],
      ['high 2', 5],
      ['low 2', 0],
    ] as const;
    const done = waiting.map(([value, priority]) =>
      call({ type: 'echo', value }, priority).then(() => order.push(value)),
    );
    expect(pool.load).toEqual({ running: 1, waiting: 5 });
    openGate();
    await Promise.all([busy, ...done]);
    expect(order).toEqual(['high 1', 'high 2', 'middle', 'low', 'low 2']);
  });

  it('a crashed thread is replaced, and its request fails with the reason', async () => {
    openPool(1);
    const before = await call({ type: 'echo', value: 'before' });
    const crash = call({ type: 'throw' });
    const after = call({ type: 'echo', value: 'after' });
    await expect(crash).rejects.toMatchObject({
      name: 'EngineError',
      code: 'ENGINE_UNAVAILABLE',
      retryable: true,
      message: expect.stringContaining('out of memory') as string,
    });
    const reply = await after;
    expect(reply.value).toBe('after');
    expect(reply.thread).not.toBe(before.thread);
  });

  it('a thread that exits is replaced', async () => {
    openPool(1);
    await expect(call({ type: 'exit' })).rejects.toMatchObject({ code: 'ENGINE_UNAVAILABLE' });
    await expect(call({ type: 'echo', value: 1 })).resolves.toMatchObject({ value: 1 });
    expect(pool.load).toEqual({ running: 0, waiting: 0 });
  });

  it('every request fails, and none hangs, if the worker cannot start', async () => {
    openPool(2, 'throw new Error("no model");');
    const outcomes = await Promise.allSettled([1, 2, 3, 4, 5].map((value) => call({ type: 'echo', value })));
    for (const outcome of outcomes) expect(outcome).toMatchObject({ reason: { code: 'ENGINE_UNAVAILABLE' } });
  });

  it('an error of the engine reaches the caller, and the thread is kept', async () => {
    openPool(1);
    const before = await call({ type: 'echo', value: 0 });
    await expect(call({ type: 'fail' })).rejects.toMatchObject({ code: 'ENGINE_REFUSED', message: 'test: no' });
    expect((await call({ type: 'echo', value: 0 })).thread).toBe(before.thread);
  });

  it('an aborted waiting request is dropped at once', async () => {
    openPool(1);
    const busy = call({ type: 'wait' });
    const abort = new AbortController();
    const dropped = pool.call({ type: 'exit' }, { signal: abort.signal });
    const next = call({ type: 'echo', value: 'next' });
    expect(pool.load).toEqual({ running: 1, waiting: 2 });
    abort.abort('hung up');
    await expect(dropped).rejects.toBe('hung up');
    expect(pool.load).toEqual({ running: 1, waiting: 1 });
    openGate();
    expect((await busy).value).toBe('waited');
    expect((await next).value).toBe('next');
  });

  it('an aborted running request finishes, and its result is ignored', async () => {
    openPool(1);
    const abort = new AbortController();
    const running = pool.call({ type: 'wait' }, { signal: abort.signal });
    abort.abort('hung up');
    await expect(running).rejects.toBe('hung up');
    expect(pool.load).toEqual({ running: 1, waiting: 0 });
    const next = call({ type: 'echo', value: 'next' });
    openGate();
    expect((await next).value).toBe('next');
  });

  it('a request that is already aborted does not start', async () => {
    openPool(1);
    await expect(pool.call({ type: 'exit' }, { signal: AbortSignal.abort('late') })).rejects.toBe('late');
    expect(pool.load).toEqual({ running: 0, waiting: 0 });
  });

  it('a request that cannot be cloned is refused, and the worker pool stays usable', async () => {
    openPool(1);
    const refused = call({ type: 'echo', value: () => 'functions do not travel' });
    const next = call({ type: 'echo', value: 'next' });
    await expect(refused).rejects.toMatchObject({ code: 'ENGINE_REFUSED' });
    expect((await next).value).toBe('next');
    expect(pool.load).toEqual({ running: 0, waiting: 0 });
  });

  it('transferred buffers move only when the request starts', async () => {
    openPool(1);
    const busy = call({ type: 'wait' });
    const bytes = new Uint8Array(1_000);
    const moved = pool.call({ type: 'bytes', bytes }, { signal: never, transfer: [bytes.buffer] });
    expect(bytes).toHaveLength(1_000);
    openGate();
    await busy;
    expect((await moved).value).toBe(1_000);
    expect(bytes).toHaveLength(0);
  });

  it('closing the worker pool rejects waiting, running and later requests', async () => {
    openPool(1);
    const outcomes = Promise.allSettled([call({ type: 'wait' }), call({ type: 'echo', value: 1 })]);
    await pool.close();
    for (const outcome of await outcomes) expect(outcome).toMatchObject({ reason: { code: 'ENGINE_UNAVAILABLE' } });
    await expect(call({ type: 'echo', value: 1 })).rejects.toMatchObject({ code: 'ENGINE_UNAVAILABLE' });
    expect(pool.load).toEqual({ running: 0, waiting: 0 });
  });

  it('a thread finishes its running request before it ends, because ending it in native code would end the process', async () => {
    openPool(1, source, 60_000);
    await call({ type: 'echo', value: 1 });
    const running = call({ type: 'wait' }).catch((reason: unknown) => reason);
    let isClosed = false;
    const closing = pool.close().then(() => (isClosed = true));
    expect(await running).toMatchObject({ code: 'ENGINE_UNAVAILABLE' });
    for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => void setImmediate(resolve));
    expect(isClosed).toBe(false);
    openGate();
    await closing;
    expect(pool.load).toEqual({ running: 0, waiting: 0 });
  });

  it('closing the worker pool waits no longer than its limit', async () => {
    openPool(1, source, 1);
    const running = call({ type: 'wait' }).catch((reason: unknown) => reason);
    await pool.close();
    expect(await running).toMatchObject({ code: 'ENGINE_UNAVAILABLE' });
  });
});
