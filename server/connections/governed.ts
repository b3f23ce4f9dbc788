import type { Engines } from '../engines/engines.ts';
import type { Prices } from '../limits/spending.ts';
import { newId } from '../realtime/encode.ts';
import type { Peer } from '../realtime/peer.ts';
import { limited } from '../responders/limited.ts';
import type { SessionDeps, SessionOptions } from './open-session.ts';

type Responders = Pick<Engines, 'responderFor'>;

/** Returns the responders as the terms of the client secret let them answer. */
export function governed(
  engines: Responders,
  { client, journal, restored }: SessionOptions,
  { config, caller: { secret }, spending }: SessionDeps,
  peer: Peer,
): Responders {
  const { terms, account } = secret ?? {};
  if (terms?.limits === undefined || account === undefined || spending === undefined) return engines;
  if (restored?.spent !== undefined) spending.restore(account, restored.spent);
  return limited(engines, {
    spending,
    account,
    limits: terms.limits,
    prices: pricesIn(config.prices),
    onSpent: (spent) => journal?.write({ type: 'spent', spent }),
    onNear({ limit, left, of }) {
      if (client.notice !== true) return;
      const rounded = Math.round(left * 10_000) / 10_000;
      peer.send({ type: 'x_dramatis.limit_near', event_id: newId('event'), limit, left: rounded, of });
    },
  });
}

/** Returns the prices of the server; undefined if it has none. */
export function pricesIn(prices: readonly string[]): Prices | undefined {
  if (prices.length === 0) return undefined;
  const named = Object.fromEntries(
    prices.map((price) => price.split('=')).map(([name, value]) => [name, Number(value)]),
  );
  return { input: 0, output: 0, audio: 0, ...named };
}
