import { marked } from '../../agents/actor/fallback.ts';
import { withScript } from '../../agents/actor/script.ts';
import type { CharacterAgent, Cost } from '../../agents/agent.ts';
import { oncePer } from '../../agents/once-per.ts';
import { scriptedAgent } from '../../agents/scripted/scripted.ts';
import type { Character } from '../../characters/character.ts';
import { leftOf, type Left, type Prices, type Spending, type SpendingLimits, type Spent } from '../limits/spending.ts';
import type { ReplyOptions, Responder } from '../session/contract/responder.ts';

interface Meter {
  readonly spending: Spending;
  /** Counts are kept by it. */
  readonly account: string;
  readonly limits: SpendingLimits;
  readonly prices: Prices | undefined;
  /** Called once for each limit of which a fifth is left. */
  readonly onNear: (left: Left) => void;
  /** Called with the totals after each reply. */
  readonly onSpent: (spent: Spent) => void;
}

/** Share of a limit that is left when the client gets a warning. */
const near = 0.2;

interface Responders {
  responderFor(character: Character): Responder;
}

/**
 * Returns the responders within limits: what replies cost is counted, and once a limit is reached, the character answers
 * with its own lines, without a model. A reply that is being made when that happens is made to its end.
 */
export function limited(engines: Responders, meter: Meter): Responders {
  const told = new Set<string>();
  const tell = (spent: Spent): void => {
    for (const one of leftOf(meter.limits, spent)) {
      if (one.left > one.of * near || told.has(one.limit)) continue;
      told.add(one.limit);
      meter.onNear({ ...one, left: Math.max(0, one.left) });
    }
  };
  return {
    responderFor(character) {
      const responder = engines.responderFor(character);
      return {
        ...responder,
        async *reply(history, options) {
          if (options.situation === 'nod') return yield* responder.reply(history, options);
          const { spending, account } = meter;
          const begun = await spending.add(account, { replies: 1 });
          // This reply is among those that were counted.
          const isSpent = leftOf(meter.limits, begun).some(
            ({ limit, left }) => left < 0 || (left === 0 && limit !== 'replies'),
          );
          if (isSpent) {
            await spending.add(account, { replies: -1 });
            return yield* responder.reply(history, { ...options, through: byOwnLines(options) });
          }
          const bill = new Bill(options);
          try {
            for await (const part of responder.reply(history, bill.options)) {
              if (part.type === 'usage') bill.cost = part;
              yield part;
            }
          } finally {
            const spent = await spending.add(account, bill.amounts(meter.prices));
            meter.onSpent(spent);
            tell(spent);
          }
        },
      };
    },
  };
}

const ownLines = oncePer((character: Character) => withScript(scriptedAgent(character)));

function byOwnLines({ through = (agent) => agent }: ReplyOptions): NonNullable<ReplyOptions['through']> {
  return ({ character }): CharacterAgent => {
    const lines = ownLines(character);
    return through({ character, reply: (history, options) => marked(lines.reply(history, options), 'limit') });
  };
}

/** Cost of one reply, as it grows. */
class Bill {
  cost: Cost = { inputTokens: 0, outputTokens: 0 };
  #audioMs = 0;
  #isWanted: boolean;
  readonly options: ReplyOptions;

  constructor(options: ReplyOptions) {
    const { confirmed, onCost, onSpeech } = options;
    this.#isWanted = confirmed === undefined;
    void confirmed?.then(() => (this.#isWanted = true));
    this.options = {
      ...options,
      onCost: (cost) => {
        this.cost = cost;
        onCost?.(cost);
      },
      onSpeech: (ms) => {
        this.#audioMs += ms;
        onSpeech?.(ms);
      },
    };
  }

  /** A discarded speculative reply does not count as a reply, but its cost counts. */
  amounts(prices: Prices = { input: 0, output: 0, audio: 0 }): Partial<Spent> {
    const { inputTokens, outputTokens } = this.cost;
    const tokens = (inputTokens * prices.input + outputTokens * prices.output) / 1_000_000;
    return {
      replies: this.#isWanted ? 0 : -1,
      tokens: inputTokens + outputTokens,
      audioMs: this.#audioMs,
      cost: tokens + (this.#audioMs / 60_000) * prices.audio,
    };
  }
}
