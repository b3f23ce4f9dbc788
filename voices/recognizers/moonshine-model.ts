import { existsSync } from 'node:fs';
import { join } from 'node:path';
import llamaTokenizer from 'llama-tokenizer-js';
import { Tensor } from 'onnxruntime-node';
import { EngineError } from '../engine.ts';
import { oneThread, openModelSession, type ModelSession } from '../onnx/model-session.ts';
import { isDoubtful, type Hypothesis } from '../recognition/hypothesis.ts';
import { mostLikelyToken, logProbabilityOf } from './greedy-decoding.ts';

export interface MoonshineModelOptions {
  /** Folder with `encoder_model.onnx` and `decoder_model_merged.onnx` of Moonshine tiny. */
  readonly modelDirectory: string;
  /** Threads of the encoder; a step of the decoder is too small to parallelize. */
  readonly threads: number;
}

/** Loaded model of Moonshine tiny. */
export interface MoonshineModel {
  /** Decodes mono audio at 16 kHz, 0.1 to 30 s, deterministically; with `carefully`, doubtful audio a second time. */
  decode(samples: Float32Array, options: { readonly carefully: boolean }): Promise<Hypothesis>;
}

const name = 'moonshine';
const advice = 'run `npm ci` to install @moonshine-ai/moonshine-js again';
const layers = 6;
const heads = 8;
const headSize = 36;
const startToken = 1;
const endToken = 2;
/** Vocabulary size of the tokenizer; later tokens are no words. */
const wordTokens = 32_000;
/** Upper limit for speech, fast speech included; for audio it cannot make out, the model repeats itself endlessly. */
const tokensPerSecond = 6.5;
const spareTokens = 4;
/**
 * If the model is less sure than this (95 %) that there are no words, it is forced to decode some. In recorded silence,
 * noise and music it is nearly always surer; after a second of silence it may drop good speech at far less.
 */
const sureOfSilence = -0.05;

/** Length up to which audio may be a single word, and the silence of which it gets more: the model mishears "no" in it. */
const oneWord = { samples: 17_600, paddingSamples: 3_200, marginSamples: 4_608, tailSamples: 1_024 };

/** Audio that the second decoding leaves out at the start, 128 ms; mostly silence. */
const secondCutSamples = 2_048;

const caches = Array.from({ length: layers }, (_, layer) => layer).flatMap((layer) =>
  ['decoder.key', 'decoder.value', 'encoder.key', 'encoder.value'].map((part) => `${layer}.${part}`),
);
const growingCaches = caches.filter((cache) => cache.includes('decoder'));

/** Loads the model. A missing or unusable file gives an `EngineError` with `ENGINE_MISSING`. */
export async function loadMoonshine(options: MoonshineModelOptions): Promise<MoonshineModel> {
  const directory = options.modelDirectory;
  const encoder = await loadSession(join(directory, 'encoder_model.onnx'), options.threads, ['last_hidden_state']);
  const decoder = await loadSession(join(directory, 'decoder_model_merged.onnx'), 1, [
    'logits',
    ...caches.map((cache) => `present.${cache}`),
  ]);
  const decodeOnce = async (samples: Float32Array): Promise<Hypothesis> => {
    const audio = new Tensor('float32', samples, [1, samples.length]);
    const encoded = await encoder.run({ input_values: audio });
    const seconds = samples.length / 16_000;
    const mostTokens = Math.floor(seconds * tokensPerSecond) + spareTokens;
    return { seconds, ...(await decode(new Decoding(decoder, encoded['last_hidden_state'] as Tensor), mostTokens)) };
  };
  return {
    async decode(samples, { carefully }) {
      const isOneWord = carefully && samples.length <= oneWord.samples;
      const padded = isOneWord ? await decodeOnce(withMoreSilence(samples)) : undefined;
      const first = { ...(await decodeOnce(samples)), ...(padded === undefined ? {} : { padded }) };
      if (!carefully || samples.length < 3 * secondCutSamples || !isDoubtful(first)) return first;
      return { ...first, second: await decodeOnce(samples.subarray(secondCutSamples)) };
    },
  };
}

