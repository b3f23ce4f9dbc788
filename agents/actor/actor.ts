import type { Character } from '../../characters/character.ts';
import { environmentId, environmentNames } from '../../characters/scene.ts';
import { EngineError } from '../../voices/engine.ts';
import type { AgentOptions, CharacterAgent, CutShort, ReplyPart } from '../agent.ts';
import type { ChatModel, ChatPart, Message } from '../chat.ts';
import { costMeter } from './cost.ts';
import { nearLast, type FindNear } from '../prompting/meaning.ts';
import { ownWords, quotedWords, type OwnWords } from '../output/speaker-labels.ts';
import { performanceScript, type Performance, type PerformancePart } from '../output/performance.ts';
import type { RecipeName } from '../recipe-names.ts';
import { recipeFor } from '../recipes/recipes.ts';
import type { Prompted } from '../prompting/recipe.ts';

/** How an actor plays. */
export interface ActorSettings {
  /** How the model is told whom to play. */
  readonly recipe?: RecipeName;
  /** Instead of the recipe's. */
  readonly temperature?: number;
  /** The longest reply, unless the call says otherwise. */
  readonly maxTokens?: number;
  /** How much of the talk is sent along, in estimated tokens. */
  readonly historyTokens?: number;
  /** Finds lines and lore by meaning too. */
  readonly meaning?: FindNear;
}

/** The longest reply that may hold calls: arguments are written, and cost no listener's time. */
const maxTokensWithTools = 1_000;

/** A character's own words among those whom it knows, and those who are there. */
function wordsOf({ id, name, relationships }: Character, circumstance: AgentOptions['circumstance']): OwnWords {
  const others = [...relationships, ...(circumstance?.others ?? [])].map((person) => person.name);
  return ownWords(name, others, id === environmentId ? environmentNames : []);
}

/** A chat model that plays a character, told how by a recipe. */
export function actor(character: Character, chatModel: ChatModel, settings: ActorSettings = {}): CharacterAgent {
  const { maxTokens, temperature } = settings;

  return {
    character,
    async *reply(history, options) {
      const { signal, toolbox, sampling, circumstance } = options;
      const recipe = options.recipe ?? settings.recipe;
      const prompted = await promptFor(character, history, options, settings);
      const prompt = prompted.messages;
      const plain = wordsOf(character, circumstance);
      const words = recipe === 'chatharuhi' ? quotedWords(plain) : plain;
      const script = performanceScript(recipe === 'coser' ? 'marked' : 'spoken');
      let acted = false;
      yield { type: 'mind', name: chatModel.name };
      const own = maxTokens ?? prompted.maxTokens;
      const longest = options.maxTokens ?? (toolbox === undefined ? own : Math.max(own, maxTokensWithTools));
      const call = {
        signal,
        ...prompted.sampling,
        ...(temperature === undefined ? {} : { temperature }),
        ...sampling,
        maxTokens: longest,
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
          throw new EngineError(chatModel.name, 'ENGINE_BAD_REPLY', 'the model said nothing');
        yield { type: 'usage', ...cost, cutShort };
        return;
      }
    },
  };
}

/** The prompt of a reply, by the recipe of the call, else of the actor. */
async function promptFor(
  character: Character,
  history: readonly Message[],
  { signal, recipe, toolbox, scene, feelings, memories, circumstance }: AgentOptions,
  settings: ActorSettings,
): Promise<Prompted> {
  const { historyTokens } = settings;
  const near = await nearLast(history, settings.meaning, signal);
  return recipeFor(character, recipe ?? settings.recipe)(history, {
    hasTools: toolbox !== undefined,
    ...circumstance,
    ...(scene === undefined ? {} : { scene }),
    ...(feelings === undefined ? {} : { feelings }),
    ...(historyTokens === undefined ? {} : { historyTokens }),
    ...(memories === undefined ? {} : { memories }),
    ...(near === undefined ? {} : { near }),
  });
}

function cutShortAt(part: ChatPart): CutShort {
  return part.type === 'chat-end' && part.reason !== 'stop' && part.reason;
}

/** What a part lets the character say and do; anything but text lets out all that was held back. */
function performedIn(part: ChatPart, words: OwnWords, script: Performance): Performed[] {
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
