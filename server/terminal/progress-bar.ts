/** How far a long job is, on standard error: one line that is written over on a terminal, else a line for each step. */
export interface ProgressBar {
  /** `done` of `of` units; `rate` says what a unit is, such as `s of speech`. */
  show(done: number, of: number, label: string): void;
  /** Ends the line. */
  end(): void;
}

const barColumns = 24;

/** Opens a bar that counts its rate from now. `now` in milliseconds; `already` units were done before. */
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

/** A bar, what is done, how fast it goes, and how long the rest takes at that pace. */
export function progressLine(state: {
  readonly done: number;
  readonly of: number;
  readonly label: string;
  readonly unit: string;
  readonly elapsedMs: number;
  /** Units that were done before; they say nothing about the pace. */
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
