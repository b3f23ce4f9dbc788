import type { AgentOptions, CharacterAgent } from '../../agents/agent.ts';
import type { Message } from '../../agents/chat.ts';
import { performanceScript } from '../../agents/output/performance.ts';
import type { Character } from '../../characters/character.ts';

/**
 * A scripted line with tool calls. The calls are made only if tools are offered. Set `callId` only if the test checks
 * it.
 */
export interface CallingLine {
  readonly text?: string;
  readonly calls: readonly { readonly callId?: string; readonly name: string; readonly arguments: string }[];
}

/** A scripted line that was cut short by the token limit or by a content filter. */
export interface CutLine {
  readonly text: string;
  readonly cutShort: 'length' | 'filter';
}

/** A scripted line that stands in for an LLM that failed with this code. */
export interface StandInLine {
  readonly text: string;
  readonly because: string;
}

const mostRecorded = 100;

/**
 * Answers with the lines of the script in turn; they may contain emotion tags. An `Error` in the script is thrown.
 * `histories`, `situations` and `asked` record the arguments of the first hundred replies: in a load test they would
 * keep every conversation that the server has dropped.
 */
export function fakeAgent(script: readonly (string | CallingLine | CutLine | StandInLine | Error)[]): CharacterAgent & {
  readonly histories: (readonly Message[])[];
  readonly situations: (string | undefined)[];
  readonly asked: AgentOptions[];
} {
  let next = 0;
  let calls = 0;
  const asked: AgentOptions[] = [];
  const histories: (readonly Message[])[] = [];
  const situations: (string | undefined)[] = [];
  return {
    character: { id: 'fake' } as Character,
    histories,
    situations,
    asked,
    async *reply(history, options) {
      if (asked.length < mostRecorded) {
        histories.push(history);
        situations.push(options.situation);
        asked.push(options);
      }
      const line = script[next % script.length] ?? '';
      next += 1;
      yield { type: 'reply-source', name: 'fake-mind', ...becauseOf(line) };
      const text = typeof line === 'string' ? line : 'text' in line ? (line.text ?? '') : '';
      const performance = performanceScript('spoken', actionsIn(options));
      for (const [index, delta] of (text === '' ? [] : text.split(/(?<=\s)/u)).entries()) {
        options.signal.throwIfAborted();
        options.onCost?.({ inputTokens: 3, outputTokens: index + 1 });
        for (const part of performance.add(delta)) yield part.type === 'cue' ? part : { ...part, type: 'text-delta' };
      }
      for (const part of performance.rest()) yield part.type === 'cue' ? part : { ...part, type: 'text-delta' };
      if (line instanceof Error) throw line;
      for (const call of typeof line === 'object' && 'calls' in line && options.toolbox ? line.calls : []) {
        yield { type: 'tool-call', callId: `call_${(calls += 1)}`, ...call };
      }
      const cutShort = typeof line === 'object' && 'cutShort' in line ? line.cutShort : false;
      yield { type: 'usage', inputTokens: 3, outputTokens: 5, cutShort };
    },
  };
}

function actionsIn({ surroundings }: AgentOptions): ((inside: string) => boolean) | undefined {
  return surroundings?.('fake').isAction;
}

function becauseOf(line: string | object): { because?: string } {
  return typeof line === 'object' && 'because' in line ? { because: String(line.because) } : {};
}
