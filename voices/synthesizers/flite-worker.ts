import { workerData } from 'node:worker_threads';
import { floatsFromPcm16 } from '../audio.ts';
import { EngineError } from '../engine.ts';
import { gainFor } from '../dsp/loudness.ts';
import type { TimedPhone } from '../synthesizer.ts';
import { ipaFromArpabet } from '../visemes/phone-table.ts';
import { serveWorker } from '../runtime/worker-serve.ts';
import { finishSpeech, type RenderedSpeech } from '../synthesis/finish-speech.ts';
import type { FliteRequest, FliteSettings, FliteWorkerData } from './flite.ts';
import { loadWasiCommand, type WasiCommand } from './memory-wasi.ts';

const { module, sampleRate } = workerData as FliteWorkerData;

/** Text spoken once per voice and pitch to measure its loudness. */
const levelText = 'How are you, my good friend?';
const headerBytes = 44;
const sampleRateOffset = 24;

const gains = new Map<string, number>();
let spare: WasiCommand | undefined;

serveWorker<FliteRequest, RenderedSpeech>(async ({ settings, say, text }) => {
  const gain = gainOf(settings);
  if (say === undefined || text === undefined) {
    spare ??= loadWasiCommand(module);
    return { reply: { samples: new Float32Array(0), words: [] } };
  }
  const { samples, sampleRate: madeRate, phones } = synthesize(say, settings);
  const pauses = phones.filter(({ sound }) => sound === '');
  const raw = { text, samples, sampleRate: madeRate, hints: { pauses, phones } };
  const reply = finishSpeech(raw, { sampleRate, gain, rate: settings.rate });
  // Loads an instance for the next phrase, after this answer is sent.
  setImmediate(() => (spare ??= loadWasiCommand(module)));
  return { reply, transfer: [reply.samples.buffer] };
});

function gainOf(settings: FliteSettings): number {
  const key = `${settings.voice} ${settings.f0Shift}`;
  const gain = gains.get(key) ?? gainFor(synthesize(levelText, { ...settings, stretch: 1 }).samples);
  gains.set(key, gain);
  return gain;
}

/** Synthesizes a text. The rate of the result is a multiple of 100, which keeps resampling cheap. */
function synthesize(
  say: string,
  settings: FliteSettings,
): { samples: Float32Array; sampleRate: number; phones: readonly TimedPhone[] } {
  const command = spare ?? loadWasiCommand(module);
  spare = undefined;
  const pitch = `f0_shift=${settings.f0Shift.toFixed(4)}`;
  const tempo = `duration_stretch=${settings.stretch.toFixed(4)}`;
  const options = [`-psdur -voice ${settings.voice} --setf ${pitch} --setf ${tempo} -o /speech.wav -t`.split(' '), say];
  const { files, stdout, exitCode } = command.run(['flite', ...options.flat()]);
  const wave = files.get('speech.wav');
  if (exitCode !== 0 || wave === undefined || wave.length < headerBytes) {
    throw new EngineError('flite', 'ENGINE_BAD_REPLY', `Flite returned no audio, exit code ${exitCode}`);
  }
  const madeRate = new DataView(wave.buffer, wave.byteOffset).getUint32(sampleRateOffset, true);
  return {
    samples: floatsFromPcm16(wave.subarray(headerBytes)),
    sampleRate: Math.round((madeRate * settings.timbreShift) / 100) * 100,
    phones: phonesIn(stdout, settings.timbreShift),
  };
}

/** Reads `-psdur` output, `pau:0.2 ax:0.3 ...`: each sound with its end in seconds. */
function phonesIn(printed: string, timbreShift: number): TimedPhone[] {
  let startMs = 0;
  const entries = printed.trim().split(/\s+/);
  return entries.flatMap((entry) => {
    const [name = '', seconds] = entry.split(':');
    const endMs = (Number(seconds) * 1000) / timbreShift;
    if (!Number.isFinite(endMs)) return [];
    const phone = { sound: ipaFromArpabet(name) ?? name, startMs, endMs };
    startMs = endMs;
    return [phone];
  });
}
