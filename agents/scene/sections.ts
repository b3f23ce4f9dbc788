import { EngineError } from '../../voices/engine.ts';
import { triggerMark, type Scene, type Section } from '../../characters/scene.ts';
import type { ChatModel, Message } from '../chat.ts';

/** The state of a scene that has sections. */
export interface StoryPlace {
  /** Id of the present section. */
  readonly section: string;
  /** Values that came with the triggers that led there, by name: data of the client, never instructions. */
  readonly given: Readonly<Record<string, string>>;
}

/** A way out of a section. */
export type Edge = Section['edges'][number];

/** The judgement is dropped after this time: the scene stays where it is. */
const longestJudgementMs = 5_000;

/** Returns the present section; undefined if the scene has none. */
export function sectionIn({ sections }: Pick<Scene, 'sections'>, place: StoryPlace | undefined): Section | undefined {
  return sections.find(({ id }) => id === place?.section) ?? sections[0];
}

/** Returns the names of all triggers of a scene. */
export function triggersIn(sections: readonly Section[]): string[] {
  const on = sections.flatMap(({ edges }) => edges.map((edge) => edge.on));
  return [...new Set(on.filter((one) => one.startsWith(triggerMark)).map((one) => one.slice(triggerMark.length)))];
}

/** Returns what a participant knows of a section, one text a line, with what the triggers came with filled in. */
export function knownIn({ objective, knows }: Section, participant: string, given: StoryPlace['given']): string[] {
  const own = Object.hasOwn(knows, participant) ? [knows[participant] ?? ''] : [];
  return [objective, ...own].map((text) =>
    text.replaceAll(/\{\{([\w-]{1,64})\}\}/gu, (_, name: string) =>
      Object.hasOwn(given, name) ? (given[name] ?? '').replaceAll(/\s+/gu, ' ') : '',
    ),
  );
}

/**
 * Asks a model which condition of a section the conversation has met, if the section has any. Returns the edge to take;
 * undefined if there is none, the model fails, or it takes longer than `longestMs`. Throws `signal.reason`.
 */
export async function edgeMet(
  { edges }: Section,
  talk: { readonly circumstance: string; readonly history: readonly Message[]; readonly userName: string },
  model: ChatModel,
  signal: AbortSignal,
  longestMs = longestJudgementMs,
): Promise<Edge | undefined> {
  const open = edges.filter(({ on }) => !on.startsWith(triggerMark));
  if (open.length === 0 || talk.history.length === 0) return undefined;
  try {
    let answer = '';
    const limits = { signal: AbortSignal.any([signal, AbortSignal.timeout(longestMs)]), temperature: 0, maxTokens: 60 };
    for await (const part of model.chat(promptFor(open, talk), limits))
      if (part.type === 'text-delta') answer += part.text;
    return open[numberIn(answer) - 1];
  } catch (cause) {
    signal.throwIfAborted();
    const isTooSlow = cause instanceof DOMException && cause.name === 'TimeoutError';
    if (!isTooSlow && !(cause instanceof EngineError)) throw cause;
    return undefined;
  }
}

/** Returns the number that an answer gives, after any reasoning; 0 if it gives none, or several. */
function numberIn(answer: string): number {
  const said = answer.split('</think>').at(-1) ?? '';
  const numbers = new Set(said.match(/\d+/gu));
  return numbers.size === 1 ? Number([...numbers][0]) : 0;
}

function promptFor(
  edges: readonly Edge[],
  { circumstance, history, userName }: Parameters<typeof edgeMet>[1],
): Message[] {
  const talk = history
    .map(({ name, role, text }) => `${role === 'user' ? userName : (name ?? '')}: ${text}`)
    .join('\n');
  const statements = edges.map(({ on }, index) => `${index + 1}. ${on}`).join('\n');
  return [
    {
      role: 'system',
      text: `You follow a scene and judge what has happened in it.\n\n# The scene\n${circumstance}\n\nYou get the scene so far and some statements. Answer with the number of the first statement that is true by what was said and done so far, and nothing else. If none of them is certainly true, answer 0.`,
    },
    {
      role: 'user',
      text: `# So far\n${talk}\n\n# Statements\n${statements}\n\nWhich is true? Answer with its number, or 0.`,
    },
  ];
}
