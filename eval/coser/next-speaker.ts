import { endMark, plain, speakerNamed } from '../../agents/scene/next-speaker.ts';
import type { Judge } from '../judge/judge.ts';
import type { EvalContext } from '../task.ts';
import type { Circumstance } from './circumstances.ts';
import { environment, named, perceived, type SceneMessage } from './messages.ts';
import { add, askWith, start, type Turn } from './turns.ts';

/** A choice of the next speaker. */
export interface Choice {
  /** The model's answer. */
  readonly answer: string;
  /** Speaker, or `<END CHAT>`. */
  readonly next: string;
  /** False if the answer could not be followed, so that chance chose. */
  readonly isValid: boolean;
}

interface ChooserParts {
  readonly model: Judge;
  readonly random: () => number;
  readonly system: string;
  readonly isStrict: boolean;
}

/** Asks a model for the next speaker, and draws one if the answer names no possible one. */
export class Chooser {
  readonly #circumstance: Circumstance;
  readonly #parts: ChooserParts;
  readonly #history: Turn[] = [{ role: 'user', parts: [start] }];
  readonly choices: Choice[] = [];

  constructor(circumstance: Circumstance, parts: ChooserParts) {
    this.#circumstance = circumstance;
    this.#parts = parts;
  }

  hear(message: SceneMessage): void {
    add(this.#history, 'user', named(perceived(message)));
  }

  /** Records a choice that the original makes. */
  follow(name: string): void {
    add(this.#history, 'assistant', name);
  }

  async next(
    current: string,
    { canEnd, context }: { readonly canEnd: boolean; readonly context: EvalContext },
  ): Promise<string> {
    const { model, system, isStrict } = this.#parts;
    const { speakers } = this.#circumstance;
    const { text: answer } = await askWith(model, { system, turns: this.#history }, context);
    const chosen = isStrict ? strictSpeaker(answer) : tolerantSpeaker(answer, speakers);
    const isEnd = chosen === endMark && canEnd;
    const isValid = isEnd || (chosen !== current && speakers.includes(chosen));
    const next = isValid ? chosen : this.#byChance(current);
    this.choices.push({ answer, next, isValid });
    add(this.#history, 'assistant', isValid ? answer : chosen || 'random');
    if (!isValid) add(this.#history, 'user', system);
    return next;
  }

  #byChance(current: string): string {
    const { majors, speakers } = this.#circumstance;
    const others = (names: readonly string[]): string[] =>
      [...new Set(names)].filter((name) => name !== current).toSorted();
    const known = others([...majors.filter((name) => speakers.includes(name)), environment]);
    const candidates = known.length > 0 ? known : others(speakers);
    return candidates[Math.floor(this.#parts.random() * candidates.length)] ?? current;
  }
}

const label = /(?:\*\*|#)?\s*Next\s+Speaker\s*(?:\*\*|#)?\s*(?:[:-]|\bis\b)?\s*\*?([^\n*]+)/gi;

/** The name in an answer as the released code finds it, failures included. */
export function strictSpeaker(answer: string): string {
  const last = [...answer.matchAll(label)].at(-1)?.[1] ?? '';
  const name = last
    .trim()
    .replace(/[.,!"']+$/, '')
    .replaceAll('*', '');
  if (name !== '') return name;
  return answer.includes(':') ? (answer.split(':')[0] ?? '').trim() : answer;
}

/** The name in an answer, of those that are known; empty if it names none or asks for a random one. */
export function tolerantSpeaker(answer: string, names: readonly string[]): string {
  if (/(?:^|next speaker )random$/.test(plain(answer))) return '';
  const found = speakerNamed(answer, names);
  return found === 'end' ? endMark : (found ?? '');
}
