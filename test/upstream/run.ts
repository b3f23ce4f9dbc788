import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { connect, createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { writeWav } from '../../voices/dsp/wav.ts';
import { tone } from '../fakes/vad.ts';

/** An engine behind an upstream server, as in the engines file. */
interface UpstreamEngine {
  readonly role: 'asr' | 'llm' | 'tts' | 'omni';
  /** Script beside this file that runs the server. */
  readonly script: string;
  readonly settings: (host: string, defaultClip: object) => Readonly<Record<string, unknown>>;
}

const engines: Readonly<Record<string, UpstreamEngine>> = {
  funasr: {
    role: 'asr',
    script: 'funasr.py',
    settings: (host) => ({ kind: 'funasr', baseUrl: `ws://${host}`, languages: ['en'] }),
  },
  'gpt-sovits': {
    role: 'tts',
    script: 'gpt_sovits.py',
    settings: (host, defaultClip) => ({ kind: 'gpt-sovits', baseUrl: `http://${host}`, defaultClip }),
  },
  'xtts-coqui': {
    role: 'tts',
    script: 'xtts_coqui.py',
    settings: (host) => ({ kind: 'xtts', baseUrl: `http://${host}` }),
  },
  'xtts-daswer123': {
    role: 'tts',
    script: 'xtts_daswer123.py',
    settings: (host) => ({ kind: 'xtts', server: 'daswer123', baseUrl: `http://${host}` }),
  },
  cosyvoice: {
    role: 'tts',
    script: 'cosyvoice.py',
    settings: (host, defaultClip) => ({ kind: 'cosyvoice', baseUrl: `http://${host}`, defaultClip }),
  },
  'f5-socket': {
    role: 'tts',
    script: 'f5_socket.py',
    settings: (host) => ({ kind: 'f5-socket', baseUrl: `tcp://${host}` }),
  },
  kokoro: {
    role: 'tts',
    script: 'kokoro_fastapi.py',
    settings: (host) => ({ kind: 'openai-speech', dialect: 'kokoro', baseUrl: `http://${host}/v1` }),
  },
  'kokoro-captioned': {
    role: 'tts',
    script: 'kokoro_fastapi.py',
    settings: (host) => ({ kind: 'openai-speech', dialect: 'kokoro-captioned', baseUrl: `http://${host}/v1` }),
  },
  moshi: {
    role: 'omni',
    script: 'moshi.py',
    settings: (host) => ({ kind: 'moshi', baseUrl: `ws://${host}` }),
  },
  'whisper-cpp': {
    role: 'asr',
    script: 'whisper_cpp.py',
    settings: (host) => ({ kind: 'openai-transcriptions', dialect: 'whisper-cpp', baseUrl: `http://${host}` }),
  },
  'llama-cpp': {
    role: 'llm',
    script: 'llama-cpp.ts',
    settings: (host) => ({ kind: 'openai-chat', baseUrl: `http://${host}/v1`, model: 'dramatis-stand-in' }),
  },
  'fish-speech': {
    role: 'tts',
    script: 'fish_api_server.py',
    settings: (host) => ({ kind: 'fish-speech', baseUrl: `http://${host}` }),
  },
  'gradio-f5': {
    role: 'tts',
    script: 'gradio_f5.py',
    settings: (host, defaultClip) => ({ kind: 'gradio', baseUrl: `http://${host}`, defaultClip }),
  },
  'speaches-asr': {
    role: 'asr',
    script: 'speaches.py',
    settings: (host) => ({
      kind: 'openai-transcriptions',
      dialect: 'speaches',
      baseUrl: `http://${host}/v1`,
      model: 'Systran/faster-distil-whisper-small.en',
    }),
  },
  'speaches-tts': {
    role: 'tts',
    script: 'speaches.py',
    settings: (host) => ({
      kind: 'openai-speech',
      dialect: 'speaches',
      baseUrl: `http://${host}/v1`,
      model: 'speaches-ai/Kokoro-82M-v1.0-ONNX',
    }),
  },
  'speaches-omni': {
    role: 'omni',
    script: 'speaches.py',
    settings: (host) => ({ kind: 'openai-realtime', dialect: 'speaches', baseUrl: `ws://${host}/v1`, model: 'llm' }),
  },
};

const usage = `npm run test:upstream -- NAME --from DIR [--python python3]
NAME: ${Object.keys(engines).join(', ')}. DIR: your checkout of its repository.`;

const { values, positionals } = parseArgs({
  options: { from: { type: 'string' }, python: { type: 'string', default: 'python3' } },
  allowPositionals: true,
});
const engine = engines[positionals[0] ?? ''];
if (engine === undefined || values.from === undefined) {
  console.error(usage);
  process.exit(2);
}

const folder = await mkdtemp(path.join(tmpdir(), 'dramatis-upstream-'));
const port = await freePort();
const script = path.join(import.meta.dirname, engine.script);
const interpreter = script.endsWith('.ts') ? process.execPath : values.python;
const server = spawn(interpreter, [script, path.resolve(values.from), String(port)], { stdio: 'inherit' });
try {
  await listening(server, port);
  const wav = path.join(folder, 'clip.wav');
  await writeWav(wav, tone(5_000, 24_000), 24_000);
  const transcript = 'I keep the house, and I keep its secrets.';
  const clip = { wav, transcript, language: 'en', consent: 'a tone, nobody’s voice' };
  const file = {
    engines: { upstream: engine.settings(`127.0.0.1:${port}`, clip) },
    [engine.role]: ['upstream'],
    references: { '*': clip },
  };
  await writeFile(path.join(folder, 'engines.json'), JSON.stringify(file));
  process.exitCode = await runSuite(path.join(folder, 'engines.json'));
} finally {
  if (server.exitCode === null) {
    server.kill('SIGKILL');
    await once(server, 'exit');
  }
  await rm(folder, { recursive: true });
}

/** Returns the exit status: 1 if a test failed, or if the engine was skipped because its check failed. */
async function runSuite(enginesFile: string): Promise<number> {
  const env = { ...process.env, DRAMATIS_ENGINES: enginesFile };
  const results = path.join(folder, 'results.json');
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile=${results}`];
  const given = ['vitest', 'run', '--config', 'test/live/vitest.config.ts', ...reporters];
  await once(spawn('npx', given, { stdio: 'inherit', env }), 'exit');
  const { numPassedTests: passed, numFailedTests: failed } = JSON.parse(await readFile(results, 'utf8')) as {
    readonly numPassedTests: number;
    readonly numFailedTests: number;
  };
  console.log(`${positionals[0]}: ${passed} passed, ${failed} failed`);
  return passed > 0 && failed === 0 ? 0 : 1;
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port: free } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, 'close');
  return free;
}

/** Waits until the server accepts connections, for a minute at most. */
async function listening(child: ChildProcess, at: number): Promise<void> {
  for (let tries = 0; tries < 600; tries += 1) {
    if (child.exitCode !== null) throw new Error(`the upstream server ended with status ${child.exitCode}`);
    const socket = connect(at, '127.0.0.1');
    const isOpen = await new Promise<boolean>((resolve) => {
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    });
    socket.destroy();
    if (isOpen) return;
    await pause(100);
  }
  throw new Error('the upstream server does not listen');
}
