import type { RunProgress } from './runner.ts';

/** Formats a progress line of at most `width` columns: bar, rate, failures, cost so far, and time left. */
export function progressLine(state: RunProgress, { elapsedMs, width }: { elapsedMs: number; width: number }): string {
  const { total, done, failed, doneNow, spentDollars } = state;
  const share = total === 0 ? 1 : Math.min(1, done / total);
  const perSecond = elapsedMs > 0 ? doneNow / (elapsedMs / 1000) : 0;
  const left = Math.max(0, total - done - failed);
  const facts = [
    `${done}/${total}`,
    perSecond >= 10 ? `${perSecond.toFixed(0)}/s` : `${perSecond.toFixed(1)}/s`,
    failed === 0 ? '' : `${failed} failed`,
    spentDollars === 0 ? '' : `$${spentDollars.toFixed(2)}`,
    left === 0 ? '' : perSecond === 0 ? '' : `${duration(left / perSecond)} left`,
  ].filter((text) => text !== '');
  const text = facts.join('  ');
  const barWidth = Math.max(0, Math.min(30, width - text.length - 10));
  const filled = Math.round(share * barWidth);
  const bar = barWidth < 5 ? '' : `${'█'.repeat(filled)}${'░'.repeat(barWidth - filled)} `;
  return `${bar}${String(Math.floor(share * 100)).padStart(3)} %  ${text}`.slice(0, width);
}

function duration(seconds: number): string {
  const whole = Math.ceil(seconds);
  if (whole < 60) return `${whole} s`;
  if (whole < 3_600) return `${Math.ceil(whole / 60)} min`;
  return `${Math.floor(whole / 3_600)} h ${Math.ceil((whole % 3_600) / 60)} min`;
}

/** Terminal or stream that progress is written to. */
export interface ProgressScreen {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

/** Shows progress: on a terminal in place, at most ten times a second; otherwise a line every ten seconds. */
export function openProgress(
  screen: ProgressScreen,
  now: () => number,
): { show(state: RunProgress): void; end(): void } {
  const startMs = now();
  const gapMs = screen.isTTY === true ? 100 : 10_000;
  let shownMs = Number.NEGATIVE_INFINITY;
  let last: RunProgress | undefined;
  const draw = (state: RunProgress): void => {
    shownMs = now();
    const line = progressLine(state, { elapsedMs: shownMs - startMs, width: (screen.columns ?? 100) - 1 });
    screen.write(screen.isTTY === true ? `\r\u001b[K${line}` : `${line}\n`);
  };
  return {
    show(state) {
      last = state;
      if (now() - shownMs >= gapMs) draw(state);
    },
    end() {
      if (last === undefined) return;
      draw(last);
      if (screen.isTTY === true) screen.write('\n');
    },
  };
}
