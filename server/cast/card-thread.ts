import { Piscina } from 'piscina';
import type { Card, DialoguePair } from '../../characters/card.ts';
import { CharacterError } from '../../characters/character-error.ts';
import type { PackFiles } from '../../characters/pack-folder.ts';
import type { ClipFacts } from '../../characters/tavern/from-pack.ts';
import type { CardFormat } from '../../characters/tavern/open-card.ts';
import { cardThreadMemoryMb, cardTimeoutMs, idleCardThreadMs, maxCardThreads, maxWaitingCards } from './card-limits.ts';
import { CharacterStoreError } from './character-store-error.ts';
import type { ReadPack } from './pack-body.ts';

/** Jobs of a thread: what each is given, and what it returns. */
interface Jobs {
  /** Reads an uploaded card: PNG, JSON or CHARX. */
  readonly import: [
    given: { readonly bytes: Uint8Array },
    reply: { readonly pack: PackFiles; readonly notes: readonly string[] },
  ];
  /** Writes the pack of a folder as a card. */
  readonly export: [
    given: {
      readonly folder: string;
      readonly card: Card;
      readonly lines: readonly DialoguePair[];
      readonly clip: ClipFacts | undefined;
      readonly format: CardFormat;
      readonly spec: 'v2' | 'v3';
    },
    reply: Uint8Array,
  ];
  /** Removes the card from an uploaded picture. */
  readonly picture: [given: { readonly bytes: Uint8Array }, reply: Uint8Array];
  /** Parses a pack that was sent as JSON. */
  readonly pack: [given: { readonly bytes: Uint8Array }, reply: ReadPack];
}

export type CardWork = { readonly [Kind in keyof Jobs]: (given: Jobs[Kind][0]) => Promise<Jobs[Kind][1]> };
export type CardJob = { [Kind in keyof Jobs]: { readonly kind: Kind } & Jobs[Kind][0] }[keyof Jobs];
export type CardReply = { readonly reply: unknown } | { readonly refused: string };

/** Limits of the threads; tests give smaller ones. */
export interface CardLimits {
  readonly memoryMb: number;
  readonly timeoutMs: number;
}

/**
 * Processes untrusted cards in threads with a limit of memory and time, so that none can block the server. A
 * thread reads one card at a time. It ends if a card reaches a limit or its client leaves, and if none comes for
 * {@link idleCardThreadMs}.
 */
export class CardThreads {
  readonly #pool: Piscina<CardJob, CardReply>;
  readonly #limits: CardLimits;
  readonly #most: number;
  /** Cards that are being read or wait for it. */
  #inHand = 0;

  constructor(most = maxCardThreads, limits: CardLimits = { memoryMb: cardThreadMemoryMb, timeoutMs: cardTimeoutMs }) {
    this.#limits = limits;
    this.#most = most + maxWaitingCards;
    this.#pool = new Piscina({
      filename: new URL('./card-worker.ts', import.meta.url).href,
      minThreads: 0,
      maxThreads: most,
      idleTimeout: idleCardThreadMs,
      resourceLimits: { maxOldGenerationSizeMb: limits.memoryMb, maxYoungGenerationSizeMb: 32 },
    });
  }

  /**
   * Throws `CharacterError` for an invalid card, `character_card_too_large` if a limit is reached, and `server_busy` if
   * too many others wait. Aborting ends the thread.
   */
  async run<Kind extends keyof Jobs>(kind: Kind, given: Jobs[Kind][0], signal: AbortSignal): Promise<Jobs[Kind][1]> {
    signal.throwIfAborted();
    if (this.#inHand >= this.#most) throw busy();
    const { memoryMb, timeoutMs } = this.#limits;
    const timeout = AbortSignal.timeout(timeoutMs);
    const job = { kind, ...given } as unknown as CardJob;
    this.#inHand += 1;
    const done = this.#pool.run(job, { signal: AbortSignal.any([signal, timeout]) });
    const answer = await done
      .catch((fault: NodeJS.ErrnoException) => {
        signal.throwIfAborted();
        if (timeout.aborted) throw tooLarge(`${timeoutMs / 1_000} s`);
        throw fault.code === 'ERR_WORKER_OUT_OF_MEMORY' ? tooLarge(`${memoryMb} MiB`) : fault;
      })
      .finally(() => (this.#inHand -= 1));
    if ('refused' in answer) throw new CharacterError(answer.refused);
    return answer.reply as Jobs[Kind][1];
  }

  close(): Promise<void> {
    return this.#pool.destroy();
  }
}

function tooLarge(limit: string): CharacterStoreError {
  const message = `The card takes more than ${limit} to process. Remove greetings, lore entries or files from it.`;
  return new CharacterStoreError(413, { code: 'character_card_too_large', message });
}

function busy(): CharacterStoreError {
  const message = `More than ${maxWaitingCards} cards wait to be processed. Try again in a moment.`;
  return new CharacterStoreError(503, { code: 'server_busy', message });
}
