import type { Tool, Toolbox, ToolChoice } from '../../agents/tools.ts';
import type { WireTool, WireToolChoice } from '../protocol/client-events.ts';

export interface WireTools {
  readonly tools: readonly WireTool[];
  readonly tool_choice: WireToolChoice;
  readonly parallel_tool_calls: boolean;
}

type WantedTools = { readonly [Name in keyof WireTools]?: WireTools[Name] | null | undefined };

/** Merges the client's settings; null means none, and also the default. */
export function mergeTools(before: WireTools, wanted: WantedTools): WireTools {
  const { tools, tool_choice: choice, parallel_tool_calls: parallel } = wanted;
  return {
    tools: tools === undefined ? before.tools : (tools ?? []).map(withoutKeys),
    tool_choice: choice === undefined ? before.tool_choice : (choice ?? 'auto'),
    parallel_tool_calls: parallel === undefined ? before.parallel_tool_calls : (parallel ?? true),
  };
}

/** Returns true if a response sets tools of its own. */
export function asksForTools({ tools, tool_choice: choice, parallel_tool_calls: parallel }: WantedTools): boolean {
  return tools != null || choice != null || parallel != null;
}

/** Returns the functions, which the LLM may call. Tools of other kinds (MCP) are only kept for the client. */
export function toolboxOf(wire: WireTools): Toolbox {
  const tools = wire.tools.flatMap((tool): Tool[] => {
    if (tool.type !== 'function' || tool.name === undefined) return [];
    const { name, description, parameters } = tool;
    return [{ name, ...(description ? { description } : {}), ...(parameters ? { parameters } : {}) }];
  });
  return { tools, choice: choiceOf(wire.tool_choice, tools), parallel: wire.parallel_tool_calls };
}

/** Converts the tool choice; one that is not possible, such as of an MCP tool, leaves it to the LLM. */
function choiceOf(wanted: WireToolChoice, tools: readonly Tool[]): ToolChoice {
  if (typeof wanted === 'string') return wanted;
  const tool = wanted.type === 'function' ? tools.find(({ name }) => name === wanted.name) : undefined;
  return tool === undefined ? 'auto' : { name: tool.name };
}

/** The server calls no MCP server, so the keys for it are not kept. */
function withoutKeys(tool: WireTool): WireTool {
  const { authorization: _authorization, headers: _headers, ...rest } = tool;
  return rest;
}
