import { describe, expect, it } from 'vitest';
import type { ChatPart } from '../../../agents/chat.ts';
import { openOpenaiChat } from '../../../agents/chats/openai-chat.ts';
import type { Toolbox } from '../../../agents/tools.ts';
import { openChatServer, sends } from '../../fakes/servers/chat-server.ts';

/**
 * Streams with the fields that real servers were publicly recorded to send; ids and words are ours. Nothing is
 * copied from the recordings, so their licences do not apply.
 */
interface Recorded {
  /** The server, and the place of the recording. */
  readonly from: string;
  readonly events: readonly object[];
  readonly says?: string;
  readonly calls?: readonly { readonly name: string; readonly arguments: string }[];
  readonly tokens: readonly [input: number, output: number];
}

const openai = { id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'm', service_tier: 'default' };
const details = { cached_tokens: 0, audio_tokens: 0 };
const chunk = (delta: object, finish: string | null = null): object => ({
  ...openai,
  system_fingerprint: 'fp_1',
  choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
  usage: null,
  obfuscation: 'x7Q',
});
const call = (fields: object): object => ({ tool_calls: [{ index: 0, ...fields }] });
const usage = (input: number, output: number): object => ({
  ...openai,
  choices: [],
  usage: {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: details,
    completion_tokens_details: { ...details, reasoning_tokens: 0 },
  },
  obfuscation: 'aB',
});
const bare = { id: 'c2', object: 'chat.completion.chunk', created: 1, model: 'm' };

const recorded: readonly Recorded[] = [
  {
    from: 'OpenAI, gpt-4o-mini, 2026 (pydantic-ai, tests/models/cassettes/test_openai, test_run_stream_sync_streams_real_model)',
    events: [
      chunk({ role: 'assistant', content: '', refusal: null }),
      chunk({ content: 'Good' }),
      chunk({ content: ' evening' }),
      chunk({ content: '.' }),
      chunk({}, 'stop'),
      usage(78, 9),
    ],
    says: 'Good evening.',
    tokens: [78, 9],
  },
  {
    from: 'OpenAI calling a function (the same)',
    events: [
      chunk({
        role: 'assistant',
        content: null,
        ...call({ id: 'call_1', type: 'function', function: { name: 'look', arguments: '' } }),
        refusal: null,
      }),
      chunk(call({ function: { arguments: '{"' } })),
      chunk(call({ function: { arguments: 'at' } })),
      chunk(call({ function: { arguments: '":"' } })),
      chunk(call({ function: { arguments: 'sea"}' } })),
      chunk({}, 'tool_calls'),
      usage(53, 15),
    ],
    calls: [{ name: 'look', arguments: '{"at":"sea"}' }],
    tokens: [53, 15],
  },
  {
    from: 'Ollama, which says the role in every chunk (ollama#7626)',
    events: [
      ...['Good', ' evening', '.'].map((content) => ({
        ...bare,
        system_fingerprint: 'fp_ollama',
        choices: [{ index: 0, delta: { role: 'assistant', content }, finish_reason: null }],
      })),
      {
        ...bare,
        system_fingerprint: 'fp_ollama',
        choices: [{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: 'stop' }],
      },
      { ...bare, choices: [], usage: { prompt_tokens: 12, completion_tokens: 4, total_tokens: 16 } },
    ],
    says: 'Good evening.',
    tokens: [12, 4],
  },
  {
    from: 'vLLM 0.9.0, which leaves out "finish_reason" and sends empty "tool_calls" (its issue on the first of these)',
    events: [
      {
        ...bare,
        choices: [{ index: 0, delta: { role: 'assistant', content: '' }, logprobs: null, finish_reason: null }],
      },
      ...['Good', ' evening', '.'].map((content) => ({
        ...bare,
        choices: [{ index: 0, delta: { content, tool_calls: [] } }],
      })),
      {
        ...bare,
        choices: [{ index: 0, delta: { content: '', tool_calls: [] }, finish_reason: 'stop', stop_reason: null }],
      },
      { ...bare, choices: [], usage: { prompt_tokens: 20, completion_tokens: 5, total_tokens: 25 } },
    ],
    says: 'Good evening.',
    tokens: [20, 5],
  },
];

const toolbox: Toolbox = {
  tools: [{ name: 'look', parameters: { type: 'object', properties: { at: { type: 'string' } } } }],
  choice: 'auto',
  parallel: false,
};

describe('recorded server replies', () => {
  it.each(recorded)(
    'a recorded stream is parsed as its server meant it: $from',
    async ({ events, says = '', calls = [], tokens }) => {
      const body = [...events.map((event) => `data: ${JSON.stringify(event)}\n\n`), 'data: [DONE]\n\n'].join('');
      await using server = await openChatServer(sends('text/event-stream; charset=utf-8', body));
      const model = openOpenaiChat({ baseUrl: server.baseUrl, model: 'm' });
      const { signal } = new AbortController();
      const parts: ChatPart[] = await Array.fromAsync(
        model.chat([{ role: 'user', text: 'Good evening.' }], { signal, toolbox }),
      );
      expect(parts.map((part) => (part.type === 'text-delta' ? part.text : '')).join('')).toBe(says);
      expect(parts.filter(({ type }) => type === 'tool-call')).toMatchObject(calls);
      expect(parts.at(-1)).toMatchObject({ type: 'chat-end', inputTokens: tokens[0], outputTokens: tokens[1] });
      expect(server.requests).toHaveLength(1);
    },
  );
});
