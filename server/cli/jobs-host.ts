import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import path from 'node:path';
import type { JobsHost } from '../../eval/host.ts';
import { settings } from '../config/config.ts';

const source = path.join(import.meta.dirname, '../main.ts');
const compiled = path.join(import.meta.dirname, '../main.js');

/** Starts workers of runs, and their Redis, as processes that end with this one. */
export const jobsHost: JobsHost = {
  async startRedis() {
    const { startLocalRedis } = await import('../cluster/local-redis.ts');
    return startLocalRedis();
  },
  startWorker({ url, secrets }) {
    const keys = Object.entries(secrets).map(([name, value]) => [
      settings.find((setting) => setting.name === name)?.env ?? name,
      String(value),
    ]);
    // Through the environment, because the arguments of a process can be seen by all users of the machine.
    const env = { ...process.env, ...Object.fromEntries(keys), DRAMATIS_JOBS_URL: url };
    const main = existsSync(source) ? source : compiled;
    const child = spawn(process.execPath, [...process.execArgv, main, 'worker'], {
      env,
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    return {
      ended: Promise.race([once(child, 'exit'), once(child, 'error')]).then(() => undefined),
      stop: () => {
        if (child.connected) child.disconnect();
      },
    };
  },
};
