import type { BuildReport } from '../runner/build.ts';

/** Formats what the stages of a build took, made and left out. */
export function reportText({ stages, stopped }: BuildReport): string {
  const rows = stages.map((stage) => {
    const left = Object.entries(stage.dropped).map(([reason, count]) => `${count} × ${reason}`);
    const facts = [
      `${stage.in} in, ${stage.out} out`,
      ...(stage.calls > 0 ? [`${stage.calls} calls`, `$${stage.cost.toFixed(2)}`] : []),
      ...(left.length > 0 ? [`left out: ${left.join(', ')}`] : []),
      ...(stage.failed > 0 ? [`failed: ${stage.failed} (${stage.failure ?? ''})`] : []),
    ];
    return `  ${stage.stage.padEnd(12)}${facts.join('; ')}`;
  });
  return [...rows, ...(stopped === null ? [] : [`Stopped: ${stopped}`])].join('\n');
}
