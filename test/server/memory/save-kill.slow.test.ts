import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { expect, it } from 'vitest';
import type { Save } from '../../../server/memory/saves.ts';
import { dataFolder } from '../../rigs/memory-rig.ts';
import { userOf } from './save-process.ts';

/** Kills in CI; `DRAMATIS_TEST_KILLS=200` for as many as the design promises. */
const kills = Number(process.env['DRAMATIS_TEST_KILLS'] ?? 5);

it('has after a kill at any moment the whole of one save: the last acknowledged, or the one that was being loaded', async () => {
  const dataDir = dataFolder();
  let acknowledged = 0;
  let asked = 0;
  const outcomes = { old: 0, new: 0 };
  for (let round = 0; round <= kills; round += 1) {
    const child = spawn(process.execPath, [path.join(import.meta.dirname, 'save-process.ts'), dataDir], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const exited = once(child, 'exit');
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const found = JSON.parse((await lines.next()).value as string) as Save;
    const { turns, facts, state } = found;
    if (round > 0) {
      expect([acknowledged, asked]).toContain(turns.length);
      outcomes[turns.length === acknowledged ? 'old' : 'new'] += 1;
      const whole = userOf(turns.length);
      expect({ turns, facts }).toEqual({ turns: whole.turns, facts: whole.facts });
      expect(state).toEqual({ alice: { feelings: { turns: turns.length } } });
    }
    acknowledged = turns.length;
    const tell = async (count: number): Promise<void> => {
      child.stdin.write(`${count}\n`);
      await lines.next();
      acknowledged = count;
    };
    await tell(50 + ((round * 37) % 100));
    // One more is on its way when it dies, after a time that differs from round to round.
    asked = 400 + round;
    child.stdin.write(`${asked}\n`);
    if (round % 5 === 4) await lines.next().then(() => (acknowledged = asked));
    else await new Promise((resolve) => setTimeout(resolve, (round * 7) % 40));
    child.kill('SIGKILL');
    await exited;
  }
  expect(outcomes.old + outcomes.new).toBe(kills);
}, 600_000);
