import { expect, it } from 'vitest';
import type { CallPolicy } from '../../voices/calls/call-policy.ts';
import { EngineError } from '../../voices/engine.ts';
import type { EngineServer } from '../fakes/servers/engine-server.ts';
import { faultCatalogue, type FaultCase } from '../fakes/servers/faults.ts';

/** The key that tests open engines with: it must not appear in any error. */
export const secretKey = 'sk-very-secret';

/** Faults that an engine cannot detect, each with a reason, which is shown in the test's name. */
export type Undetectable = Readonly<Record<string, string>>;

/** An engine behind an in-test server. */
export interface Upstream {
  readonly server: EngineServer;
  /** The route that does the work, such as `POST /v1/audio/speech`. */
  readonly route: string;
}

/** One engine, opened for one test. */
export interface Opened<Engine> extends AsyncDisposable {
  readonly engine: Engine;
  /** Absent if the engine runs in this process. */
  readonly upstream?: Upstream;
}

/** The engine under test, opened again for each test; `care` is given if a test needs short timeouts. */
export interface Subject<Engine> {
  readonly title: string;
  open(care?: CallPolicy): Promise<Opened<Engine>>;
  /** True if an opened engine has an `upstream`. */
  readonly behindServer?: boolean;
  /** Faults of the catalogue, by name, that this engine cannot detect, with the reason. */
  readonly undetectable?: Undetectable;
}

/** Servers notice within milliseconds; the default, 50 ms, would be most of a test's time. */
const soon = { interval: 10 };

/** The result of a call. */
export interface Outcome {
  /** Text, or seconds of audio. Compared with that of a call without a fault. */
  readonly delivered: string;
  readonly error?: unknown;
}

/**
 * Runs every fault of the catalogue over the engine's true protocol. A fault must be reported with one of our error
 * codes and without secrets, close the connection, be retried only if allowed, and be gone once the server is repaired.
 */
export function itSurvivesFaults<Engine>(
  subject: Subject<Engine>,
  work: (engine: Engine) => Promise<Outcome>,
  privateWords: readonly string[],
): void {
  // Most tests spend their time waiting, each with its own engine and server, so they run concurrently, in one go. Tests
  // with short timeouts need the processor to themselves.
  const inTurn = ({ care }: FaultCase): number => (care === undefined ? 0 : 1);
  for (const each of faultCatalogue.toSorted((one, other) => inTurn(one) - inTurn(other))) {
    const { name, fault, times, codes, again, care } = each;
    const why = subject.undetectable?.[name];
    const runs = why !== undefined ? it.skip : care === undefined ? it.concurrent : it;
    runs(`survives a server that ${name}${why === undefined ? '' : ` (${why})`}`, async ({ expect }) => {
      await using opened = await subject.open(care);
      const { engine, upstream } = opened;
      if (upstream === undefined) throw new Error('a fault needs a server');
      const { server, route } = upstream;
      const triesToSucceed = care === undefined ? 1 : 3;
      const sound = await untilInTime(() => work(engine), triesToSucceed);
      expect(sound.error).toBeUndefined();
      const before = server.requests.length;
      server.breaks(fault, { times, route });
      const { delivered, error } = await work(engine);
      if (codes.length === 0) {
        expect(error).toBeUndefined();
        expect(delivered).toBe(sound.delivered);
      } else {
        expect(error).toBeInstanceOf(EngineError);
        const told = error as EngineError;
        expect(codes).toContain(told.code);
        const shown = `${told.message} ${told.detail}`;
        for (const word of [secretKey, ...privateWords]) expect(shown).not.toContain(word);
      }
      if (again === false) {
        const asked = server.requests
          .slice(before)
          .filter(({ method, path }) => [`${method} ${path}`, `WS ${path}`].includes(route));
        expect(asked.length).toBeLessThanOrEqual(1);
      }
      await expect.poll(() => server.open, soon).toBe(0);
      server.mends();
      expect(await untilInTime(() => work(engine), triesToSucceed)).toEqual(sound);
    });
  }
}

/** A busy machine may exceed short timeouts without any fault: a call that timed out may then be tried again. */
async function untilInTime(call: () => Promise<Outcome>, tries: number): Promise<Outcome> {
  const outcome = await call();
  const isLate = outcome.error instanceof EngineError && outcome.error.code === 'ENGINE_TIMEOUT';
  return isLate && tries > 1 ? untilInTime(call, tries - 1) : outcome;
}

/** The reason that callers abort with. */
export const reason = new Error('the user spoke');

/**
 * Requirements on every call: an aborted one sends nothing, or closes its connection at once, throws the reason and
 * gives no further part. `name` is that of the tests; `shares` are the parts of its answer after which a server is silent.
 */
export function itStopsWhenAborted<Engine>(
  subject: Subject<Engine>,
  name: string,
  call: (engine: Engine, signal: AbortSignal) => AsyncIterable<unknown>,
  shares: readonly number[] = [0, 0.5],
): void {
  it(`the ${name} sends no request if it was aborted before`, async () => {
    await using opened = await subject.open();
    const { engine, upstream } = opened;
    await expect(Array.fromAsync(call(engine, AbortSignal.abort(reason)))).rejects.toBe(reason);
    expect(upstream?.server.requests ?? []).toEqual([]);
  });

  it.runIf(subject.behindServer === true).each(shares)(
    `the ${name} closes the connection and gives no more if it is aborted while its server works, after %d of the answer`,
    async (after) => {
      await using opened = await subject.open();
      const { engine, upstream } = opened;
      if (upstream === undefined) throw new Error('no server');
      const { server, route } = upstream;
      server.breaks({ kind: 'silence', after }, { route });
      const controller = new AbortController();
      let late = 0;
      const failure = (async () => {
        for await (const _part of call(engine, controller.signal)) late += controller.signal.aborted ? 1 : 0;
      })().catch((cause: unknown) => cause);
      await expect.poll(() => server.open, soon).toBeGreaterThan(0);
      controller.abort(reason);
      await expect.poll(() => server.open, soon).toBe(0);
      expect(server.abandoned).toBeGreaterThan(0);
      expect(await failure).toBe(reason);
      expect(late).toBe(0);
    },
  );
}

/** The engine releases everything if its reader leaves after the first part. */
export function itLetsGo<Engine>(
  subject: Subject<Engine>,
  name: string,
  call: (engine: Engine, signal: AbortSignal) => AsyncIterable<unknown>,
): void {
  it(`the ${name} releases everything if its reader leaves`, async () => {
    await using opened = await subject.open();
    let parts = 0;
    for await (const _part of call(opened.engine, new AbortController().signal)) {
      parts += 1;
      break;
    }
    expect(parts).toBe(1);
    await expect.poll(() => opened.upstream?.server.open ?? 0, soon).toBe(0);
  });
}

/** An engine with the in-test server that it calls, which is closed after the test. */
export function behind<Engine>(engine: Engine, server: EngineServer, route: string): Opened<Engine> {
  return { engine, upstream: { server, route }, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

/** An engine without a server, which needs no closing or is closed after all tests. */
export function alone<Engine>(engine: Engine): Opened<Engine> {
  return { engine, [Symbol.asyncDispose]: async () => undefined };
}