/** Repeats the silence before the word, and what comes after it. */
function withMoreSilence(samples: Float32Array): Float32Array {
  const { paddingSamples, marginSamples, tailSamples } = oneWord;
  const longer = new Float32Array(samples.length + 2 * paddingSamples);
  longer.set(samples, paddingSamples);
  const margin = Math.max(1, Math.min(marginSamples, samples.length >> 1));
  for (let index = 0; index < paddingSamples; index += 1) {
    longer[paddingSamples - 1 - index] = samples[index % margin] ?? 0;
    longer[paddingSamples + samples.length + index] = samples[samples.length - 1 - (index % tailSamples)] ?? 0;
  }
  return longer;
}

async function loadSession(path: string, threads: number, outputs: readonly string[]): Promise<ModelSession> {
  if (!existsSync(path)) throw new EngineError(name, 'ENGINE_MISSING', `${path} is missing: ${advice}`);
  const session = await openModelSession('moonshine', path, {
    ...oneThread,
    intraOpNumThreads: threads,
    // Weights are unpacked once and not in each step, which takes a third less time; idle threads do not spin.
    extra: { session: { disable_quant_qdq: '1', intra_op: { allow_spinning: '0' } } },
  }).catch((cause: unknown) => {
    throw new EngineError(name, 'ENGINE_MISSING', `${path} cannot be loaded: ${advice}`, cause);
  });
  if (outputs.every((output) => session.outputNames.includes(output))) return session;
  throw new EngineError(name, 'ENGINE_MISSING', `${path} is a different model: ${advice}`);
}

async function decode(decoding: Decoding, mostTokens: number): Promise<Omit<Hypothesis, 'seconds'>> {
  const tokens: number[] = [];
  const logProbabilities: number[] = [];
  let logits = await decoding.step(startToken);
  const silenceLogProbability = logProbabilityOf(logits, endToken);
  const reluctant = silenceLogProbability < sureOfSilence && mostLikelyToken(logits).token === endToken;
  if (reluctant) logits[endToken] = Number.NEGATIVE_INFINITY;
  for (;;) {
    const { token, logProbability } = mostLikelyToken(logits);
    logProbabilities.push(logProbability);
    if (token === endToken) break;
    tokens.push(token);
    if (tokens.length >= mostTokens) break;
    logits = await decoding.step(token);
  }
  const words = tokens.filter((token) => token > endToken && token < wordTokens);
  const text = llamaTokenizer.decode(words, false, false).trim();
  return { text, logProbabilities, silenceLogProbability, forced: reluctant };
}

/** Decoder state of one utterance, with its key-value cache. */
class Decoding {
  readonly #decoder: ModelSession;
  readonly #encoded: Tensor;
  #past: Record<string, Tensor> = {};

  constructor(decoder: ModelSession, encoded: Tensor) {
    this.#decoder = decoder;
    this.#encoded = encoded;
  }

  /** Feeds a token; returns the logits of the next. */
  async step(token: number): Promise<Float32Array> {
    const first = Object.keys(this.#past).length === 0;
    const empty = new Tensor('float32', new Float32Array(0), [0, heads, 1, headSize]);
    const feeds: Record<string, Tensor> = {
      input_ids: new Tensor('int64', BigInt64Array.of(BigInt(token)), [1, 1]),
      encoder_hidden_states: this.#encoded,
      use_cache_branch: new Tensor('bool', [!first], [1]),
    };
    for (const cache of caches) feeds[`past_key_values.${cache}`] = this.#past[cache] ?? empty;
    // The cross-attention cache depends on the audio only: it is computed in the first step and kept.
    const grown = first ? caches : growingCaches;
    const out = await this.#decoder.run(feeds, ['logits', ...grown.map((cache) => `present.${cache}`)]);
    for (const cache of grown) this.#past[cache] = out[`present.${cache}`] as Tensor;
    return (out['logits'] as Tensor).data as Float32Array;
  }
}
