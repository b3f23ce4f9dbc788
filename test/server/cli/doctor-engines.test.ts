import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { afterAll, expect, it } from 'vitest';
import { checkPlannedEngines } from '../../../server/cli/doctor/engines.ts';
import { planEngines } from '../../../server/engines/engine-plan.ts';
import { readWav } from '../../../voices/dsp/wav.ts';
import { openEngineServer, type EngineServer } from '../../fakes/servers/engine-server.ts';
import type { Fault } from '../../fakes/servers/faults.ts';
import { openChatAudioServer } from '../../fakes/servers/chat-audio-server.ts';
import { openCosyvoiceServer } from '../../fakes/servers/cosyvoice-server.ts';
import { openChatModel } from '../../conformance/engine-table.ts';
import { openGptSovitsServer } from '../../fakes/servers/gpt-sovits-server.ts';
import { openRealtimeServer } from '../../fakes/servers/realtime-server.ts';
import { openSpeechServer } from '../../fakes/servers/speech-server.ts';
import { openTlsTunnel } from '../../fakes/network/tls-tunnel.ts';
import { openTranscriptionServer } from '../../fakes/servers/transcription-server.ts';
import { enginesFile, openCascadeServers } from '../../rigs/engine-rig.ts';
import { characters } from '../../rigs/serve-rig.ts';

const opened: AsyncDisposable[] = [];
afterAll(() => Promise.all(opened.map((each) => each[Symbol.asyncDispose]())));

/** A server with this fault; closed after the tests. */
async function broken(server: Promise<EngineServer>, fault?: Fault, route?: string): Promise<string> {
  const each = await server;
  opened.push(each);
  if (fault !== undefined) each.breaks(fault, route === undefined ? {} : { route });
  return each.url;
}

/** A server that answers every connection with something other than HTTP. */
async function openMailServer(): Promise<string> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.end('220 mail.example ESMTP\r\n');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  opened.push({ [Symbol.asyncDispose]: async () => void server.close() });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** The doctor's lines about the engines of a file. */
async function findings(file: string, environment: Readonly<Record<string, string>> = {}): Promise<string[]> {
  const alice = characters.get('alice');
  if (alice === undefined) throw new Error('no Alice');
  const found = await checkPlannedEngines(planEngines({ engines: file }, environment), alice);
  return found.map(({ stage, name, ok, says }) => `${ok ? '✓' : '✗'} ${stage} ${name} ${says}`);
}

it('reports engines that work with their latency', async () => {
  await using servers = await openCascadeServers();
  expect(await findings(servers.file)).toEqual([
    expect.stringMatching(
      /^✓ ASR ear openai-transcriptions: 127\.0\.0\.1:\d+ has whisper; hears “hello there” in “Good evening\.” after \d+ ms$/,
    ),
    expect.stringMatching(/^✓ LLM llama openai-chat: 127\.0\.0\.1:\d+ has llama; answers after \d+ ms$/),
    expect.stringMatching(/^✓ TTS mouth openai-speech: .* synthesizes after \d+ ms$/),
    expect.stringMatching(/^✓ turn detector words and prosody prosody: decides when a turn is over, within \d+ ms/),
  ]);
});

const ear = { kind: 'openai-transcriptions', dialect: 'speaches', model: 'whisper', retries: 0 };
const chat = { kind: 'openai-chat', model: 'llama' };
const mouth = { kind: 'openai-speech', model: 'small-voice', retries: 0 };
const omni = { kind: 'openai-chat-audio', model: 'gpt-audio', retries: 0 };

it('does not say OK of a recognizer that hears no word in speech, and gives it speech, not noise', async () => {
  const deaf = await openTranscriptionServer({ text: '' });
  opened.push(deaf);
  const engines = { deaf: { ...ear, baseUrl: `${deaf.url}/v1` } };
  const [line] = await findings(await enginesFile({ engines, asr: 'deaf' }));
  expect(line).toMatch(/^✗ ASR deaf .*recognized no word in “Good evening\.”, .*Check its model and its languages/);
  const [request] = deaf.requests.filter(({ method }) => method === 'POST');
  const file = (await request?.form())?.get('file') as File;
  const { samples, sampleRate } = await readWav(new Uint8Array(await file.arrayBuffer()));
  expect(samples.length / sampleRate).toBeGreaterThan(0.5);
  // Speech has pauses and beats; noise is the same throughout.
  const levels = Array.from({ length: 10 }, (_, index) => {
    const block = samples.subarray((index * samples.length) / 10, ((index + 1) * samples.length) / 10);
    return Math.sqrt(block.reduce((sum, value) => sum + value * value, 0) / block.length);
  });
  expect(Math.max(...levels)).toBeGreaterThan(4 * Math.min(...levels));
});

