import type { Character } from '../../characters/character.ts';
import type { AgentOptions, CharacterAgent, Cost, CutShort, ReplyPart } from '../agent.ts';
import type { Message } from '../chat.ts';
import { openClauses } from './clauses.ts';
import { languageOf } from '../retrieval/words.ts';
import { personaWords } from '../prompting/persona-words.ts';
import type { RecipeName } from '../recipe-names.ts';
import { evasion } from '../scripted/moves.ts';
import type { Violation } from '../violation.ts';
import { openGuardrail, type GuardrailCheck } from './guardrail-rules.ts';

type TextPart = Extract<ReplyPart, { readonly type: 'text-delta' }>;

const attempts = 2;

/**
 * Guardrail around an agent: releases a clause only after it was checked. A sentence with a violation is not spoken;
 * the model gets a correction and continues after the spoken part, once. After a second violation one of the card's
 * evasions completes the turn. `recipe` is the agent's own; only the default recipe is guarded, and every character in
 * a scene. Adds no latency beyond the end of a clause, which the synthesizer waits for anyhow.
 */
export function withGuardrail(agent: CharacterAgent, recipe: RecipeName = 'dramatis'): CharacterAgent {
  const { character } = agent;
  return {
    character,
    async *reply(history, options) {
      // Recipes of others are measured as they are, and prompts that a benchmark brings are not ours to guard; scenes
      // are.
      const isOurs = (options.recipe ?? recipe) === 'dramatis' && character.persona !== 'instructions';
      if (!isOurs && options.circumstance === undefined) {
        yield* agent.reply(history, options);
        return;
      }
      const scene: Message[] = options.scene === undefined ? [] : [{ role: 'system', text: options.scene }];
      const guard = openGuardrail(character, [...scene, ...history], options.circumstance?.motivation);
      const talk: Talk = { told: '', cost: { inputTokens: 0, outputTokens: 0 } };
      for (let attempt = 0; attempt < attempts; attempt += 1) {
        const violation = yield* oneAttempt(agent, talk, { history, options, guard, isFirst: attempt === 0 });
        if (violation === undefined) return;
        options.onViolation?.(violation);
        talk.violation = violation;
      }
      const userMessage = history.findLast(({ role }) => role === 'user')?.text ?? '';
      const deflection = evasion(character, history, languageOf(userMessage, character.languages));
      yield { type: 'text-delta', text: gapBehind(talk.told, deflection) + deflection };
      yield { type: 'usage', ...talk.cost, cutShort: false };
    },
  };
}

interface Talk {
  /** Text released so far. */
  told: string;
  cost: Cost;
  violation?: Violation;
}

interface Attempt {
  readonly history: readonly Message[];
  readonly options: AgentOptions;
  readonly guard: GuardrailCheck;
  readonly isFirst: boolean;
}

/** Releases what passes; returns the violation that ended the attempt. */
async function* oneAttempt(
  agent: CharacterAgent,
  talk: Talk,
  { history, options, guard, isFirst }: Attempt,
): AsyncGenerator<ReplyPart, Violation | undefined> {
  const clauses = openClauses<TextPart>(guard);
  const goesOn = behind(talk.told);
  const before = talk.cost;
  // Actions that a game offers may be done, also at the user's very words.
  const isOffered = options.surroundings?.(agent.character.id).isAction;
  const isShown = (text: string): boolean => isOffered?.(text) === true || mayBeShown(guard(text));
  const onCost = (cost: Cost): void => {
    talk.cost = cost;
    options.onCost?.(sum(before, cost));
  };
  // The correction knows the words that were heard before.
  const { heard: _heard, ...again } = options;
  for await (const part of agent.reply(
    isFirst ? history : [...history, ...correctionOf(agent.character, talk.violation, talk.told)],
    { ...(isFirst ? options : again), onCost },
  )) {
    if (part.type === 'reply-source') {
      if (isFirst) yield part;
      continue;
    }
    const passed =
      part.type === 'text-delta' ? sentencesOf(part).flatMap((sentence) => clauses.add(sentence)) : clauses.rest();
    for (const text of passed.flatMap(goesOn)) {
      talk.told += text.text;
      yield text;
    }
    if (clauses.violation !== undefined) {
      talk.cost = sum(before, talk.cost);
      return clauses.violation;
    }
    if (part.type === 'usage') yield { ...part, ...sum(before, part) };
    else if (part.type === 'tool-call' || (part.type === 'cue' && isShown(part.text))) yield part;
  }
  return undefined;
}

/** Splits a delta into sentences, to check each by itself. */
function sentencesOf(part: TextPart): TextPart[] {
  const [first = '', ...others] = part.text.split(
    /(?<=[.!?]["”’)]{0,8})(?=\s)|(?<=[。！？]["”’」』）]{0,8})(?=[^"”’」』）])|(?<=\n)/u,
  );
  return [{ ...part, text: first }, ...others.map((text): TextPart => ({ type: 'text-delta', text }))];
}

/** Drops text that repeats what was already said: models asked to continue tend to start over. */
function behind(told: string): (part: TextPart) => TextPart[] {
  let left = bare(told);
  let isFirst = true;
  return (part) => {
    const text = bare(part.text);
    if (left !== '' && left.startsWith(text)) {
      left = left.slice(text.length);
      return [];
    }
    left = '';
    const gap = isFirst ? gapBehind(told, part.text) : '';
    isFirst = false;
    return [gap === '' ? part : { ...part, text: gap + part.text }];
  };
}

/** Separator between what was said and what comes next. */
function gapBehind(told: string, next: string): string {
  return /^$|[\s。！？，]$/u.test(told) || /^\s/u.test(next) ? '' : ' ';
}

function bare(text: string): string {
  return text.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, '');
}

/** An action is not one of the character's sentences, so violations of style and language do not apply. */
function mayBeShown(violation: Violation | undefined): boolean {
  return violation === undefined || violation === 'style' || violation === 'language';
}

/** Messages for a second attempt: what was said so far, and the instruction for the rest. */
export function correctionOf(
  character: Pick<Character, 'languages'>,
  violation: Violation | undefined,
  told: string,
): { readonly role: 'assistant' | 'system'; readonly text: string }[] {
  const { isChinese, violations: corrections, goOn, answerAgain } = personaWords(character);
  const isBegun = told.trim() !== '';
  const said = [violation === undefined ? '' : corrections[violation], isBegun ? goOn : answerAgain];
  const text = said.filter(Boolean).join(isChinese ? '' : ' ');
  return [...(isBegun ? [{ role: 'assistant', text: told } as const] : []), { role: 'system', text }];
}

function sum(left: Cost, right: Cost & { readonly cutShort?: CutShort }): Cost {
  return {
    inputTokens: left.inputTokens + right.inputTokens,
    outputTokens: left.outputTokens + right.outputTokens,
  };
}
