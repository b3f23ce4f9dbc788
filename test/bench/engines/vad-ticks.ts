/** Scores one window of each stream; settles when all scores are known. */
export type Tick = (windows: readonly Float32Array[]) => Promise<unknown>;

/** Ticks after which code is compiled and buffers are allocated. */
export const warmUpTicks = 40;

const windowSamples = 512;
/** Number of windows averaged for one figure. */
const windowsPerBlock = 1_280;

/** Makes all streams tick together. */
export function tickOf(streams: readonly { score(window: Float32Array): Promise<number> }[]): Tick {
  return (windows) => Promise.all(streams.map((stream, index) => stream.score(windows[index] as Float32Array)));
}

/** Microseconds of CPU, of all threads of this process, per stream and window. */
export async function cpuPerWindow(tick: Tick, windows: readonly Float32Array[]): Promise<number> {
  const ticks = Math.ceil(windowsPerBlock / windows.length);
  const before = process.cpuUsage();
  for (let index = 0; index < ticks; index += 1) await tick(windows);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / (ticks * windows.length);
}

/** A window of 32 ms at 16 kHz for each of `count` streams. */
export function noise(count: number): Float32Array[] {
  const value = (): number => Math.random() * 0.2 - 0.1;
  return Array.from({ length: count }, () => Float32Array.from({ length: windowSamples }, value));
}
