import { table } from '../../server/cli/table.ts';
import type { BenchRow } from './stats.ts';

/** One module a bench; each exports `run`, which yields rows as they are known. */
const benches: Readonly<Record<string, () => Promise<{ run(args: readonly string[]): AsyncIterable<BenchRow> }>>> = {
  'voice-to-voice': () => import('./voice-to-voice.ts'),
  vad: () => import('./vad.ts'),
  endpointing: () => import('./endpointing.ts'),
  recognizer: () => import('./recognizer.ts'),
  synthesizer: () => import('./synthesizer.ts'),
  soak: () => import('./soak.ts'),
  network: () => import('./network.ts'),
  protocol: () => import('./protocol.ts'),
  adapters: () => import('./adapters.ts'),
};

const args = process.argv.slice(2);
const name = args.find((arg) => !arg.startsWith('--')) ?? '';
const load = benches[name];
if (load === undefined) {
  console.error(`Usage: npm run bench -- NAME [--json]\nBenches: ${Object.keys(benches).join(', ')}`);
  process.exitCode = 2;
} else {
  const rows: BenchRow[] = [];
  for await (const row of (await load()).run(args.filter((arg) => arg !== name))) {
    rows.push(row);
    if (args.includes('--json')) console.log(JSON.stringify(row));
  }
  if (!args.includes('--json')) {
    const cells = rows.map((row) => [row.metric, row.unit, row.n, row.median, row.p95, row.p99].map(String));
    console.log(table(['metric', 'unit', 'n', 'median', 'p95', 'p99'], cells));
  }
}
