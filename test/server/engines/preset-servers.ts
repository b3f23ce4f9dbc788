import { openChatAudioServer } from '../../fakes/servers/chat-audio-server.ts';
import { openCosyvoiceServer } from '../../fakes/servers/cosyvoice-server.ts';
import { openDashscopeServer } from '../../fakes/servers/cloud/dashscope-server.ts';
import type { EngineServer } from '../../fakes/servers/engine-server.ts';
import { openChatModel } from '../../conformance/engine-table.ts';
import { openGptSovitsServer } from '../../fakes/servers/gpt-sovits-server.ts';
import { openSidecarServer } from '../../fakes/servers/sidecar-server.ts';
import { openSpeechServer } from '../../fakes/servers/speech-server.ts';
import { openTranscriptionServer } from '../../fakes/servers/transcription-server.ts';
import { openCoquiServer } from '../../fakes/servers/xtts-server.ts';

/** The voice to clone. */
export interface Clip {
  readonly wav: string;
  readonly transcript: string;
}

/** The next transcript and reply of the engines; set by a test. */
export interface ScriptedExchange {
  hears: string;
  says: string;
}

/** The servers of one preset. */
export interface PresetServers {
  /** By the name of the engine in the preset. */
  readonly servers: Readonly<Record<string, EngineServer>>;
  /** Overrides for an engines file, instead of the preset's own URLs. */
  readonly changes: Readonly<Record<string, { readonly baseUrl: string }>>;
  /** The voice parameters of the request, and their expected values. */
  voiceAsked(clip: Clip): Promise<readonly [asked: unknown, wanted: unknown]>;
  /** The messages of every request to the chat model, as JSON. */
  messagesAsked(): readonly string[];
}

/** The systems of SpeechRole's Table 2, each with in-test servers for all its engines. */
export const presetServers: Readonly<Record<string, (cue: ScriptedExchange) => Promise<PresetServers>>> = {
  xtts: voiced('xtts-v2', '', openCoquiServer, async (server) => {
    const form = await lastOf(server, 'POST /clone_speaker')?.form();
    const { speaker_embedding: latents } = lastOf(server, 'POST /tts_stream')?.json() ?? {};
    return [[form?.get('wav_file') instanceof File, latents], () => [true, Array.from({ length: 512 }, () => 0.5)]];
  }),
  cosyvoice2: voiced('cosyvoice2', '', openCosyvoiceServer, async (server) => {
    const form = await lastOf(server, 'POST /inference_zero_shot')?.form();
    return [
      [form?.get('prompt_wav') instanceof File, form?.get('prompt_text')],
      ({ transcript }) => [true, transcript],
    ];
  }),
  'e2-tts': voiced('e2-tts', '/v1', openSidecarServer, uploaded),
  'f5-tts': voiced('f5-tts', '/v1', () => openSpeechServer({ shape: 'wav' }), uploaded),
  fireredtts: voiced('fireredtts', '/v1', openSidecarServer, uploaded),
  'spark-tts': voiced(
    'spark-tts',
    '/v1',
    () => openSpeechServer({ sampleRate: 16_000 }),
    async (server) => {
      const form = await lastOf(server, 'POST /clone_voice')?.form();
      return [
        [form?.get('reference_audio_file') instanceof File, form?.get('reference_text')],
        ({ transcript }) => [true, transcript],
      ];
    },
  ),
  'gpt-sovits': voiced('gpt-sovits', '', openGptSovitsServer, async (server) => {
    const { ref_audio_path: path, prompt_text: text } = lastOf(server, 'POST /tts')?.json() ?? {};
    return [[path, text], ({ wav, transcript }) => [wav, transcript]];
  }),
  maskgct: voiced('maskgct', '/v1', openSidecarServer, uploaded),
  'alibaba-cloud': alibabaCloud,
  'gpt-4o-audio': omni('gpt-audio', 'openai', ({ audio }) => [audio, { voice: 'coral', format: 'pcm16' }]),
  'qwen2.5-omni': omni('qwen-omni', 'late', ({ speaker, messages }) => [
    [speaker, (messages as readonly unknown[])[0]],
    ['chelsie', { role: 'system', content: expectedSystem }],
  ]),
};

