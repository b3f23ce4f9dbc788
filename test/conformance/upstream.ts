import { expect, it } from 'vitest';
import type { CallPolicy } from '../../voices/calls/call-policy.ts';
import { EngineError } from '../../voices/engine.ts';
import type { EngineServer } from '../fakes/servers/engine-server.ts';
import { faultCatalogue } from '../fakes/servers/faults.ts';

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
  for (const { name, fault, times, codes, again, care } of faultCatalogue) {
    const why = subject.undetectable?.[name];
    // Most tests spend their time waiting, each with its own engine and server, so they run concurrently. Tests with
    // short timeouts need the processor to themselves.
    const runs = why !== undefined ? it.skip : care === undefined ? it.concurrent : it;
    runs(`survives a server that ${name}${why === undefined ? '' : ` (${why})`}`, async ({ expect }) => {
      await using opened = await subject.open(care);
      const { engine, upstream } = opened;
      if (upstream === undefined) throw new Error('a fault needs a server');
      const { server, route } = upstream;
      const sound = await work(engine);
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
      await expect.poll(() => server.open).toBe(0);
      server.mends();
      expect(await work(engine)).toEqual(sound);
    });
  }
}

/** The reason that callers abort with. */
export const reason = new Error('the user spoke');

/**
 * Aborts a call while its server is silent, `after` a part of the answer. Returns the error of the call once the
 * connection is closed.
 */
export async function abortInSilence<Engine>(
  subject: Subject<Engine>,
  after: number,
  call: (engine: Engine, signal: AbortSignal) => Promise<unknown>,
): Promise<unknown> {
  await using opened = await subject.open();
  const { engine, upstream } = opened;
  if (upstream === undefined) throw new Error('no server');
  const { server, route } = upstream;
  server.breaks({ kind: 'silence', after }, { route });
  const controller = new AbortController();
  const failure = call(engine, controller.signal).then(
    () => undefined,
    (cause: unknown) => cause,
  );
  await expect.poll(() => server.open).toBeGreaterThan(0);
  controller.abort(reason);
  await expect.poll(() => server.open).toBe(0);
  expect(server.abandoned).toBeGreaterThan(0);
  return failure;
}
