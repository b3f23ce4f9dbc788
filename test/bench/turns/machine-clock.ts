/** Monotonic milliseconds on a clock shared by all processes of this machine. */
export function machineClockMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