it('does not say OK of a synthesizer that speaks silence, or fails in the middle of a word', async () => {
  const silent = await openEngineServer({
    'POST /v1/audio/speech': () => ({ headers: { 'content-type': 'audio/pcm' }, body: Buffer.alloc(48_000) }),
  });
  opened.push(silent);
  const cut = await broken(openSpeechServer(), { kind: 'cut', after: 0.5 }, 'POST /v1/audio/speech');
  const engines = {
    silent: { ...mouth, dialect: 'kokoro', baseUrl: `${silent.url}/v1` },
    cut: { ...mouth, dialect: 'kokoro', baseUrl: `${cut}/v1` },
  };
  const lines = await findings(await enginesFile({ engines, tts: ['silent', 'cut'] }));
  expect(lines.filter((line) => line.includes('TTS'))).toEqual([
    expect.stringMatching(/^✗ TTS silent .*silence/),
    expect.stringMatching(/^✗ TTS cut .*in the middle of its response/),
  ]);
});

it('reports one line with the remedy for each engine that is broken in its own way', async () => {
  const locked = await broken(openChatModel('Yes.'), { kind: 'status', status: 401 });
  const fine = await broken(openChatModel('Yes.'));
  const spent = await broken(
    openSpeechServer(),
    { kind: 'status', status: 429, headers: { 'retry-after': '60' } },
    'POST /v1/audio/speech',
  );
  const omniUrl = await broken(openChatAudioServer());
  const tunnel = await openTlsTunnel(Number(new URL(fine).port));
  opened.push(tunnel);
  const recognizers = {
    'wrong-port': { ...ear, baseUrl: 'http://127.0.0.1:1/v1' },
    'wrong-model': { ...ear, model: 'large-v9', baseUrl: `${await broken(openTranscriptionServer())}/v1` },
    failing: {
      ...ear,
      failureCount: 1,
      baseUrl: `${await broken(openTranscriptionServer(), { kind: 'status', status: 500 }, 'POST /v1/audio/transcriptions')}/v1`,
    },
    'no-socket': { kind: 'funasr', baseUrl: fine.replace('http', 'ws'), retries: 0 },
    loading: {
      ...ear,
      dialect: 'whisper-cpp',
      baseUrl: await broken(openTranscriptionServer(), { kind: 'status', status: 404 }),
    },
  };
  const minds = {
    locked: { ...chat, baseUrl: `${locked}/v1` },
    keyless: { ...chat, baseUrl: `${fine}/v1`, apiKeyEnv: 'NOBODY_HAS_SET_THIS' },
    'no-tls': { ...chat, baseUrl: `${fine.replace('http', 'https')}/v1` },
    'own-certificate': { ...chat, baseUrl: `https://127.0.0.1:${tunnel.port}/v1` },
    mail: { ...chat, baseUrl: `${await openMailServer()}/v1` },
    fine: { ...chat, baseUrl: `${fine}/v1`, apiKeyEnv: 'GOOD_KEY' },
  };
  const synthesizers = {
    page: { ...mouth, baseUrl: `${await broken(openSpeechServer(), { kind: 'page' })}/v1` },
    mute: {
      ...mouth,
      timeouts: { firstByteMs: 50 },
      baseUrl: `${await broken(openSpeechServer(), { kind: 'hang' })}/v1`,
    },
    silent: { ...mouth, baseUrl: `${await broken(openSpeechServer(), { kind: 'empty' }, 'POST /v1/audio/speech')}/v1` },
    spent: { ...mouth, baseUrl: `${spent}/v1` },
    clipless: { kind: 'gpt-sovits', baseUrl: await broken(openGptSovitsServer()), retries: 0 },
    'lost-clip': {
      kind: 'cosyvoice',
      baseUrl: await broken(openCosyvoiceServer()),
      defaultClip: { wav: '/nowhere/martha.wav', transcript: 'I keep the house.', language: 'en', consent: 'ours' },
    },
    unknown: { ...mouth, dialect: 'klingon', baseUrl: `${spent}/v1` },
  };
  const omnis = {
    'omni-fine': { ...omni, baseUrl: `${omniUrl}/v1` },
    'omni-model': { ...omni, model: 'gpt-4o-audio-preview', baseUrl: `${omniUrl}/v1` },
    'omni-mute': { ...omni, baseUrl: `${await broken(openChatAudioServer('mute'))}/v1` },
    'omni-refuses': {
      kind: 'openai-realtime',
      model: 'gpt-realtime',
      baseUrl: `${(await broken(openRealtimeServer('', 'invalid_api_key'))).replace('http', 'ws')}/v1`,
    },
  };
  const file = await enginesFile({
    engines: { ...recognizers, ...minds, ...synthesizers, ...omnis },
    asr: Object.keys(recognizers),
    llm: Object.keys(minds),
    tts: Object.keys(synthesizers),
    omni: Object.keys(omnis),
    turnDetector: { kind: 'smart-turn', model: '/nowhere/smart-turn.onnx' },
  });
  const lines = await findings(file, { GOOD_KEY: 'sk-good' });
  const about = (name: string): readonly string[] =>
    lines.filter((line) => new RegExp(`^[✗✓] (?:ASR|LLM|TTS|omni|turn detector) ${name} `).test(line));
  const wanted: Readonly<Record<string, RegExp>> = {
    'wrong-port': /^✗ ASR .*cannot be reached \(ECONNREFUSED\)\. Check "baseUrl" of the engine "wrong-port"/,
    'wrong-model': /^✗ ASR .*no model "large-v9"\. It has whisper\. Set "model" of the engine "wrong-model"/,
    failing: /^✗ ASR .*the server failed \(500\)\. Check its log/,
    'no-socket': /^✗ ASR .*does not know the model or the path \(404\)\. Check .*"baseUrl" of the engine "no-socket"/,
    loading: /^✗ ASR .*still loading its model\. Try again/,
    locked: /^✗ LLM .*rejected the key \(401\)\. Check the variable named by "apiKeyEnv" of the engine "locked"/,
    keyless: /^✗ LLM .*NOBODY_HAS_SET_THIS is not set\. Put the engine's key into it/,
    'no-tls':
      /^✗ LLM .*the TLS connection failed .*Check whether "baseUrl" of the engine "no-tls" must begin with http or https/,
    'own-certificate': /^✗ LLM .*certificate .*NODE_EXTRA_CA_CERTS/,
    mail: /^✗ LLM .*does not speak HTTP .*Check "baseUrl" of the engine "mail"/,
    fine: /^✓ LLM .*has llama; answers after \d+ ms$/,
    page: /^✗ TTS .*text\/html instead of audio\. Check "baseUrl" of the engine "page"/,
    mute: /^✗ TTS .*no response within 0\.05 s\. Is the server overloaded/,
    silent: /^✗ TTS .*no audio \(0 ms\)\. Check its log/,
    spent: /^✗ TTS .*too many requests, or the quota is used up \(429\)\. Wait a minute, or check your plan/,
    clipless:
      /^✗ TTS .*only clones voices from clips\. Set a clip for the character, or for all \("\*"\), in "references"/,
    'lost-clip': /^✗ TTS .*the reference clip \/nowhere\/martha\.wav does not exist\. Check "references"/,
    unknown: /^✗ TTS .*The engine "unknown" \(openai-speech\): dialect: Invalid option/,
    'omni-fine': /^✓ omni .*has gpt-audio; replies with speech after \d+ ms$/,
    'omni-model':
      /^✗ omni .*no model "gpt-4o-audio-preview"\. It has gpt-audio\. Set "model" of the engine "omni-model"/,
    'omni-mute': /^✗ omni .*replied without audio\. Check that the server serves the complete model/,
    'omni-refuses': /^✗ omni .*rejected the key \(invalid_api_key\)\. Check/,
    'smart-turn': /^✗ turn detector .*\/nowhere\/smart-turn\.onnx/,
  };
  for (const [name, line] of Object.entries(wanted))
    expect([name, about(name)]).toEqual([name, [expect.stringMatching(line)]]);
  expect(lines.join('\n')).not.toContain('sk-good');
}, 60_000);
