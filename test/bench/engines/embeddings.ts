import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { concatSamples, type AudioFrame } from '../../../voices/audio.ts';
import { kaldiFbank } from '../../../voices/dsp/fbank.ts';
import { findFfmpeg } from '../../../voices/dsp/ffmpeg.ts';
import { openDnsmos } from '../../../voices/quality/dnsmos.ts';
import { dnsmosMel, dnsmosWindowSamples } from '../../../voices/quality/dnsmos-features.ts';
import { resample } from '../../../voices/dsp/resampler.ts';
import { openOnnxSpeaker } from '../../../voices/speakers/onnx-speaker.ts';
import { openFlite } from '../../../voices/synthesizers/flite.ts';
import { silence } from '../../fakes/vad.ts';
import { voiceLike } from '../../fakes/voice-like.ts';
import { sharedPath } from '../../shared.ts';
import { callInRealTime, framesOf, openCallers, startFakeServer, type Notes } from '../load/callers.ts';
import { writeEmbeddingSized } from './embedding-model.ts';
import { naiveFbank, naiveResample } from './naive-sound.ts';
import { summarize, type BenchRow } from '../kit/stats.ts';
import { spoken } from '../../fakes/spoken.ts';

const bench = 'embeddings';
const rounds = 7;
const loopResolutionMs = 10;
const perCpu = 's of sound per CPU s';
const { signal } = new AbortController();
const weights = sharedPath('models/dnsmos_sig_bak_ovr.onnx');
const hasWeights = existsSync(weights);

/**
 * The cost of rating voices: features and resampling, against naive versions and ffmpeg; DNSMOS (if its weights are
 * there) and a model of CAM++'s size, alone and in micro-batches; and the delay of a live session's event loop at the
 * same time. `--seconds N` sets the duration of that, `--live` runs nothing else.
 */
