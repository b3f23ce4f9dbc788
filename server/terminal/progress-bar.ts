/** Progress of a long job on standard error: on a terminal one line drawn in place, otherwise a line per tenth. */
export interface ProgressBar {
  show(state: ProgressState): void;
  /** Draws the last state, if it was not drawn, and ends the line on a terminal. */
  end(): void;
}

/** Progress of a job. */
export interface ProgressState {
  readonly done: number;
  readonly of: number;
  /** Facts that follow the bar, such as `12 of 40 files`; empty ones are left out. */
  readonly facts: readonly string[];
}

/** Terminal or stream that progress is written to. */
export interface ProgressTarget {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

const frameMs = 100;
const silenceMs = 10_000;

/**
 * Opens a bar that measures its rate from now on. `unit` is such as `MB`; `already` units were done before and do not
 * count for the rate. On a terminal it is drawn ten times a second at most.
 */
export function openProgressBar({
  unit = '',
  already = 0,
  target = process.stderr,
  now = () => performance.now(),
}: {
  readonly unit?: string;
  readonly already?: number;
  readonly target?: ProgressTarget;
  readonly now?: () => number;
} = {}): ProgressBar {
  const startMs = now();
  const isTerminal = target.isTTY === true;
  let [drawnMs, drawnTenth] = [Number.NEGATIVE_INFINITY, -1];
  let isOpen = false;
  let waiting: ProgressState | undefined;
  const draw = (state: ProgressState): void => {
    waiting = undefined;
    [drawnMs, drawnTenth] = [now(), tenthOf(state)];
    const elapsedMs = drawnMs - startMs;
    const line = progressLine(state, { unit, already, elapsedMs, width: (target.columns ?? 120) - 1 });
    target.write(isTerminal ? `\r\u001B[2K${line}` : `${line}\n`);
    isOpen = isTerminal;
  };
  return {
    show(state) {
      const silentMs = now() - drawnMs;
      const isDue = isTerminal ? silentMs >= frameMs : tenthOf(state) > drawnTenth || silentMs >= silenceMs;
      if (isDue || state.done >= state.of) draw(state);
      else waiting = state;
    },
    end() {
      if (waiting !== undefined) draw(waiting);
      if (isOpen) target.write('\n');
      isOpen = false;
    },
  };
}

/** Formats bar, percentage, facts, rate, and the remaining time at that rate, in at most `width` columns. */
export function progressLine(
  state: ProgressState,
  how: { readonly unit: string; readonly already: number; readonly elapsedMs: number; readonly width: number },
): string {
  const { done, of } = state;
  const share = shareOf(state);
  const perSecond = how.elapsedMs > 0 ? (done - how.already) / (how.elapsedMs / 1000) : 0;
  const left = Math.max(0, of - done);
  const facts = [
    ...state.facts,
    rateText(perSecond, how.unit),
    left === 0 || perSecond <= 0 ? '' : `${durationText(left / perSecond)} left`,
  ];
  const text =
    `${String(Math.floor(share * 100)).padStart(3)} %  ${facts.filter((fact) => fact !== '').join('  ')}`.trimEnd();
  const barColumns = Math.min(30, how.width - text.length - 1);
  const filled = Math.round(share * barColumns);
  const bar = barColumns < 5 ? '' : `${'█'.repeat(filled)}${'░'.repeat(barColumns - filled)} `;
  return `${bar}${text}`.slice(0, how.width);
}

function shareOf({ done, of }: ProgressState): number {
  return of === 0 ? 1 : Math.min(1, done / of);
}

function tenthOf(state: ProgressState): number {
  return Math.floor(10 * shareOf(state));
}

function rateText(perSecond: number, unit: string): string {
  if (perSecond <= 0) return '';
  const [rate, time] = perSecond >= 0.5 ? [perSecond, 's'] : [60 * perSecond, 'min'];
  return `${rate.toFixed(rate >= 10 ? 0 : 1)}${unit === '' ? '' : ` ${unit}`}/${time}`;
}

function durationText(seconds: number): string {
  const whole = Math.ceil(seconds);
  if (whole < 60) return `${whole} s`;
  if (whole < 3_600) return `${Math.ceil(whole / 60)} min`;
  return `${Math.floor(whole / 3_600)} h ${Math.ceil((whole % 3_600) / 60)} min`;
}
