import { openChatAudioServer } from '../fakes/servers/chat-audio-server.ts';
import { replyEvents } from '../fakes/servers/chat-server.ts';
import { openCosyvoiceServer } from '../fakes/servers/cosyvoice-server.ts';
import { openDashscopeServer } from '../fakes/servers/cloud/dashscope-server.ts';
import { azureRoute, openAzureServer } from '../fakes/servers/cloud/azure-server.ts';
import { openCartesiaServer } from '../fakes/servers/cloud/cartesia-server.ts';
import { openInworldServer } from '../fakes/servers/cloud/inworld-server.ts';
import { openEngineServer, type EngineServer } from '../fakes/servers/engine-server.ts';
import type { Fault } from '../fakes/servers/faults.ts';
import { openFishSpeechServer } from '../fakes/servers/fish-speech-server.ts';
import { f5Route, openF5SocketServer } from '../fakes/servers/f5-socket-server.ts';
import { openFunasrServer } from '../fakes/servers/funasr-server.ts';
import { openGptSovitsServer } from '../fakes/servers/gpt-sovits-server.ts';
import { openGradioServer } from '../fakes/servers/gradio-server.ts';
import { openMoshiServer } from '../fakes/servers/moshi-server.ts';
import { openRealtimeServer } from '../fakes/servers/realtime-server.ts';
import { openSidecarServer } from '../fakes/servers/sidecar-server.ts';
import { openSpeechServer } from '../fakes/servers/speech-server.ts';
import { openTranscriptionServer } from '../fakes/servers/transcription-server.ts';
import { inferRoute, openTritonServer, type TritonOutput } from '../fakes/servers/triton-server.ts';
import { tone } from '../fakes/vad.ts';
import { openCoquiServer, openDaswer123Server } from '../fakes/servers/xtts-server.ts';

/** A remote engine, with the in-test server that speaks its protocol. */
export interface TabledEngine {
  readonly role: 'asr' | 'llm' | 'tts' | 'omni';
  readonly kind: string;
  /** The kind, with its variant. */
  readonly title: string;
  /** The route that does the work. */
  readonly route: string;
  /** True: nothing is sent before everything has been made. */
  readonly comesWhole?: boolean;
  /** The fault that makes its server slow, if it cannot drip. */
  readonly dawdles?: Fault;
  /** Not compared with a bare client, which cannot speak its protocol. */
  readonly ownProtocol?: boolean;
  /** `says`: the reply of a model, each word followed by a space. */
  open(says: string): Promise<EngineServer>;
  /** Settings as in the engines file. */
  settings(server: EngineServer): Readonly<Record<string, unknown>>;
}

/** Environment variable with the key of the table's engines. */
export const tableKeyVariable = 'DRAMATIS_TEST_ENGINE_KEY';
const key = { apiKeyEnv: tableKeyVariable };
const socketOf = ({ url }: EngineServer): string => url.replace('http', 'ws');

/** Every adapter that calls a server, in each variant that differs on the wire. */
export const engineTable: readonly TabledEngine[] = [
  recognizer('openai-transcriptions', 'speaches'),
  recognizer('openai-transcriptions', 'openai'),
  {
    ...recognizer('openai-transcriptions', 'whisper-cpp', 'POST /inference'),
    settings: ({ url }) => ({ kind: 'openai-transcriptions', dialect: 'whisper-cpp', baseUrl: url }),
  },
  {
    role: 'asr',
    kind: 'funasr',
    title: 'funasr',
    route: 'WS /',
    open: () => openFunasrServer(),
    settings: (server) => ({ kind: 'funasr', baseUrl: socketOf(server), settleMs: 0 }),
  },
  {
    ...triton('asr', { model: 'infer_bls' }),
    open: () => openTritonServer(() => [transcript('hello there')], { inputs: ['TEXT_PREFIX', 'WAV', 'WAV_LENS'] }),
  },
  dashscope('asr', { model: 'paraformer-realtime-v2' }),
  {
    role: 'llm',
    kind: 'openai-chat',
    title: 'openai-chat',
    route: 'POST /v1/chat/completions',
    open: openChatModel,
    settings: ({ url }) => ({ kind: 'openai-chat', baseUrl: `${url}/v1`, model: 'llama' }),
  },
  speech('openai'),
  speech('kokoro', 'POST /v1/audio/speech', 'wav-open'),
  speech('vllm-omni'),
  speech('flashtts', 'POST /clone_voice'),
  speech('sglang-omni', 'POST /v1/audio/speech', 'sse-wav-each'),
  voices('gpt-sovits', 'POST /tts', () => openGptSovitsServer()),
  voices('cosyvoice', 'POST /inference_zero_shot', () => openCosyvoiceServer()),
  voices('xtts', 'POST /tts_stream', () => openCoquiServer()),
  {
    ...voices('xtts', 'GET /tts_stream', () => openDaswer123Server(), { server: 'daswer123' }),
    title: 'xtts, daswer123',
  },
  voices('fish-speech', 'POST /v1/tts', () => openFishSpeechServer()),
  {
    ...voices('gradio', 'GET /gradio_api/file=/tmp/gradio/2c3d/audio.wav', () => openGradioServer()),
    comesWhole: true,
  },
  voices('sidecar', 'POST /v1/audio/speech', () => openSidecarServer()),
  {
    ...triton('tts', {}),
    open: () => openTritonServer((request) => waveforms(request.text('target_text'))),
  },
  {
    ...voices('f5-socket', f5Route, () => openF5SocketServer()),
    dawdles: { kind: 'silence', after: 0.5 },
    ownProtocol: true,
  },
  dashscope('tts', { model: 'cosyvoice-v2' }),
  voices('azure', azureRoute, () => openAzureServer(), key),
  voices('cartesia', 'WS /tts/websocket', () => openCartesiaServer(), key),
  voices('inworld', 'POST /tts/v1/voice:stream', () => openInworldServer(), key),
  omni('openai', 'gpt-audio'),
  omni('dashscope', 'qwen3-omni-flash'),
  omni('vllm-omni', 'Qwen/Qwen3-Omni'),
  {
    role: 'omni',
    kind: 'moshi',
    title: 'moshi',
    route: 'WS /api/chat',
    open: (says) => openMoshiServer({ says: says.trim() }),
    settings: (server) => ({ kind: 'moshi', baseUrl: socketOf(server) }),
    ownProtocol: true,
  },
  {
    role: 'omni',
    kind: 'openai-realtime',
    title: 'openai-realtime',
    route: 'WS /v1/realtime',
    open: (says) => openRealtimeServer(says),
    settings: (server) => ({ kind: 'openai-realtime', baseUrl: `${socketOf(server)}/v1`, model: 'gpt-realtime' }),
  },
];

