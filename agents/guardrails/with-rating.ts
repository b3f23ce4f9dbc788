import type { Rating } from '../../characters/rating.ts';
import type { AgentOptions, CharacterAgent, Cost, ReplyPart } from '../agent.ts';
import type { Message } from '../chat.ts';
import { languageOf } from '../retrieval/words.ts';
import { evasion } from '../scripted/moves.ts';
import type { ContentJudge } from './content-judge.ts';
import type { ContentCategory } from './content-words.ts';

/** Report that words of the user or of the character were kept back. The words themselves go nowhere. */
export interface KeptBack {
  readonly side: 'user' | 'character';
  readonly category: ContentCategory;
}

interface RatingParts {
  readonly rating: Rating;
  readonly judge: ContentJudge;
  readonly onKeptBack: (kept: KeptBack) => void;
  /** Judgements so far, by text; for one session. */
  readonly known: Map<string, Promise<ContentCategory | undefined>>;
}

/** Judgements that are remembered: each message of a prompt is judged once. */
const mostKnown = 1_000;

/** Longest text that is held back until it is judged, if no clause ends. */
const longestClause = 160;

const neutral: Readonly<Record<string, string>> = { en: 'Let us speak of something else.', zh: '我们说点别的吧。' };

/**
 * Judges what the user says before the agent reads it, and each clause before it sounds. Words of the user that the
 * rating keeps back are answered with one of the card's evasions, and the agent never reads them; a clause that it keeps
 * back ends the reply in one.
 */
export function withRating(agent: CharacterAgent, parts: RatingParts): CharacterAgent {
  const { character } = agent;
  const { onKeptBack } = parts;
  const judged = remembering(parts);
  const wayOut = async (history: readonly Message[], options: AgentOptions): Promise<string> => {
    const userMessage = history.findLast(({ role }) => role === 'user')?.text ?? '';
    const language = languageOf(userMessage, character.languages);
    const line = evasion(character, history, language);
    return (await judged(line, options)) === undefined ? line : (neutral[language] ?? neutral['en'] ?? '');
  };
  return {
    character,
    async *reply(history, options) {
      const verdicts = await Promise.all(
        history.map(async ({ role, text }) => (role === 'user' ? judged(text, options) : undefined)),
      );
      const fit = history.filter((_, at) => verdicts[at] === undefined);
      const last = history.findLastIndex(({ role }) => role === 'user');
      const category = options.situation === undefined ? verdicts[last] : undefined;
      if (category !== undefined) {
        onKeptBack({ side: 'user', category });
        yield { type: 'reply-source', name: 'script', because: 'rating' };
        yield { type: 'text-delta', text: await wayOut(fit, options) };
        yield { type: 'usage', inputTokens: 0, outputTokens: 0, cutShort: false };
        return;
      }
      const memories = await Array.fromAsync(
        options.memories ?? [],
        async (line) => [line, await judged(line, options)] as const,
      );
      const fitting = memories.flatMap(([line, found]) => (found === undefined ? [line] : []));
      const cost = { now: { inputTokens: 0, outputTokens: 0 } };
      const watched = watch(agent.reply(fit, knowing(options, fitting, cost)), (text) => judged(text, options));
      let said = '';
      for await (const part of watched) {
        if (part.type !== 'kept-back') {
          if (part.type === 'text-delta') said += part.text;
          yield part;
          continue;
        }
        onKeptBack({ side: 'character', category: part.category });
        if (part.isCue) continue;
        const line = await wayOut(fit, options);
        yield { type: 'text-delta', text: said === '' || /\s$/u.test(said) ? line : ` ${line}` };
        yield { type: 'usage', ...cost.now, cutShort: false };
        return;
      }
    },
  };
}

/** Returns the judge of one session, which judges each text once. */
function remembering({ rating, judge, known }: RatingParts) {
  return async (text: string, options: AgentOptions): Promise<ContentCategory | undefined> => {
    try {
      const before = known.get(text);
      if (before !== undefined) return await before;
    } catch {
      // Aborted with the reply that asked first.
      options.signal.throwIfAborted();
    }
    const verdict = judge(text, rating, options);
    known.set(text, verdict);
    const [oldest] = known.keys();
    if (known.size > mostKnown && oldest !== undefined) known.delete(oldest);
    return verdict;
  };
}

/** The options of the agent: with the memories that may be mentioned, and a note of what the reply costs. */
function knowing(options: AgentOptions, memories: readonly string[], cost: { now: Cost }): AgentOptions {
  return {
    ...options,
    ...(options.memories === undefined ? {} : { memories }),
    onCost(now) {
      cost.now = now;
      options.onCost?.(now);
    },
  };
}

type Watched = ReplyPart | { readonly type: 'kept-back'; readonly category: ContentCategory; readonly isCue: boolean };

/** Yields the parts of a reply, its text clause by clause once that is judged; ends at text that is kept back. */
async function* watch(
  parts: AsyncIterable<ReplyPart>,
  judge: (text: string) => Promise<ContentCategory | undefined>,
): AsyncGenerator<Watched> {
  let held: Extract<ReplyPart, { type: 'text-delta' }>[] = [];
  let clause = '';
  let before = '';
  const settle = async (): Promise<ContentCategory | undefined> => {
    const found = clause.trim() === '' ? undefined : await judge((before + clause).trim());
    // A comma may have words on both sides; whole sentences are checked alone.
    before = /[.!?。！？\n]["”’」』)]*\s*$/u.test(clause) ? '' : (before + clause).slice(-longestClause);
    clause = '';
    return found;
  };
  for await (const part of parts) {
    if (part.type === 'text-delta') {
      held.push(part);
      clause += part.text;
      if (!/[,;:.!?—，；：。！？、\n]["”’」』)]*\s*$/u.test(clause) && clause.length < longestClause) continue;
    }
    const category = await settle();
    if (category !== undefined) {
      yield { type: 'kept-back', category, isCue: false };
      return;
    }
    yield* held;
    held = [];
    if (part.type === 'text-delta') continue;
    const found = part.type === 'cue' ? await judge(part.text) : undefined;
    if (found === undefined) yield part;
    else yield { type: 'kept-back', category: found, isCue: true };
  }
  const category = await settle();
  if (category === undefined) yield* held;
  else yield { type: 'kept-back', category, isCue: false };
}
