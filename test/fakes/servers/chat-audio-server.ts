import { openEngineServer, type EngineServer } from './engine-server.ts';
import { pcmOf, wavHeader } from '../server-audio.ts';

/** The known ways in which servers send audio replies. */
export type ChatAudioShape = 'openai' | 'dashscope' | 'dashscope-transcript' | 'both' | 'vllm-omni' | 'late' | 'mute';

/** Opens a server for chat completions with audio. `says`: its reply to anything. */
export async function openChatAudioServer(
  shape: ChatAudioShape = 'openai',
  says: string | (() => string) = 'Good evening, my friend.',
): Promise<EngineServer> {
  return openEngineServer({
    'POST /v1/chat/completions': (request) => {
      const text = typeof says === 'string' ? says : says();
      const { stream, modalities } = request.json();
      const speaks = Array.isArray(modalities) && modalities.includes('audio');
      if (stream !== true) return { status: 400, body: '{"error":{"code":"unsupported_value"}}' };
      const chunks = [...(speaks ? spoken(shape, text) : written(text))];
      const events = [...chunks, { choices: [{ delta: {}, finish_reason: 'stop' }] }, usage];
      const body = [...events.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`), 'data: [DONE]\n\n'];
      return { headers: { 'content-type': 'text/event-stream' }, body };
    },
    'GET /v1/models': () => ({
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ object: 'list', data: [{ id: 'gpt-audio' }] }),
    }),
  });
}

const usage = { choices: [], usage: { prompt_tokens: 60, completion_tokens: 40 } };

function delta(fields: object, more: object = {}): object {
  return { ...more, choices: [{ index: 0, delta: fields, finish_reason: null }] };
}

function* written(says: string): Generator<object> {
  for (const word of says.split(/(?<= )/)) yield delta({ content: word });
}

function* spoken(shape: ChatAudioShape, says: string): Generator<object> {
  const pcm = pcmOf(says, 24_000);
  yield delta({ role: 'assistant', content: null, refusal: null });
  for (const word of says.split(/(?<= )/)) yield textChunk(shape, word);
  if (shape === 'mute') return;
  if (shape === 'vllm-omni' || shape === 'late') {
    for (const piece of cut(pcm, shape === 'late' ? pcm.length : 4_800)) {
      const wav = Buffer.concat([wavHeader(24_000, { dataBytes: piece.length }), piece]);
      yield delta({ content: wav.toString('base64') }, { modality: 'audio' });
    }
    return;
  }
  // OpenAI's pieces are valid base64 each, but cut samples apart; Alibaba Cloud's are one base64 text, cut anywhere.
  const pieces =
    shape === 'openai'
      ? cut(pcm, 4_801).map((piece) => piece.toString('base64'))
      : (pcm.toString('base64').match(/.{1,4001}/g) ?? []);
  for (const data of pieces) yield delta({ audio: { id: 'audio_1', data } });
  yield delta({ audio: { id: 'audio_1', expires_at: 1_900_000_000 } });
}

function textChunk(shape: ChatAudioShape, word: string): object {
  if (shape === 'openai' || shape === 'dashscope-transcript')
    return delta({ content: null, audio: { transcript: word } });
  if (shape === 'both') return delta({ content: word, audio: { transcript: word } });
  return delta({ content: word }, shape === 'vllm-omni' || shape === 'late' ? { modality: 'text' } : {});
}

function cut(bytes: Buffer, size: number): Buffer[] {
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) => bytes.subarray(at * size, (at + 1) * size));
}
