import type { Adapter } from './calls/context.ts';
import type { OmniModel } from './omni.ts';
import type { SpeechRecognizer } from './recognizer.ts';
import type { SpeakerEncoder } from './speaker-encoder.ts';
import type { SpeechSynthesizer } from './synthesizer.ts';

/** Adapters of one type of engine, by their `kind` in the engines file. */
export type Kinds<Engine> = Readonly<Record<string, () => Promise<{ readonly adapter: Adapter<Engine> }>>>;

/** Recognizers that need a server or an optional package. */
export const recognizerKinds: Kinds<SpeechRecognizer> = {
  dashscope: () => import('./recognizers/dashscope.ts'),
  funasr: () => import('./recognizers/funasr.ts'),
  'openai-transcriptions': () => import('./recognizers/openai-transcriptions.ts'),
  triton: () => import('./recognizers/triton.ts'),
  'sherpa-onnx': () => import('./recognizers/sherpa-onnx.ts'),
};

/** Synthesizers that need a server or an optional package. */
export const synthesizerKinds: Kinds<SpeechSynthesizer> = {
  dashscope: () => import('./synthesizers/dashscope.ts'),
  'openai-speech': () => import('./synthesizers/openai-speech.ts'),
  'gpt-sovits': () => import('./synthesizers/gpt-sovits.ts'),
  'f5-socket': () => import('./synthesizers/f5-socket.ts'),
  'fish-speech': () => import('./synthesizers/fish-speech.ts'),
  gradio: () => import('./synthesizers/gradio.ts'),
  sidecar: () => import('./synthesizers/sidecar.ts'),
  xtts: () => import('./synthesizers/xtts.ts'),
  cosyvoice: () => import('./synthesizers/cosyvoice.ts'),
  triton: () => import('./synthesizers/triton.ts'),
  'sherpa-onnx': () => import('./synthesizers/sherpa-onnx.ts'),
};

/** Omni models that need a server or an optional package. */
export const omniKinds: Kinds<OmniModel> = {
  moshi: () => import('./omnis/moshi.ts'),
  'openai-chat-audio': () => import('./omnis/openai-chat-audio.ts'),
  'openai-realtime': () => import('./omnis/openai-realtime.ts'),
};

/** Speaker encoders that need an optional package. */
export const speakerEncoderKinds: Kinds<SpeakerEncoder> = {
  'sherpa-onnx': () => import('./speaker-encoders/sherpa-onnx.ts'),
};
