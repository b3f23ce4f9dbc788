import { randomBytes } from 'node:crypto';
import type OpenAI from 'openai';
import type { Message } from '../chat.ts';
import type { Toolbox, ToolCall } from '../tools.ts';

type Body = OpenAI.ChatCompletionCreateParamsStreaming;

/** Assembles tool calls from the pieces of a stream; `calls` returns the complete ones. */
export interface CallCollector {
  /** Adds the `tool_calls` of one delta. True if there were any. */
  add(pieces: unknown): boolean;
  calls(): ToolCall[];
}

interface OpenCall {
  callId: string;
  name: string;
  arguments: string;
}

/**
 * Collects streamed tool calls. Servers split them differently: OpenAI and vLLM send arguments in pieces that share an
 * `index`; Ollama and Gemini send each call whole, some all under index 0, some without ids. So a new index or a new id
 * opens a new call. Calls of functions that were not offered, or whose arguments are not a JSON object, are ignored.
 */
export function callCollector(toolbox: Toolbox | undefined): CallCollector {
  const open = new Map<number, OpenCall>();
  const all: OpenCall[] = [];
  return {
    add(pieces) {
      if (!Array.isArray(pieces)) return false;
      for (const [place, piece] of pieces.entries()) {
        const { index, id, name, text } = readPiece(piece, place);
        let call = open.get(index);
        if (call === undefined || (id !== '' && call.callId !== '' && call.callId !== id)) {
          call = { callId: '', name: '', arguments: '' };
          open.set(index, call);
          all.push(call);
        }
        call.callId ||= id;
        call.name ||= name;
        call.arguments += text;
      }
      return pieces.length > 0;
    },
    calls() {
      const offered = new Set(toolbox?.tools.map((tool) => tool.name));
      return all.flatMap((call) => {
        const text = call.arguments.trim() === '' ? '{}' : call.arguments;
        if (!offered.has(call.name) || !isJsonObject(text)) return [];
        return [
          { callId: call.callId || `call_${randomBytes(12).toString('base64url')}`, name: call.name, arguments: text },
        ];
      });
    },
  };
}

/** Request fields that offer tools; none if the model must not call any, since not all servers know `none`. */
export function toolFields(toolbox: Toolbox | undefined): Partial<Body> {
  if (toolbox === undefined || toolbox.tools.length === 0 || toolbox.choice === 'none') return {};
  const { choice } = toolbox;
  return {
    tools: toolbox.tools.map((tool) => ({ type: 'function', function: { ...tool } })),
    ...(choice === 'auto'
      ? {}
      : { tool_choice: typeof choice === 'string' ? choice : { type: 'function', function: choice } }),
    ...(toolbox.parallel ? {} : { parallel_tool_calls: false }),
  };
}

/** Converts a message to the chat completions API. */
export function wireMessage(message: Message): OpenAI.ChatCompletionMessageParam {
  if (message.role === 'tool') return { role: 'tool', tool_call_id: message.callId, content: message.text };
  if (message.role !== 'assistant' || message.calls === undefined) {
    return { role: message.role, content: message.text };
  }
  return {
    role: 'assistant',
    content: message.text === '' ? null : message.text,
    tool_calls: message.calls.map(({ callId, name, arguments: text }) => ({
      id: callId,
      type: 'function',
      function: { name, arguments: text },
    })),
  };
}

function readPiece(piece: unknown, place: number): { index: number; id: string; name: string; text: string } {
  const { index, id, function: called } = (piece ?? {}) as Record<string, unknown>;
  const { name, arguments: text } = (called ?? {}) as Record<string, unknown>;
  return {
    index: typeof index === 'number' ? index : place,
    id: typeof id === 'string' ? id : '',
    name: typeof name === 'string' ? name : '',
    text: typeof text === 'string' ? text : text === undefined || text === null ? '' : JSON.stringify(text),
  };
}

function isJsonObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}
