import type { StageModel } from '../construction/runner/build.ts';
import type { TextReply, TextRequest } from '../construction/runner/model.ts';
import { isAnswered, type Coordinator } from './coordinator.ts';

/** Kind of the asks of a stage: stages with one model share it. */
export function stageKind(model: string): string {
  return `model-${model === '' ? 'all' : model.replaceAll(/[^\w-]/g, '_')}`;
}

/** Input of a worker for a question to the model of a stage. */
export interface BuildWork {
  readonly stage: string;
  readonly request: Pick<TextRequest, 'messages' | 'sampling'>;
}

/**
 * Has workers ask the model of a stage. The build stays the only writer of its journal: an answer leaves Redis when the
 * journal has it.
 */
export function farModel(
  { model, prices }: StageModel,
  { stage, kind }: { readonly stage: string; readonly kind: string },
  coordinator: Pick<Coordinator, 'ask'>,
): StageModel {
  let running = 0;
  /** Answers of a call that its caller has not written yet, by the options of the call. */
  const unlogged = new WeakMap<object, () => void>();
  const contexts = new WeakMap<object, () => void>();
  return {
    prices,
    model: {
      name: model.name,
      async complete({ record, part, attempt, messages, sampling }, options) {
        const key = [stage, record, part, attempt, model.name, JSON.stringify([messages, sampling])];
        const work: BuildWork = { stage, request: { messages, sampling } };
        // The build counts the cost of each reply itself.
        const context = { signal: options.signal, throwIfStopped: contexts.get(options) ?? nothing, spend: nothing };
        try {
          const answered = await coordinator.ask({ kind, key, work }, context);
          unlogged.set(options, answered.onLogged);
          return answered.value as TextReply;
        } catch (fault) {
          // The journal holds only answers.
          if (isAnswered(fault)) fault.onLogged();
          throw fault;
        }
      },
    },
    endpoint: {
      name: model.name,
      get running() {
        return running;
      },
      retries: 0,
      async call(work, { signal, throwIfStopped }) {
        throwIfStopped();
        const options = { signal };
        contexts.set(options, throwIfStopped);
        running += 1;
        try {
          const result = await work(options);
          unlogged.get(options)?.();
          return result;
        } finally {
          running -= 1;
        }
      },
    },
  };
}

function nothing(): void {
  // Nothing to do here.
}
