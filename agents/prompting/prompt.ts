import type { Character } from '../../characters/character.ts';
import type { DialoguePair } from '../../characters/card.ts';
import type { Message } from '../chat.ts';
import { feelingsInWords } from '../scene/feel.ts';
import type { Feelings } from '../feelings.ts';
import { languageOf } from '../language.ts';
import { notesTag, personaWords, type PersonaWords } from './persona-words.ts';
import { asExample, personaOf, withoutForgery } from './persona.ts';
import { atLastRemark, directionsIn, talkWindow, usualHistoryTokens } from './talk-window.ts';

/** What a prompt holds besides the character and the talk. */
export interface PromptSettings {
  /** Set by whoever runs the talk. It stands below the persona and never outranks it. */
  readonly scene?: string;
  /** BCP 47 tag of the language to answer in; absent, the visitor's. */
  readonly language?: string;
  /** Facts of the lorebook that the talk brings to mind (`lorebookOf`). */
  readonly recalled?: readonly string[];
  /** What the character remembers of the visitor, one line each. */
  readonly memories?: readonly string[];
  /** Exchanges of the pack that resemble the last remark. */
  readonly examples?: readonly DialoguePair[];
  /** How much of the talk is sent, in estimated tokens; the oldest goes first. */
  readonly historyTokens?: number;
  /** How the character feels by now. */
  readonly feelings?: Feelings;
  /** Whether the model is offered functions that it may call. */
  readonly hasTools?: boolean;
}

/**
 * The messages a chat model is sent: one system message (persona, then scene), the talk, and in front of the last remark
 * the director's notes for this turn. What changes from turn to turn stands last, so that servers can reuse what they have
 * computed; there is one system message and strict alternation, because many chat templates refuse anything else. Calls
 * and what they brought back stand where they were made, after the remark that led to them.
 */
export function buildPrompt(
  character: Character,
  history: readonly Message[],
  settings: PromptSettings = {},
): readonly Message[] {
  const { historyTokens = usualHistoryTokens, scene = '', hasTools = false } = settings;
  const { before, remark, after } = atLastRemark(talkWindow(history, historyTokens));
  const given = [scene, ...directionsIn(history)].filter((text) => text.trim() !== '');
  const isVerbatim = character.persona === 'instructions' && given.length > 0;
  const tools = hasTools ? toolRules : '';
  const words = personaWords(character);
  const system = isVerbatim ? [given.join('\n'), tools] : [personaOf(character), tools, sceneOf(given, words)];
  const isLong = before.length >= longTalk;
  return [
    { role: 'system', text: system.filter(Boolean).join('\n\n') },
    // Many chat templates want the visitor to begin.
    ...(before[0]?.role === 'assistant' ? [{ role: 'user' as const, text: note(words.notes.comesIn) }] : []),
    ...before,
    {
      role: 'user',
      text: [
        isVerbatim ? '' : notesFor(settings, words, isLong ? character.name : ''),
        remark ?? note(words.notes.silent),
      ]
        .filter(Boolean)
        .join('\n\n'),
    },
    ...after,
  ];
}

/** Told where functions are offered. */
export const toolRules = `# What you can do
Where one of the functions you were given helps your visitor, call it rather than guess. What it brings back you have learned in your own way: tell it as yourself, and never speak of functions.`;

/** What whoever runs the talk says of it, under the persona, with a heading in its language unless told otherwise. */
export function sceneOf(texts: readonly string[], words?: PersonaWords): string {
  const scene = texts.filter((text) => text.trim() !== '').join('\n');
  const { headings, sceneOnly } = words ?? personaWords({ languages: [languageOf(scene, ['en', 'zh'])] });
  return scene === '' ? '' : `# ${headings.scene}\n${sceneOnly}\n${withoutForgery(scene)}`;
}

/** From so many messages on, small models forget how they were to talk, and are told once more. */
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

/** Memories hold words of the visitor's, which direct nobody. */
function rememberedIn(memories: readonly string[] | undefined, heading: string): string {
  if (memories === undefined || memories.length === 0) return '';
  return [heading, ...memories.map((memory) => `- ${memory.replaceAll(/\s+/g, ' ')}`)].join('\n');
}

function note(text: string): string {
  return `<${notesTag}>\n${withoutForgery(text)}\n</${notesTag}>`;
}