export async function* run(args: readonly string[]): AsyncIterable<BenchRow> {
  const seconds = args.includes('--seconds') ? Number(args[args.indexOf('--seconds') + 1]) : 30;
  if (!hasWeights) console.error('DNSMOS is not measured: its weights are not in ../shared/models.');
  const folder = await mkdtemp(path.join(tmpdir(), 'dramatis-bench-embeddings-'));
  try {
    const model = path.join(folder, 'embedding-sized.onnx');
    await writeEmbeddingSized(model);
    if (!args.includes('--live')) {
      yield* features();
      yield* resampling(folder);
      yield* embedding(model);
      if (hasWeights) yield* quality();
    }
    yield* live(model, seconds);
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function* features(): AsyncIterable<BenchRow> {
  const minute = voiceLike(60_000, 16_000);
  const second = minute.subarray(0, 16_000);
  yield summarize(bench, 'fbank', perCpu, await rates(60, () => kaldiFbank(minute)));
  yield summarize(bench, 'fbank, naive', perCpu, await rates(1, () => naiveFbank(second)));
  const window = minute.subarray(0, dnsmosWindowSamples);
  yield summarize(bench, 'DNSMOS mel', perCpu, await rates(9, () => dnsmosMel(window)));
}

async function* resampling(folder: string): AsyncIterable<BenchRow> {
  const tenMinutes = 600;
  for (const from of [24_000, 44_100, 48_000]) {
    const minute = voiceLike(60_000, from);
    const what = `resample ${from / 1000} → 16 kHz`;
    yield summarize(bench, what, perCpu, await rates(60, () => resample(minute, from, 16_000)));
    const second = minute.subarray(0, from);
    yield summarize(bench, `${what}, naive`, perCpu, await rates(1, () => naiveResample(second, from, 16_000)));
    const file = path.join(folder, `${from}.f32`);
    const long = concatSamples(Array.from({ length: tenMinutes / 60 }, () => minute));
    await writeFile(file, new Uint8Array(long.buffer));
    const costs: number[] = [];
    for (let round = 0; round < rounds; round += 1) costs.push(tenMinutes / (await ffmpegSeconds(file, from)));
    yield summarize(bench, `${what}, ffmpeg`, perCpu, costs);
  }
}

/** CPU seconds as counted by ffmpeg itself, which excludes its start. */
async function ffmpegSeconds(file: string, from: number): Promise<number> {
  const input = ['-f', 'f32le', '-ar', String(from), '-ac', '1', '-i', file];
  const output = ['-ar', '16000', '-f', 'f32le', '-y', '/dev/null'];
  const { stderr } = await promisify(execFile)((await findFfmpeg()).path, [
    '-benchmark',
    '-threads',
    '1',
    ...input,
    ...output,
  ]);
  const [, user = '', system = ''] = /utime=([\d.]+)s stime=([\d.]+)s/.exec(stderr) ?? [];
  return Number(user) + Number(system);
}

/** Clips of three seconds, sixteen at a time. */
async function* embedding(modelPath: string): AsyncIterable<BenchRow> {
  const clips = Array.from({ length: 16 }, () => frameOf(voiceLike(3_000, 16_000)));
  for (const mostClips of [1, 8]) {
    const encoder = await openOnnxSpeaker({ modelPath, signal, mostClips });
    const all = (): Promise<unknown> => Promise.all(clips.map((clip) => encoder.embed(clip, { signal })));
    await all();
    const what = `embedding-sized, ${mostClips} in a run`;
    yield summarize(bench, what, perCpu, await rates(3 * clips.length, all));
    await encoder.close();
  }
}

async function* quality(): AsyncIterable<BenchRow> {
  const clips = Array.from({ length: 4 }, () => frameOf(voiceLike(10_000, 16_000)));
  for (const mostWindows of [1, 4]) {
    const meter = await openDnsmos({ modelPath: weights, signal, mostWindows });
    const all = (): Promise<unknown> => Promise.all(clips.map((clip) => meter.rate(clip, { signal })));
    await all();
    yield summarize(bench, `DNSMOS P.835, ${mostWindows} in a run`, perCpu, await rates(10 * clips.length, all));
    await meter.close();
  }
}

/** One talking session on a server that rates voices without a break. */
async function* live(embedder: string, seconds: number): AsyncIterable<BenchRow> {
  const cycle = framesOf(concatSamples([await question(), silence(4_000)]));
  for (const [what, job] of [
    ['no job', []],
    ['embedding job', ['embed', embedder]],
    ...(hasWeights ? ([['DNSMOS job', ['dnsmos', weights]]] as const) : []),
  ] as const) {
    const server = await startFakeServer('silero', job);
    const notes: Notes = { firstAudioMs: [], lateMs: [], dropped: 0 };
    const callers = await openCallers(server, 1, cycle, notes);
    const stop = callInRealTime(callers);
    await pause(5_000);
    await server.usage();
    notes.lateMs.length = 0;
    const own = monitorEventLoopDelay({ resolution: loopResolutionMs });
    own.enable();
    await pause(seconds * 1_000);
    const { loopDelayMs, ownDelayMs, jobs } = await server.usage();
    own.disable();
    stop();
    for (const caller of callers) caller.close();
    server.stop();
    const clientDelayMs = Math.max(0, own.percentile(99) / 1e6 - loopResolutionMs);
    yield summarize(bench, `live, ${what}: event loop late, p99`, 'ms', [loopDelayMs]);
    yield summarize(bench, `live, ${what}: for work of its own, p99`, 'ms', [ownDelayMs]);
    // Another process that is almost idle: its delay is due to a lack of processors.
    yield summarize(bench, `live, ${what}: event loop of the client late, p99`, 'ms', [clientDelayMs]);
    yield summarize(bench, `live, ${what}: piece of a reply late`, 'ms', notes.lateMs);
    yield summarize(bench, `live, ${what}: clips judged`, 'count', [jobs]);
  }
}

/** Speech that the real VAD detects. */
async function question(): Promise<Float32Array> {
  const flite = openFlite();
  const voice = { kind: 'preset', id: 'rms' } as const;
  const samples = await spoken('Good evening. What are you most afraid of?', { synthesizer: flite, voice });
  await flite.close();
  return samples;
}

/** Seconds of audio per CPU second of all threads, measured several times. */
async function rates(soundSeconds: number, work: () => unknown): Promise<number[]> {
  await work();
  const found: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const before = process.cpuUsage();
    const startMs = performance.now();
    let times = 0;
    // Long enough for the resolution of the CPU clock.
    for (; times === 0 || performance.now() - startMs < 300; times += 1) await work();
    const { user, system } = process.cpuUsage(before);
    found.push((soundSeconds * times * 1e6) / (user + system));
  }
  return found;
}

function frameOf(samples: Float32Array): AudioFrame {
  return { samples, sampleRate: 16_000, atMs: 0 };
}
