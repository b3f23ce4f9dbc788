import type { Character } from '../../characters/character.ts';
import type { DialoguePair } from '../../characters/card.ts';
import type { Message } from '../chat.ts';
import { feelingsInWords } from '../scene/feel.ts';
import type { Feelings } from '../feelings.ts';
import { languageOf } from '../retrieval/words.ts';
import { notesTag, personaWords, type PersonaWords } from './persona-words.ts';
import { asExample, personaOf, withoutForgery } from './persona.ts';
import { atLastUserMessage, directionsIn, talkWindow, usualHistoryTokens } from './talk-window.ts';

/** Contents of a prompt besides the character and the conversation. */
export interface PromptSettings {
  /** Set by the application. Comes after the persona and never overrides it. */
  readonly scene?: string;
  /** BCP 47 tag of the language to answer in; the user's if absent. */
  readonly language?: string;
  /** Lore entries triggered by the conversation (`lorebookOf`). */
  readonly recalled?: readonly string[];
  /** Memories of the user, one line each. */
  readonly memories?: readonly string[];
  /** Exchanges of the pack that resemble the last user message. */
  readonly examples?: readonly DialoguePair[];
  /** Limit of the conversation sent, in estimated tokens; the oldest messages are dropped first. */
  readonly historyTokens?: number;
  /** The character's current feelings. */
  readonly feelings?: Feelings;
  /** True if the model is offered tools. */
  readonly hasTools?: boolean;
}

/**
 * Builds the messages for a chat model: one system message (persona, then scene), the conversation, and the director's
 * notes for this turn before the last user message. What changes from turn to turn comes last, so that servers can
 * reuse their prefix cache. There is one system message and strict alternation, because many chat templates refuse
 * anything else. Tool calls and their outputs are at the place where they were made, after the message that led to them.
 */
export function buildPrompt(
  character: Character,
  history: readonly Message[],
  settings: PromptSettings = {},
): readonly Message[] {
  const { historyTokens = usualHistoryTokens, scene = '', hasTools = false } = settings;
  const { before, userMessage, after } = atLastUserMessage(talkWindow(history, historyTokens));
  const given = [scene, ...directionsIn(history)].filter((text) => text.trim() !== '');
  const isVerbatim = character.persona === 'instructions' && given.length > 0;
  const words = personaWords(character);
  const tools = hasTools ? words.functions : '';
  const system = isVerbatim ? [given.join('\n'), tools] : [personaOf(character), tools, sceneOf(given, words)];
  const isLong = before.length >= longTalk;
  return [
    { role: 'system', text: system.filter(Boolean).join('\n\n') },
    // Many chat templates require the user to begin.
    ...(before[0]?.role === 'assistant' ? [{ role: 'user' as const, text: note(words.notes.comesIn) }] : []),
    ...before,
    {
      role: 'user',
      text: [
        isVerbatim ? '' : notesFor(settings, words, isLong ? character.name : ''),
        userMessage ?? note(words.notes.silent),
      ]
        .filter(Boolean)
        .join('\n\n'),
    },
    ...after,
  ];
}

/** The application's scene as a prompt section, with a heading in its language unless `words` is given. */
export function sceneOf(texts: readonly string[], words?: PersonaWords): string {
  const scene = texts.filter((text) => text.trim() !== '').join('\n');
  const { headings, sceneOnly } = words ?? personaWords({ languages: [languageOf(scene, ['en', 'zh'])] });
  return scene === '' ? '' : `# ${headings.scene}\n${sceneOnly}\n${withoutForgery(scene)}`;
}

/** Number of messages from which on small models drift from the persona and are reminded. */
const longTalk = 12;

function notesFor(settings: PromptSettings, words: PersonaWords, nameInLongTalk: string): string {
  const { examples = [], language } = settings;
  const { notes } = words;
  const lines = [
    language === undefined ? '' : notes.answerIn(language),
    rememberedIn(settings.memories, notes.remember),
    settings.feelings === undefined ? '' : feelingsInWords(settings.feelings, words.isChinese),
    ...(settings.recalled ?? []).map(notes.recall),
    examples.length === 0 ? '' : `${notes.examples}\n${examples.map((pair) => asExample(pair, words)).join('\n')}`,
    nameInLongTalk === '' ? '' : notes.stay(nameInLongTalk),
  ].filter((text) => text !== '');
  return lines.length === 0 ? '' : note(lines.join('\n'));
}

/** Memories contain the user's words, which must not act as instructions. */
function rememberedIn(memories: readonly string[] | undefined, heading: string): string {
  if (memories === undefined || memories.length === 0) return '';
  return [heading, ...memories.map((memory) => `- ${memory.replaceAll(/\s+/g, ' ')}`)].join('\n');
}

function note(text: string): string {
  return `<${notesTag}>\n${withoutForgery(text)}\n</${notesTag}>`;
}
