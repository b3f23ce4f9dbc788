import { table } from '../../server/terminal/table.ts';
import type { BenchRow, BenchShare } from './stats.ts';

/** One module per bench; each exports `run`, which yields rows as they are measured. */
const benches: Readonly<
  Record<string, () => Promise<{ run(args: readonly string[]): AsyncIterable<BenchRow | BenchShare> }>>
> = {
  'voice-to-voice': () => import('./voice-to-voice.ts'),
  vad: () => import('./vad.ts'),
  endpointing: () => import('./endpointing.ts'),
  turns: () => import('./turns.ts'),
  recognizer: () => import('./recognizer.ts'),
  synthesizer: () => import('./synthesizer.ts'),
  soak: () => import('./soak.ts'),
  network: () => import('./network.ts'),
  protocol: () => import('./protocol.ts'),
  speculation: () => import('./speculation.ts'),
  simulator: () => import('./simulator.ts'),
  oracle: () => import('./oracle.ts'),
  overhead: () => import('./overhead.ts'),
  capacity: () => import('./capacity.ts'),
  webrtc: () => import('./webrtc.ts'),
  embeddings: () => import('./embeddings.ts'),
  adapters: () => import('./adapters.ts'),
  eval: () => import('./eval.ts'),
  memory: () => import('./memory.ts'),
  'memory-kill': () => import('./memory-kill.ts'),
  mind: () => import('./mind.ts'),
  talks: () => import('./talks.ts'),
};

const args = process.argv.slice(2);
const name = args.find((arg) => !arg.startsWith('--')) ?? '';
const load = benches[name];
if (load === undefined) {
  console.error(`Usage: npm run bench -- NAME [--json]\nBenches: ${Object.keys(benches).join(', ')}`);
  process.exitCode = 2;
} else {
  const rows: (BenchRow | BenchShare)[] = [];
  for await (const row of (await load()).run(args.filter((arg) => arg !== name))) {
    rows.push(row);
    if (args.includes('--json')) console.log(JSON.stringify(row));
  }
  if (!args.includes('--json')) {
    const shares = rows.flatMap((row) =>
      'share' in row ? [[row.metric, row.n, row.failures, row.share, `${row.low}–${row.high}`].map(String)] : [],
    );
    if (shares.length > 0) console.log(`${table(['metric', 'n', 'failures', 'share', '95 %'], shares)}\n`);
    const spreads = rows.flatMap((row) =>
      'share' in row ? [] : [[row.metric, row.unit, row.n, row.median, row.p95, row.p99].map(String)],
    );
    console.log(table(['metric', 'unit', 'n', 'median', 'p95', 'p99'], spreads));
  }
}
