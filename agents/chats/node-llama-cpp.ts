import { availableParallelism } from 'node:os';
import { z } from 'zod';
import type { Adapter } from '../../voices/calls/context.ts';
import { streamWithTimeouts } from '../../voices/calls/process-call.ts';
import { openProcess } from '../../voices/runtime/process.ts';
import { weightsSchema } from '../../voices/models/weights.ts';
import type { CallOptions } from '../../voices/engine.ts';
import type { ChatEnd, ChatModel, ChatPart, Message, Sampling } from '../chat.ts';
import type { Toolbox, ToolCall } from '../tools.ts';
import { spokenText } from './spoken-text.ts';
import { callCollector } from './tool-calls.ts';
import { withCallPolicy } from './with-policy.ts';

const settings = z.strictObject({
  /** GGUF file of a chat model; the chat template in it is used. */
  model: weightsSchema.refine(
    ({ path }) => !/-\d{5}-of-\d{5}\.gguf$/i.test(path),
    'only one part of a split model, and the other parts would not be verified: merge them with `llama-gguf-split --merge`',
  ),
  /** Context size of one conversation in tokens: prompt, history and reply. */
  contextSize: z.number().int().min(256).max(1_048_576).default(8_192),
  /** Concurrent conversations. Each has its own context in memory, kept until another conversation needs it. */
  talks: z.number().int().min(1).max(64).default(2),
  /** CPU threads; half of the cores by default, since recognizer and synthesizer need some too. */
  threads: z.number().int().min(1).max(256).optional(),
  /** `auto`: any backend of the installed package. */
  gpu: z.enum(['auto', 'off']).default('auto'),
  /** Default limit of a reply in tokens. */
  maxTokens: z.number().int().min(1).max(32_768).default(512),
});

export type LlamaSettings = z.infer<typeof settings>;

/** Start data of the worker process. */
export interface LlamaData {
  readonly name: string;
  readonly settings: LlamaSettings & { readonly threads: number };
}

export type LlamaRequest =
  | { readonly kind: 'load' }
  | {
      readonly kind: 'chat';
      readonly messages: readonly Message[];
      readonly sampling: Sampling;
      readonly maxTokens: number;
      readonly toolbox?: Toolbox | undefined;
    };

export type LlamaReply =
  /** Name of the model's chat template. */
  | { readonly type: 'loaded'; readonly template: string }
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'call'; readonly call: ToolCall }
  | {
      readonly type: 'end';
      readonly reason: ChatEnd;
      readonly inputTokens: number;
      /** Input tokens that had to be evaluated: the others were cached from the turn before. */
      readonly readTokens: number;
      readonly outputTokens: number;
    };

/** Runs GGUF chat models in a separate process with llama.cpp. */
export const adapter: Adapter<ChatModel, LlamaSettings> = {
  settings,
  callPolicy: ({ talks }) => ({ concurrency: talks, retries: 0, timeouts: { queueMs: 20_000, firstByteMs: 60_000 } }),
  open(chosen, context) {
    const { name, calls } = context;
    const threads = chosen.threads ?? Math.max(1, Math.floor(availableParallelism() / 2));
    const llama = openProcess<LlamaRequest, LlamaReply>({
      name,
      url: new URL('./node-llama-cpp-worker.ts', import.meta.url),
      data: { name, settings: { ...chosen, threads } } satisfies LlamaData,
    });
    const model: ChatModel = {
      name,
      async *chat(messages, options) {
        const { signal, toolbox, maxTokens = chosen.maxTokens, temperature, topP, seed, stop } = options;
        const sampling = {
          ...(temperature === undefined ? {} : { temperature }),
          ...(topP === undefined ? {} : { topP }),
          ...(seed === undefined ? {} : { seed }),
          ...(stop === undefined ? {} : { stop }),
        };
        const request: LlamaRequest = { kind: 'chat', messages, sampling, maxTokens, toolbox };
        const replies = streamWithTimeouts(llama, { load: { kind: 'load' }, request }, { ...context, signal });
        yield* partsOf(replies, toolbox);
      },
    };
    const load = (options: CallOptions): Promise<LlamaReply> => llama.once({ kind: 'load' }, options);
    return {
      ...withCallPolicy(model, calls),
      warm: async (options) => void (await load(options)),
      async check(options) {
        const loaded = await load(options);
        const template = loaded.type === 'loaded' ? loaded.template : 'unknown';
        return `is loaded, its weights match their SHA-256, chat template ${template}`;
      },
      close: () => llama.close(),
    };
  },
};

async function* partsOf(replies: AsyncIterable<LlamaReply>, toolbox: Toolbox | undefined): AsyncGenerator<ChatPart> {
  const spoken = spokenText();
  const collector = callCollector(toolbox);
  for await (const reply of replies) {
    if (reply.type === 'text') {
      const text = spoken.add(reply.text);
      if (text !== '') yield { type: 'text-delta', text };
    } else if (reply.type === 'call') {
      const { callId, name, arguments: text } = reply.call;
      collector.add([{ id: callId, function: { name, arguments: text } }]);
    } else if (reply.type === 'end') {
      const rest = spoken.rest();
      if (rest !== '') yield { type: 'text-delta', text: rest };
      for (const call of collector.calls()) yield { type: 'tool-call', ...call };
      const { reason, inputTokens, outputTokens } = reply;
      yield { type: 'chat-end', reason, inputTokens, outputTokens };
    }
  }
}
