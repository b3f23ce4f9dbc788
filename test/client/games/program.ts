import { spawn, spawnSync } from 'node:child_process';
import { createInterface } from 'node:readline';

/** True if a program of the game clients' tests is installed; warns if it is not. */
export function hasProgram(command: string, test: string, debianPackage: string): boolean {
  const isThere = spawnSync(command, ['--version']).status === 0;
  if (!isThere) console.warn(`Skipped: ${test}. There is no ${command} (Debian package ${debianPackage}).`);
  return isThere;
}

/** Runs a compiler or another program to its end; throws with what it wrote if it fails. */
export function runProgram(command: string, args: readonly string[]): void {
  const { status, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${command} failed:\n${stdout}${stderr}`);
}

/** A program that reads commands and writes lines. */
export function startProgram(command: string, args: readonly string[]) {
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines: string[] = [];
  const waiting = new Set<() => void>();
  let hasEnded = false;
  const look = (): void => waiting.forEach((each) => each());
  createInterface({ input: child.stdout }).on('line', (line) => {
    lines.push(line);
    look();
  });
  const ended = new Promise<void>((resolve) => {
    child.once('close', () => {
      hasEnded = true;
      look();
      resolve();
    });
  });
  return {
    lines,
    ended,
    write: (line: string) => void child.stdin.write(`${line}\n`),
    /** Resolves to the n-th line that begins so; rejects if the program ends before. */
    until: (start: string, count = 1) =>
      new Promise<string>((resolve, reject) => {
        const check = (): void => {
          const line = lines.filter((each) => each.startsWith(start))[count - 1];
          if (line === undefined && !hasEnded) return;
          waiting.delete(check);
          if (line === undefined) reject(new Error(`the program ended before "${start}":\n${lines.join('\n')}`));
          else resolve(line);
        };
        waiting.add(check);
        check();
      }),
    kill: () => void child.kill('SIGKILL'),
  };
}
