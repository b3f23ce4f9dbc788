/** Progress of a long job on standard error: on a terminal one line drawn in place, otherwise a line per step. */
export interface ProgressBar {
  /** Shows `done` of `of` units, with a label. */
  show(done: number, of: number, label: string): void;
  /** Ends the line on a terminal. */
  end(): void;
}

const barColumns = 24;

/**
 * Opens a bar that measures its rate from now. `now` is in milliseconds; `already` units were done before; `unit` is
 * such as `s of speech`.
 */
export function openProgressBar(
  unit: string,
  target: Pick<NodeJS.WriteStream, 'write' | 'isTTY'> = process.stderr,
  now: () => number = () => performance.now(),
  already = 0,
): ProgressBar {
  const startMs = now();
  let isOpen = false;
  return {
    show(done, of, label) {
      const line = progressLine({ done, of, label, unit, elapsedMs: now() - startMs, already });
      target.write(target.isTTY ? `\r\u001B[2K${line}` : `${line}\n`);
      isOpen = target.isTTY;
    },
    end() {
      if (isOpen) target.write('\n');
      isOpen = false;
    },
  };
}

/** Formats a bar, the label, the rate, and the remaining time at that rate. */
export function progressLine(state: {
  readonly done: number;
  readonly of: number;
  readonly label: string;
  readonly unit: string;
  readonly elapsedMs: number;
  /** Units done before this run; they do not count for the rate. */
  readonly already?: number;
}): string {
  const { done, of, label, unit, elapsedMs, already = 0 } = state;
  const share = of === 0 ? 1 : Math.min(1, done / of);
  const full = Math.round(share * barColumns);
  const rate = elapsedMs > 0 ? (done - already) / (elapsedMs / 1000) : 0;
  const left = rate > 0 ? clockOf((of - done) / rate) : '?';
  const pace =
    rate >= 0.5 || rate === 0 ? `${rate.toFixed(1)} ${unit} a second` : `${(60 * rate).toFixed(1)} ${unit} a minute`;
  return `[${'█'.repeat(full)}${'░'.repeat(barColumns - full)}] ${label} · ${pace} · ${left} left`;
}

function clockOf(seconds: number): string {
  const whole = Math.ceil(seconds);
  const [minutes, rest] = [Math.floor(whole / 60), whole % 60];
  return `${minutes}:${String(rest).padStart(2, '0')}`;
}
