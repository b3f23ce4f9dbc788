import { describe, expect, it } from 'vitest';
import { openEngines } from '../../../server/engines/engines.ts';
import { pcm16FromFloats } from '../../../voices/audio.ts';
import { openChatAudioServer } from '../../fakes/servers/chat-audio-server.ts';
import type { EngineServer } from '../../fakes/servers/engine-server.ts';
import { openChatModel } from '../../conformance/engine-table.ts';
import type { Fault } from '../../fakes/servers/faults.ts';
import { openFunasrServer } from '../../fakes/servers/funasr-server.ts';
import { openSidecarServer } from '../../fakes/servers/sidecar-server.ts';
import { openSpeechServer } from '../../fakes/servers/speech-server.ts';
import { openTranscriptionServer } from '../../fakes/servers/transcription-server.ts';
import { silence, tone } from '../../fakes/vad.ts';
import { enginesFile, serveOn } from '../../rigs/engine-rig.ts';

const reply = 'Good evening, traveller. Mind the step.';

/** Two engines for each stage; a test may break the first. */
async function openChains() {
  const servers = {
    ear: await openTranscriptionServer({ text: 'the first ear' }),
    secondEar: await openFunasrServer({
      late: [{ mode: '2pass-offline', text: 'the second ear', is_final: true, timestamp: '[[0,900]]' }],
    }),
    mind: await openChatModel('The first mind.'),
    secondMind: await openChatModel(reply),
    mouth: await openSpeechServer(),
    secondMouth: await openSidecarServer(),
    omni: await openChatAudioServer('openai', 'The first omni.'),
    secondOmni: await openChatAudioServer('openai', 'The second omni.'),
  };
  const close = (): Promise<unknown> =>
    Promise.all(Object.values(servers).map((each: EngineServer) => each[Symbol.asyncDispose]()));
  return { ...servers, [Symbol.asyncDispose]: async () => void (await close()) };
}
type Chains = Awaited<ReturnType<typeof openChains>>;

/** One spoken turn; what was heard, said, and by whom. */
async function turnOn(chains: Chains, withOmnis = false) {
  const { ear, secondEar, mind, secondMind, mouth, secondMouth, omni, secondOmni } = chains;
  const hears = { kind: 'openai-transcriptions', dialect: 'openai', baseUrl: `${ear.url}/v1`, retries: 0 };
  const both = { kind: 'openai-chat-audio', model: 'gpt-audio', retries: 0 };
  const engines = await openEngines({
    engines: await enginesFile({
      engines: {
        ear: hears,
        'second-ear': { kind: 'funasr', baseUrl: secondEar.url.replace('http', 'ws'), settleMs: 0 },
        mind: { kind: 'openai-chat', baseUrl: `${mind.url}/v1`, model: 'llama' },
        'second-mind': { kind: 'openai-chat', baseUrl: `${secondMind.url}/v1`, model: 'llama' },
        mouth: { kind: 'openai-speech', baseUrl: `${mouth.url}/v1`, retries: 0 },
        'second-mouth': { kind: 'sidecar', baseUrl: secondMouth.url },
        omni: { ...both, baseUrl: `${omni.url}/v1` },
        'second-omni': { ...both, baseUrl: `${secondOmni.url}/v1` },
      },
      asr: ['ear', 'second-ear'],
      llm: ['mind', 'second-mind'],
      tts: ['mouth', 'second-mouth'],
      ...(withOmnis ? { omni: ['omni', 'second-omni'] } : {}),
    }),
  });
  const server = await serveOn(engines);
  const client = server.call('?model=alice');
  try {
    await client.until('session.created');
    const say = (samples: Float32Array): void =>
      client.send({ type: 'input_audio_buffer.append', audio: pcm16FromFloats(samples).toString('base64') });
    say(tone(900));
    say(silence(1_500));
    const { transcript } = await client.until('conversation.item.input_audio_transcription.completed');
    const { response } = await client.until('response.done');
    return {
      transcript,
      status: response.status as string,
      said: String(response.output[0]?.content[0]?.transcript).trim(),
      mind: response.x_dramatis?.mind,
    };
  } finally {
    client.socket.terminate();
    await engines.close();
  }
}

const failures: readonly (readonly [string, Fault])[] = [
  ['refused the connection', { kind: 'reset' }],
  ['fails', { kind: 'status', status: 500 }],
  ['has used up its quota', { kind: 'status', status: 429, headers: { 'retry-after': '60' } }],
  ['answers with a web page', { kind: 'page' }],
  ['breaks off in the middle of an answer', { kind: 'cut', after: 0.5 }],
];

describe.each(failures)('if the first engine of a chain %s', (_name, fault) => {
  it('transcribes the same utterance with the second ASR engine', async () => {
    await using chains = await openChains();
    chains.ear.breaks(fault);
    expect(await turnOn(chains)).toMatchObject({ transcript: 'the second ear', status: 'completed' });
    expect(chains.secondEar.blocks.length).toBeGreaterThan(10);
  });

  it('answers the same turn with the second LLM', async () => {
    await using chains = await openChains();
    // Spoken words are not taken back, so the LLM must fail before its first word.
    chains.mind.breaks(fault.kind === 'cut' ? { kind: 'cut', after: 0 } : fault);
    expect(await turnOn(chains)).toMatchObject({ transcript: 'the first ear', status: 'completed', said: reply });
  });

  it('speaks the whole reply with the second TTS engine', async () => {
    await using chains = await openChains();
    chains.mind.breaks({ kind: 'status', status: 500 });
    chains.mouth.breaks(fault);
    expect(await turnOn(chains)).toMatchObject({ status: 'completed', said: reply });
    const asked = chains.secondMouth.requests.filter(({ method }) => method === 'POST');
    expect(asked.length).toBeGreaterThan(0);
  });

  it('answers the same turn with the second omni model', async () => {
    await using chains = await openChains();
    chains.omni.breaks(fault.kind === 'cut' ? { kind: 'cut', after: 0 } : fault);
    expect(await turnOn(chains, true)).toMatchObject({ status: 'completed', said: 'The second omni.' });
    expect(chains.mind.requests.filter(({ method }) => method === 'POST')).toEqual([]);
  });
});
