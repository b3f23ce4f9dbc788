import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import path from 'node:path';
import type { JobsHost } from '../../eval/host.ts';
import { settings } from '../config/config.ts';

const source = path.join(import.meta.dirname, '../main.ts');
const compiled = path.join(import.meta.dirname, '../main.js');

/** Message of a run to a worker that it has started. */
export interface WorkerMessage {
  /** The run's own Redis, which the worker ends if the run is killed. */
  readonly redisPid?: number;
  /** The worker gives back what it has, and ends. */
  readonly stop?: boolean;
}

const redisPids = new Map<string, number>();

/** Starts workers of runs, and their Redis, as processes that end with this one. */
export const jobsHost: JobsHost = {
  async startRedis() {
    const { startLocalRedis } = await import('../cluster/local-redis.ts');
    const redis = await startLocalRedis();
    redisPids.set(redis.url, redis.pid);
    return redis;
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
    const tell = (message: WorkerMessage): void => {
      // A worker that is gone needs no message.
      if (child.connected) child.send(message, () => undefined);
    };
    const redisPid = redisPids.get(url);
    if (redisPid !== undefined) tell({ redisPid });
    return {
      ended: Promise.race([once(child, 'exit'), once(child, 'error')]).then(() => undefined),
      stop: () => tell({ stop: true }),
    };
  },
};
