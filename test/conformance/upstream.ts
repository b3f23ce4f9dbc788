import { expect, it } from 'vitest';
import type { Care } from '../../voices/calls/call-policy.ts';
import { EngineError } from '../../voices/engine.ts';
import type { EngineServer } from '../fakes/engine-server.ts';
import { faultCatalogue } from '../fakes/faults.ts';

/** The key that tests open engines with: it must show up in no error. */
export const secretKey = 'sk-very-secret';

/** What may keep an engine from telling a fault. Each needs a reason, which the test's name shows. */
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
  /** Absent where the engine runs in our process. */
  readonly upstream?: Upstream;
}

/** The same engine, opened anew for each test, with `care` where a test needs it impatient. */
export interface Subject<Engine> {
  readonly title: string;
  open(care?: Care): Promise<Opened<Engine>>;
  /** Whether what it opens has an `upstream`. */
  readonly behindServer?: boolean;
  /** Faults of the catalogue, by name, that this engine cannot tell, and why. */
  readonly undetectable?: Undetectable;
}

/** How a call went. */
export interface Outcome {
  /** What was delivered: text, or seconds of sound. Compared with a call of a sound server. */
  readonly delivered: string;
  readonly error?: unknown;
}

/**
 * Every fault of the catalogue, over the engine's true protocol: told with a code of ours, without secrets, the connection
 * closed, asked again only where that is right, and over when the server is mended.
 */
export function itSurvivesFaults<Engine>(
  subject: Subject<Engine>,
  work: (engine: Engine) => Promise<Outcome>,
  privateWords: readonly string[],
): void {
  for (const { name, fault, times, codes, again, care } of faultCatalogue) {
    const why = subject.undetectable?.[name];
    // Most wait most of their time, each with an engine and a server of its own. Who is impatient needs the processor.
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

/** What a caller aborts with. */
export const reason = new Error('the user spoke');

/** Aborts a call while its server is silent, `after` a part of the answer. Gives what it failed with, once the connection is closed. */
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
