import { randomBytes } from 'node:crypto';
import type { ChatModelFunctions, LlamaChat, LlamaChatResponse } from 'node-llama-cpp';
import { importOptional } from '../../voices/calls/optional-package.ts';
import { serveProcess, type ProcessCall } from '../../voices/runtime/process-serve.ts';
import { checkWeights } from '../../voices/models/weights.ts';
import { EngineError } from '../../voices/engine.ts';
import { llamaFunctions, llamaHistory, sharedTurns } from './llama-history.ts';
import type { LlamaData, LlamaReply, LlamaRequest } from './node-llama-cpp.ts';

/** A context sequence. It keeps the state of its last conversation in the model's memory. */
interface SequenceSlot {
  readonly chat: LlamaChat;
  known: readonly string[];
  usedAt: number;
}

interface Model {
  readonly name: string;
  readonly template: string;
  readonly free: Set<SequenceSlot>;
  readonly waiting: (() => void)[];
}

/** Default sampling of a chat model. */
const usualSampling = { temperature: 0.8, topP: 0.95, minP: 0.05 };
let turns = 0;

serveProcess<LlamaData, Model, LlamaRequest, LlamaReply>({
  async load({ name, settings }) {
    const { getLlama, LlamaChat, LlamaLogLevel } = await importOptional(
      name,
      'node-llama-cpp',
      () => import('node-llama-cpp'),
    );
    const { model: modelPath = '' } = await checkWeights(name, { model: settings.model });
    const { contextSize, talks, threads, gpu } = settings;
    // Never builds or downloads anything behind the user's back.
    const llama = await getLlama({
      build: 'never',
      skipDownload: true,
      gpu: gpu === 'off' ? false : gpu,
      logLevel: LlamaLogLevel.error,
    });
    const model = await llama.loadModel({ modelPath });
    const context = await model.createContext({ contextSize, sequences: talks, threads });
    const slots = Array.from({ length: talks }, (): SequenceSlot => {
      return { chat: new LlamaChat({ contextSequence: context.getSequence() }), known: [], usedAt: 0 };
    });
    const [{ chat } = { chat: undefined }] = slots;
    return { name, template: chat?.chatWrapper.wrapperName ?? '', free: new Set(slots), waiting: [] };
  },
  async answer(model, request, call) {
    if (request.kind === 'load') return call.tell({ type: 'loaded', template: model.template });
    const known = request.messages.map((message) => JSON.stringify(message));
    while (model.free.size === 0) await new Promise<void>((resolve) => model.waiting.push(resolve));
    const slot = bestSlot(model.free, known);
    model.free.delete(slot);
    try {
      call.signal.throwIfAborted();
      slot.known = known;
      await generate(slot, request, model.name, call);
    } finally {
      slot.usedAt = turns += 1;
      model.free.add(slot);
      model.waiting.shift()?.();
    }
  },
});

/** The free sequence with the longest common prefix; otherwise the least recently used one. */
function bestSlot(free: ReadonlySet<SequenceSlot>, known: readonly string[]): SequenceSlot {
  const ranked = [...free].toSorted(
    (one, other) => sharedTurns(other.known, known) - sharedTurns(one.known, known) || one.usedAt - other.usedAt,
  );
  return ranked[0] as SequenceSlot;
}

async function generate(
  { chat }: SequenceSlot,
  { messages, sampling, maxTokens, toolbox }: Extract<LlamaRequest, { kind: 'chat' }>,
  name: string,
  { signal, tell }: ProcessCall<LlamaReply>,
): Promise<void> {
  const { stop, ...chosen } = sampling;
  const before = chat.sequence.tokenMeter.getState();
  const functions = llamaFunctions(toolbox);
  const { functionCalls = [], metadata }: LlamaChatResponse<ChatModelFunctions> = await chat
    .generateResponse(llamaHistory(messages), {
      signal,
      maxTokens,
      ...usualSampling,
      ...chosen,
      ...(stop === undefined ? {} : { customStopTriggers: [...stop] }),
      // No thinking: it would only add latency.
      budgets: { thoughtTokens: 0 },
      ...(functions === undefined
        ? {}
        : { functions, ...(toolbox?.parallel === false ? { maxParallelFunctionCalls: 1 } : {}) }),
      onTextChunk: (text) => {
        if (text !== '') tell({ type: 'text', text });
      },
    })
    .catch((cause: unknown) => {
      throw signal.aborted ? signal.reason : faultOf(cause, name);
    });
  for (const { functionName, params } of functionCalls) {
    const callId = `call_${randomBytes(12).toString('base64url')}`;
    tell({ type: 'call', call: { callId, name: functionName, arguments: JSON.stringify(params ?? {}) } });
  }
  const after = chat.sequence.tokenMeter.getState();
  const outputTokens = after.usedOutputTokens - before.usedOutputTokens;
  tell({
    type: 'end',
    reason: metadata.stopReason === 'maxTokens' ? 'length' : 'stop',
    inputTokens: Math.max(0, chat.sequence.nextTokenIndex - outputTokens),
    readTokens: after.usedInputTokens - before.usedInputTokens,
    outputTokens,
  });
}

/** Omits the message of the cause, which may repeat the prompt. */
function faultOf(cause: unknown, name: string): EngineError {
  const kind = cause instanceof Error ? cause.name : 'error';
  const detail = `the model stopped with an error (${kind}). If the character's description and the conversation are long, raise "contextSize".`;
  return new EngineError(name, 'ENGINE_REFUSED', detail, cause);
}