/** Opens a chat server that always gives the same reply, one word per delta. */
export function openChatModel(says: string | (() => string)): Promise<EngineServer> {
  const words = (): string[] => (typeof says === 'string' ? says : says()).split(/(?<= )/);
  return openEngineServer({
    'POST /v1/chat/completions': () => ({
      headers: { 'content-type': 'text/event-stream' },
      body: replyEvents(words()),
    }),
    'GET /v1/models': () => ({ headers: { 'content-type': 'application/json' }, body: '{"data":[{"id":"llama"}]}' }),
  });
}

function recognizer(kind: string, dialect: string, route = 'POST /v1/audio/transcriptions'): TabledEngine {
  return {
    role: 'asr',
    kind,
    title: `${kind}, ${dialect}`,
    route,
    open: () => openTranscriptionServer(),
    settings: ({ url }) => ({ kind, dialect, baseUrl: `${url}/v1`, model: 'whisper' }),
  };
}

function speech(
  dialect: string,
  route = 'POST /v1/audio/speech',
  shape: 'pcm' | 'wav-open' | 'sse-wav-each' = 'pcm',
): TabledEngine {
  return {
    ...voices('openai-speech', route, () => openSpeechServer({ shape })),
    title: `openai-speech, ${dialect}`,
    settings: ({ url }) => ({ kind: 'openai-speech', dialect, baseUrl: `${url}/v1`, model: 'small-voice' }),
  };
}

function voices(kind: string, route: string, open: () => Promise<EngineServer>, more: object = {}): TabledEngine {
  return {
    role: 'tts',
    kind,
    title: kind,
    route,
    open,
    settings: ({ url }) => ({ kind, baseUrl: url, ...more }),
  };
}

function dashscope(role: 'asr' | 'tts', more: object): TabledEngine {
  const path = '/api-ws/v1/inference';
  return {
    role,
    kind: 'dashscope',
    title: `dashscope, ${role}`,
    route: `WS ${path}`,
    open: () => openDashscopeServer(),
    settings: (server) => ({ kind: 'dashscope', baseUrl: socketOf(server) + path, ...key, ...more }),
  };
}

function omni(dialect: 'openai' | 'dashscope' | 'vllm-omni', model: string): TabledEngine {
  return {
    role: 'omni',
    kind: 'openai-chat-audio',
    title: `openai-chat-audio, ${dialect}`,
    route: 'POST /v1/chat/completions',
    open: (says) => openChatAudioServer(dialect, says),
    settings: ({ url }) => ({ kind: 'openai-chat-audio', dialect, baseUrl: `${url}/v1`, model }),
  };
}

function triton(role: 'asr' | 'tts', more: object): Omit<TabledEngine, 'open'> {
  return {
    role,
    kind: 'triton',
    title: `triton, ${role}`,
    route: inferRoute,
    dawdles: { kind: 'silence', after: 0.5 },
    ownProtocol: true,
    settings: ({ url }) => ({ kind: 'triton', baseUrl: url, ...more }),
  };
}

/** A tensor with one text, in Triton's encoding. */
function transcript(text: string): TritonOutput {
  const bytes = Buffer.from(text, 'utf8');
  const raw = Buffer.concat([Buffer.alloc(4), bytes]);
  raw.writeUInt32LE(bytes.length);
  return { name: 'TRANSCRIPTS', datatype: 'BYTES', shape: [1], raw };
}

/** 60 ms of a tone for each word, at 24 kHz, in pieces. */
function* waveforms(text: string, pieceSamples = 1_000): Generator<TritonOutput> {
  const samples = tone(60 * text.split(/\s+/).length + 60, 24_000);
  for (let at = 0; at < samples.length; at += pieceSamples) {
    const piece = samples.slice(at, at + pieceSamples);
    yield { name: 'waveform', datatype: 'FP32', shape: [1, piece.length], raw: Buffer.from(piece.buffer) };
  }
}
