import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import recorder, { type Recording } from 'node-record-lpcm16';
import { wireSampleRate } from '../../protocol/limits.ts';
import type { PcmSink } from './terminal-speaker.ts';

const rate = String(wireSampleRate);

/** Programs that play raw 16-bit mono PCM from standard input, best first. */
const players: Readonly<Record<string, readonly string[]>> = {
  'pw-cat': ['--playback', '--format=s16', `--rate=${rate}`, '--channels=1', '-'],
  pacat: ['--playback', '--format=s16le', `--rate=${rate}`, '--channels=1', '--latency-msec=60'],
  aplay: ['-q', '-t', 'raw', '-f', 'S16_LE', '-r', rate, '-c', '1', '-'],
  play: ['-q', '-t', 'raw', '-e', 'signed', '-b', '16', '-c', '1', '-r', rate, '-'],
  ffplay: ['-loglevel', 'quiet', '-nodisp', '-autoexit', '-f', 's16le', '-ar', rate, '-ac', '1', '-'],
};

/** Programs that `node-record-lpcm16` can record with, best first. */
const recorders = ['rec', 'sox', 'arecord'] as const;

export type Recorder = (typeof recorders)[number];

/** Returns the first installed player. */
export function findPlayer(): string | undefined {
  return Object.keys(players).find(isInstalled);
}

/** Returns the first installed recorder. */
export function findRecorder(): Recorder | undefined {
  return recorders.find(isInstalled);
}

/** Advice if a player or recorder is missing. */
export const soundToolsRemedy =
  'Install SoX (Debian: apt install sox; macOS: brew install sox) or ALSA’s tools (alsa-utils).';

/** Starts to record 16-bit mono PCM at the wire's sample rate. The stream fails as soon as the program ends. */
export function openRecorder(program: Recorder): Recording {
  const options = { sampleRate: wireSampleRate, channels: 1, audioType: 'raw', threshold: 0 } as const;
  const recording = recorder.record({ ...options, recorder: program });
  const stream = recording.stream();
  // The package reports only a status other than 0.
  recording.process.once('close', (status) => status === 0 && stream.emit('error', new Error(`${program} has ended`)));
  recording.process.once('error', (fault) => stream.emit('error', fault));
  return recording;
}

/** Opens the microphone and waits for its first audio. Throws what the program said if there is none. */
export async function tryRecorder(program: Recorder, signal: AbortSignal): Promise<void> {
  const recording = openRecorder(program);
  try {
    await once(recording.stream(), 'data', { signal });
  } finally {
    recording.stream().on('error', () => undefined);
    recording.stop();
  }
}

/** Plays audio and resolves to the program's exit status. */
export async function playToEnd(program: string, pcm16: Uint8Array): Promise<number> {
  const child = spawn(program, [...(players[program] ?? [])], { stdio: ['pipe', 'ignore', 'inherit'] });
  child.stdin.on('error', () => undefined);
  child.stdin.end(pcm16);
  const [status] = (await once(child, 'close')) as [number | null];
  return status ?? 1;
}

/** Streams audio to a player program, which is restarted if it ends before more audio arrives. */
export class PlayerProcess implements PcmSink {
  readonly #program: string;
  #child: ChildProcess | undefined;

  constructor(program: string) {
    this.#program = program;
  }

  write(pcm16: Uint8Array): void {
    this.#child ??= this.#start();
    this.#child.stdin?.write(pcm16);
  }

  flush(): void {
    this.#child?.kill('SIGKILL');
    this.#child = undefined;
  }

  #start(): ChildProcess {
    const child = spawn(this.#program, [...(players[this.#program] ?? [])], { stdio: ['pipe', 'ignore', 'ignore'] });
    child.stdin?.on('error', () => undefined);
    child.on('error', () => undefined);
    child.once('close', () => {
      if (this.#child === child) this.#child = undefined;
    });
    return child;
  }
}

function isInstalled(program: string): boolean {
  const finder = process.platform === 'win32' ? 'where' : 'which';
  return spawnSync(finder, [program], { stdio: 'ignore' }).status === 0;
}
