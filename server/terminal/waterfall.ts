import { latencyComponents, type Latency } from '../session/contract/turn-timings.ts';
import { latencyComponentNames } from './stage-names.ts';

/** Renders a latency breakdown as a waterfall: each component starts where the previous one ended. */
export function waterfall({ owners: shares, total_ms: totalMs }: Latency, width = 40): string {
  const scale = width / Math.max(1, totalMs);
  let fromMs = 0;
  const rows = latencyComponents.flatMap((owner) => {
    const ms = shares[owner];
    if (ms === null) return [];
    const start = Math.min(width - 1, Math.round(fromMs * scale));
    fromMs += ms;
    const end = ms < 0.5 ? start : Math.max(start + 1, Math.round(fromMs * scale));
    return [row(latencyComponentNames[owner], ' '.repeat(start) + '█'.repeat(end - start), ms, width)];
  });
  return [...rows, row('total', '', totalMs, width)].join('\n');
}

function row(name: string, bar: string, ms: number, width: number): string {
  return `  ${name.padEnd(16)} ${bar.padEnd(width)} ${ms.toFixed(0).padStart(6)} ms`;
}