const expectedSystem =
  'You are Qwen, a virtual human developed by the Qwen Team, Alibaba Group, capable of perceiving auditory and visual inputs, as well as generating text and speech.';

type Wanted = (clip: Clip) => unknown;
type VoiceOf = (server: EngineServer) => Promise<readonly [asked: unknown, wanted: Wanted]>;

/** whisper-large-v3-turbo, Llama 3.1 8B, and this voice. */
function voiced(
  name: string,
  path: string,
  open: () => Promise<EngineServer>,
  voiceOf: VoiceOf,
): (cue: ScriptedExchange) => Promise<PresetServers> {
  return async (cue) => {
    const whisper = await openTranscriptionServer(() => ({ text: cue.hears }));
    const llama = await openChatModel(() => cue.says);
    const voice = await open();
    return {
      servers: { whisper, llama, [name]: voice },
      changes: {
        // Only the URLs: the in-test servers ignore the preset's model names.
        whisper: { baseUrl: `${whisper.url}/v1` },
        llama: { baseUrl: `${llama.url}/v1` },
        [name]: { baseUrl: `${voice.url}${path}` },
      },
      async voiceAsked(clip) {
        const [asked, wanted] = await voiceOf(voice);
        return [asked, wanted(clip)];
      },
      messagesAsked: () => messagesOf(llama),
    };
  };
}

/** The clip in the request itself. */
async function uploaded(server: EngineServer): Promise<readonly [unknown, Wanted]> {
  const { ref_audio: audio, ref_text: text } = lastOf(server, 'POST /v1/audio/speech')?.json() ?? {};
  return [[String(audio).slice(0, 27), text], ({ transcript }) => ['data:audio/wav;base64,UklGR', transcript]];
}

async function alibabaCloud(cue: ScriptedExchange): Promise<PresetServers> {
  const cloud = await openDashscopeServer({
    get hears() {
      return [cue.hears];
    },
  });
  const character = await openChatModel(() => cue.says);
  const sockets = { baseUrl: `${cloud.url.replace('http', 'ws')}/api-ws/v1/inference` };
  return {
    servers: { paraformer: cloud, 'qwen-character': character },
    changes: {
      paraformer: sockets,
      'qwen-character': { baseUrl: `${character.url}/v1` },
      'cosyvoice-v2': sockets,
    },
    voiceAsked: async () => {
      const asked = cloud.parameters.flatMap(({ voice }) => (voice === undefined ? [] : [voice]));
      return [[...new Set(asked)], ['longxiaochun_v2']];
    },
    messagesAsked: () => messagesOf(character),
  };
}

function omni(
  name: string,
  shape: 'openai' | 'late',
  voiceOf: (request: Record<string, unknown>) => readonly [asked: unknown, wanted: unknown],
): (cue: ScriptedExchange) => Promise<PresetServers> {
  return async (cue) => {
    const server = await openChatAudioServer(shape, () => cue.says);
    return {
      servers: { [name]: server },
      changes: { [name]: { baseUrl: `${server.url}/v1` } },
      voiceAsked: async () => voiceOf(lastOf(server, 'POST /v1/chat/completions')?.json() ?? {}),
      messagesAsked: () => messagesOf(server),
    };
  };
}

function lastOf({ requests }: EngineServer, route: string): EngineServer['requests'][number] | undefined {
  return requests.findLast(({ method, path }) => `${method} ${path}` === route);
}

function messagesOf({ requests }: EngineServer): readonly string[] {
  return requests.flatMap((seen) => (seen.method === 'POST' ? [JSON.stringify(seen.json()['messages'])] : []));
}
