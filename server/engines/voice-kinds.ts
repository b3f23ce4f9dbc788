import type { AdaptersByKind } from '../../voices/calls/context.ts';
import type { OmniModel } from '../../voices/omni.ts';
import type { SpeechRecognizer } from '../../voices/recognizer.ts';
import type { SpeakerEncoder } from '../../voices/speaker-encoder.ts';
import type { SpeechSynthesizer } from '../../voices/synthesizer.ts';

/** Recognizers that need a server or an optional package. */
export const recognizerKinds: AdaptersByKind<SpeechRecognizer> = {
  dashscope: () => import('../../voices/recognizers/dashscope.ts'),
  funasr: () => import('../../voices/recognizers/funasr.ts'),
  'openai-transcriptions': () => import('../../voices/recognizers/openai-transcriptions.ts'),
  triton: () => import('../../voices/recognizers/triton.ts'),
  'sherpa-onnx': () => import('../../voices/sherpa/recognizer.ts'),
};

/** Synthesizers that need a server or an optional package. */
export const synthesizerKinds: AdaptersByKind<SpeechSynthesizer> = {
  dashscope: () => import('../../voices/synthesizers/cloud/dashscope.ts'),
  azure: () => import('../../voices/synthesizers/cloud/azure.ts'),
  cartesia: () => import('../../voices/synthesizers/cloud/cartesia.ts'),
  inworld: () => import('../../voices/synthesizers/cloud/inworld.ts'),
  'openai-speech': () => import('../../voices/synthesizers/openai-speech.ts'),
  'gpt-sovits': () => import('../../voices/synthesizers/gpt-sovits.ts'),
  'f5-socket': () => import('../../voices/synthesizers/f5-socket.ts'),
  'fish-speech': () => import('../../voices/synthesizers/fish-speech.ts'),
  gradio: () => import('../../voices/synthesizers/gradio.ts'),
  sidecar: () => import('../../voices/synthesizers/sidecar.ts'),
  xtts: () => import('../../voices/synthesizers/xtts.ts'),
  cosyvoice: () => import('../../voices/synthesizers/cosyvoice.ts'),
  triton: () => import('../../voices/synthesizers/triton.ts'),
  'sherpa-onnx': () => import('../../voices/sherpa/synthesizer.ts'),
};

/** Omni models that need a server or an optional package. */
export const omniKinds: AdaptersByKind<OmniModel> = {
  moshi: () => import('../../voices/omnis/moshi.ts'),
  'openai-chat-audio': () => import('../../voices/omnis/openai-chat-audio.ts'),
  'openai-realtime': () => import('../../voices/omnis/openai-realtime.ts'),
};

/** Speaker encoders that need an optional package. */
export const speakerEncoderKinds: AdaptersByKind<SpeakerEncoder> = {
  'sherpa-onnx': () => import('../../voices/sherpa/speaker-encoder.ts'),
};
