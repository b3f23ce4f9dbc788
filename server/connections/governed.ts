import type { FastifyBaseLogger } from 'fastify';
import { contentJudge, type ContentJudge } from '../../agents/guardrails/content-judge.ts';
import { strictest } from '../../characters/rating.ts';
import { openContext } from '../../voices/calls/context.ts';
import type { EngineError } from '../../voices/engine.ts';
import type { Config } from '../config/config.ts';
import type { Engines } from '../engines/engines.ts';
import { Spending, type Prices, type SharedSpending } from '../limits/spending.ts';
import { newId } from '../realtime/encode.ts';
import type { Peer } from '../realtime/peer.ts';
import { limited } from '../responders/limited.ts';
import { rated } from '../responders/rated.ts';
import type { SessionDeps, SessionOptions } from './open-session.ts';

type Responders = Pick<Engines, 'responderFor'>;

/** Returns the responders as their ratings, and the terms of the client secret, let them answer. */
export function governed(engines: Responders, options: SessionOptions, deps: SessionDeps, peer: Peer): Responders {
  const { client } = options;
  const { config, caller, judge } = deps;
  const within = withinLimits(engines, options, deps, peer);
  if (judge === undefined) return within;
  return rated(within, strictest(config.rating, caller.secret?.terms?.rating), {
    judge,
    onKeptBack(kept) {
      if (client.notice === true) peer.send({ type: 'x_dramatis.kept_back', event_id: newId('event'), ...kept });
    },
  });
}

function withinLimits(
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

/** Opens what the terms of client secrets need: a count of what they spend, and a judge of what is said. */
export async function openTerms(
  config: Config,
  log: FastifyBaseLogger,
  shared: SharedSpending | undefined,
): Promise<Required<Pick<SessionDeps, 'spending' | 'judge'>>> {
  return { spending: new Spending(shared), judge: await openJudge(config, log) };
}

/** Opens our word list, and the moderation server if there is one. */
async function openJudge(config: Config, log: FastifyBaseLogger): Promise<ContentJudge> {
  const { moderationBaseUrl: baseUrl, moderationModel: model, moderationApiKey: key } = config;
  if (baseUrl === undefined) return contentJudge();
  const { adapter } = await import('../../agents/guardrails/openai-moderation.ts');
  const settingNames = {
    baseUrl: 'DRAMATIS_MODERATION_BASE_URL',
    model: 'DRAMATIS_MODERATION_MODEL',
    key: 'DRAMATIS_MODERATION_API_KEY',
  };
  const chosen = { baseUrl, model };
  const context = openContext('moderation', { key, callPolicy: [adapter.callPolicy?.(chosen)], settingNames });
  const onFault = ({ code, message }: EngineError): void => log.warn({ code, fault: message }, 'not moderated');
  return contentJudge(adapter.open(chosen, context), onFault);
}

/** Returns the prices of the server; undefined if it has none. */
export function pricesIn(prices: readonly string[]): Prices | undefined {
  if (prices.length === 0) return undefined;
  const named = Object.fromEntries(
    prices.map((price) => price.split('=')).map(([name, value]) => [name, Number(value)]),
  );
  return { input: 0, output: 0, audio: 0, ...named };
}
