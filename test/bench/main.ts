import { table } from '../../server/terminal/table.ts';
import type { BenchRow, BenchShare } from './kit/stats.ts';

/** One module per bench; each exports `run`, which yields rows as they are measured. */
const benches: Readonly<
  Record<string, () => Promise<{ run(args: readonly string[]): AsyncIterable<BenchRow | BenchShare> }>>
> = {
  'voice-to-voice': () => import('./load/voice-to-voice.ts'),
  vad: () => import('./engines/vad.ts'),
  endpointing: () => import('./endpointing/endpointing.ts'),
  turns: () => import('./turns/turns.ts'),
  recognizer: () => import('./engines/recognizer.ts'),
  synthesizer: () => import('./engines/synthesizer.ts'),
  visemes: () => import('./visemes/visemes.ts'),
  soak: () => import('./load/soak.ts'),
  network: () => import('./load/network.ts'),
  protocol: () => import('./load/protocol.ts'),
  'first-phrase': () => import('./agents/first-phrase.ts'),
  speculation: () => import('./agents/speculation.ts'),
  simulator: () => import('./simulator.ts'),
  game: () => import('./agents/game.ts'),
  oracle: () => import('./oracle.ts'),
  walk: () => import('./walk.ts'),
  overhead: () => import('./load/overhead.ts'),
  capacity: () => import('./load/capacity.ts'),
  churn: () => import('./load/churn.ts'),
  cluster: () => import('./cluster/cluster.ts'),
  hostile: () => import('./load/hostile.ts'),
  webrtc: () => import('./load/webrtc.ts'),
  embeddings: () => import('./engines/embeddings.ts'),
  adapters: () => import('./engines/adapters.ts'),
  eval: () => import('./engines/eval.ts'),
  data: () => import('./engines/data.ts'),
  jobs: () => import('./jobs/jobs.ts'),
  'eval-text': () => import('./engines/eval-text.ts'),
  memory: () => import('./agents/memory.ts'),
  'memory-kill': () => import('./agents/memory-kill.ts'),
  postgres: () => import('./agents/postgres.ts'),
  prompt: () => import('./agents/prompt.ts'),
  talks: () => import('./agents/talks.ts'),
  'default-mind': () => import('./agents/default-mind.ts'),
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
