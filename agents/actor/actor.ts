import type { Character } from '../../characters/character.ts';
import { environmentId, environmentNames } from '../../characters/scene.ts';
import { EngineError } from '../../voices/engine.ts';
import type { AgentOptions, CharacterAgent, CutShort, ReplyPart, Cost } from '../agent.ts';
import type { ChatModel, ChatPart, Message } from '../chat.ts';
import { nearLast, type FindPackMatches } from '../prompting/pack-search.ts';
import { speakerLabelFilter, quotedWords } from '../output/speaker-labels.ts';
import { withSurroundings } from '../prompting/surroundings-prompt.ts';
import { performanceScript, type PerformancePart } from '../output/performance.ts';
import type { Surroundings } from '../surroundings.ts';
import type { RecipeName } from '../recipe-names.ts';
import { recipeFor } from '../recipes/recipes.ts';
import type { Prompted } from '../prompting/recipe.ts';
import { estimatePrompt } from '../prompting/talk-window.ts';
import type { EndingFilter, TextFilter } from '../output/text-filter.ts';
import { estimateShare } from '../llm/token-estimate.ts';

/** Settings of an LLM character agent. */
export interface ActorSettings {
  /** Prompt recipe; the default recipe if absent. */
  readonly recipe?: RecipeName;
  /** Overrides the recipe's temperature. */
  readonly temperature?: number;
  /** Limit of a reply in tokens, unless the call sets one. */
  readonly maxTokens?: number;
  /** Limit of the conversation history in the prompt, in estimated tokens. */
  readonly historyTokens?: number;
  /** Finds lines and lore by embedding as well as by words. */
  readonly findByEmbedding?: FindPackMatches;
}

/** Token limit of a reply that may contain tool calls, whose arguments cost the listener no time. */
const maxTokensWithTools = 1_000;

/** Speaker label filter for a character, aware of the people it knows and of those in the scene. */
function wordsOf({ id, name, relationships }: Character, circumstance: AgentOptions['circumstance']): EndingFilter {
  const others = [...relationships, ...(circumstance?.others ?? [])].map((person) => person.name);
  return speakerLabelFilter(name, others, id === environmentId ? environmentNames : []);
}

/** Creates a character agent that plays the character with a chat model, prompted by a recipe. */
export function actor(character: Character, chatModel: ChatModel, settings: ActorSettings = {}): CharacterAgent {
  const { maxTokens, temperature } = settings;

  return {
    character,
    async *reply(history, options) {
      const { signal, toolbox, sampling, circumstance } = options;
      const recipe = options.recipe ?? settings.recipe;
      const around = options.surroundings?.(character.id);
      const prompted = await promptFor(character, history, options, settings, around);
      const prompt = prompted.messages;
      const plain = wordsOf(character, circumstance);
      const words = recipe === 'chatharuhi' ? quotedWords(plain) : plain;
      const script = performanceScript(recipe === 'coser' ? 'marked' : 'spoken', around?.isAction);
      let acted = false;
      yield { type: 'reply-source', name: chatModel.name };
      const own = maxTokens ?? prompted.maxTokens;
      const longest = options.maxTokens ?? (toolbox === undefined ? own : Math.max(own, maxTokensWithTools));
      const call = {
        signal,
        ...prompted.sampling,
        ...(temperature === undefined ? {} : { temperature }),
        ...sampling,
        maxTokens: longest,
        ...begunBy(options, recipe),
        ...(toolbox === undefined ? {} : { toolbox }),
      };
      const costAt = costMeter(prompt);
      for await (const part of chatModel.chat(prompt, call)) {
        const cost = costAt(part);
        options.onCost?.(cost);
        const performed = performedIn(part, words, script);
        acted ||= performed.some(isSomething) || part.type === 'tool-call';
        yield* performed;
        if (part.type === 'tool-call') yield part;
        if (part.type !== 'chat-end' && !words.hasEnded()) continue;
        const cutShort = cutShortAt(part);
        if (!acted && cutShort !== 'filter')
          throw new EngineError(chatModel.name, 'ENGINE_BAD_REPLY', 'the model returned no text');
        yield { type: 'usage', ...cost, cutShort };
        return;
      }
    },
  };
}

/** The beginning of a reply, for the model to continue. Recipes with their own notation write something else. */
function begunBy({ heard = '', circumstance }: AgentOptions, recipe: RecipeName | undefined): { begun?: string } {
  const isPlain = circumstance === undefined && recipe !== 'chatharuhi' && recipe !== 'coser';
  return isPlain && heard.trim() !== '' ? { begun: heard.trimEnd() } : {};
}

/** Builds the prompt of a reply with the recipe of the call, otherwise with the agent's. */
async function promptFor(
  character: Character,
  history: readonly Message[],
  { signal, recipe, toolbox, scene, feelings, memories, circumstance }: AgentOptions,
  settings: ActorSettings,
  around: Surroundings | undefined,
): Promise<Prompted> {
  const { historyTokens } = settings;
  const near = await nearLast(history, settings.findByEmbedding, signal);
  const prompted = recipeFor(character, recipe ?? settings.recipe)(history, {
    hasTools: toolbox !== undefined,
    ...circumstance,
    ...(scene === undefined ? {} : { scene }),
    ...(feelings === undefined ? {} : { feelings }),
    ...(historyTokens === undefined ? {} : { historyTokens }),
    ...(memories === undefined ? {} : { memories }),
    ...(near === undefined ? {} : { near }),
  });
  return around === undefined
    ? prompted
    : { ...prompted, messages: withSurroundings(character, prompted.messages, around) };
}

function cutShortAt(part: ChatPart): CutShort {
  return part.type === 'chat-end' && part.reason !== 'stop' && part.reason;
}

/** Speech and cues released by one part of the stream; any part but text flushes what was held back. */
function performedIn(part: ChatPart, words: EndingFilter, script: TextFilter<PerformancePart[]>): Performed[] {
  if (part.type !== 'text-delta') return [...script.add(words.rest()), ...script.rest()].map(asReplyPart);
  const performed = script.add(words.add(part.text));
  return (words.hasEnded() ? [...performed, ...script.rest()] : performed).map(asReplyPart);
}

type Performed = Extract<ReplyPart, { readonly type: 'text-delta' | 'cue' }>;

function asReplyPart(part: PerformancePart): Performed {
  return part.type === 'cue' ? part : { ...part, type: 'text-delta' };
}

function isSomething({ text }: Performed): boolean {
  return text.trim() !== '';
}

/** Counts the cost of a reply part by part: an estimate, until the model reports its own count, if it ever does. */
function costMeter(prompt: readonly Message[]): (part: ChatPart) => Cost {
  const inputTokens = estimatePrompt(prompt);
  let written = 0;
  return (part) => {
    if (part.type === 'chat-end' && part.inputTokens + part.outputTokens > 0) {
      return { inputTokens: part.inputTokens, outputTokens: part.outputTokens };
    }
    if (part.type === 'text-delta') written += estimateShare(part.text);
    if (part.type === 'tool-call') written += estimateShare(part.name + part.arguments);
    return { inputTokens, outputTokens: Math.ceil(written) };
  };
}
