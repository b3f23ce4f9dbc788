import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { SharedLog, type LogCommands, type Verdict } from '../../../server/cluster/shared-log.ts';
import { journalVersion, type JournalLine } from '../../../server/journal/lines.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

/** A store that does not answer the first `failures` writes; tells what it has been asked. */
function store(failures: number) {
  const asked: string[] = [];
  let left = failures;
  const write = (what: string): Promise<Verdict> => {
    asked.push(what);
    left -= 1;
    return left >= 0 ? Promise.reject(new Error('no answer')) : Promise.resolve('written');
  };
  const commands: LogCommands = {
    append: (from, to, rows) => write(`append ${from} ${to} ${rows.length}`),
    replace: (to, rows) => write(`replace ${to} ${rows.length}`),
    release: () => {
      asked.push('release');
      return Promise.resolve('written');
    },
    remove: () => Promise.resolve('written'),
  };
  return { asked, commands };
}

const lines: JournalLine[] = [
  { type: 'open', id: 'sess_1', character: 'alice', model: 'alice' },
  { type: 'taken', sequence: 1 },
];
const calls = { onFault: () => undefined, onTaken: () => undefined, onOver: () => undefined, isAwake: () => true };

describe('SharedLog', () => {
  it('leaves a session when the store has all of it: the last turns were lost if it was silent just then', async () => {
    const { asked, commands } = store(2);
    const log = new SharedLog(commands, calls, { position: 1, lines: lines.slice(0, 1) });
    log.write(lines.slice(1));
    const left = log.close();
    await vi.runAllTimersAsync();
    await left;
    expect(asked).toEqual(['append 1 2 1', 'replace 2 2', 'replace 2 2', 'release']);
  });

  it('drops the sound of phrases that have been heard, however long the conversation is', async () => {
    const { commands } = store(0);
    const log = new SharedLog(commands, calls, { position: 1, lines: lines.slice(0, 1) });
    const most: number[] = [];
    const rows: string[] = [];
    commands.append = async (_from, _to, added) => {
      rows.push(...added);
      most.push(rows.filter((row) => row.includes('"sound"')).length);
      return 'written';
    };
    commands.replace = async (_to, all) => {
      rows.splice(0, rows.length, ...all);
      return 'written';
    };
    for (let reply = 0; reply < 100; reply += 1) {
      const replyId = `resp_${reply}`;
      const sound = { type: 'sound', text: 'Yes.', before: '', packets: [], delaySamples: 0, pieces: [] } as const;
      log.write([
        { type: 'started', replyId },
        { ...sound, packets: [], pieces: [] },
        { type: 'ended', replyId },
      ]);
      await log.idle();
    }
    expect(Math.max(...most)).toBeLessThanOrEqual(12);
    expect(rows.filter((row) => row.includes('"sound"')).length).toBeLessThanOrEqual(12);
  });

  it('leaves it all the same if the store stays silent', async () => {
    const { asked, commands } = store(Infinity);
    const log = new SharedLog(commands, calls, { position: 1, lines: lines.slice(0, 1) });
    log.write(lines.slice(1));
    const left = log.close();
    await vi.runAllTimersAsync();
    await left;
    expect(asked.at(-1)).toBe('release');
  });

  it('marks the journal of an older version as its own before it adds lines: the older one cannot read these', async () => {
    const { commands } = store(0);
    const written: string[][] = [];
    const replace: LogCommands['replace'] = (_, rows) => {
      written.push([...rows]);
      return Promise.resolve('written');
    };
    const older = [{ ...lines[0], version: journalVersion - 1 } as JournalLine];
    const log = new SharedLog({ ...commands, replace }, calls, { position: 1, lines: older });
    log.write(lines.slice(1));
    await log.idle();
    expect(written.map((rows) => rows.map((row) => JSON.parse(row) as unknown))).toEqual([
      [{ ...lines[0], version: journalVersion }, lines[1]],
    ]);
  });
});
