import { vi } from 'vitest';
import { faultText } from '../../server/terminal/fault-text.ts';

/** The commands that tests run in this process, loaded like in `server/main.ts`. */
const commands = {
  serve: () => import('../../server/cli/serve.ts'),
  say: () => import('../../server/cli/say.ts'),
  replay: () => import('../../server/cli/replay.ts'),
  latency: () => import('../../server/cli/latency/latency.ts'),
  characters: () => import('../../server/cli/characters/characters.ts'),
  voices: () => import('../../server/cli/voices/voices.ts'),
  memory: () => import('../../server/cli/memory.ts'),
  models: () => import('../../server/cli/models/models.ts'),
  doctor: () => import('../../server/cli/doctor/doctor.ts'),
  talk: () => import('../../server/cli/talk/talk.ts'),
  data: () => import('../../server/cli/data.ts'),
  eval: () => import('../../server/cli/eval.ts'),
} satisfies Record<string, () => Promise<{ run(args: string[]): Promise<number> }>>;

/** Exit status and output of a command. */
export interface Ran {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command like `dramatis` does, in this process; a hundred times faster than in a separate one. */
export async function dramatis(command: keyof typeof commands, ...args: readonly string[]): Promise<Ran> {
  let stdout = '';
  let stderr = '';
  const spies = [
    vi.spyOn(console, 'log').mockImplementation((text: string) => void (stdout += `${text}\n`)),
    vi.spyOn(console, 'error').mockImplementation((text: string) => void (stderr += `${text}\n`)),
    vi.spyOn(process.stdout, 'write').mockImplementation((text) => (stdout += String(text)) !== ''),
    vi.spyOn(process.stderr, 'write').mockImplementation((text) => (stderr += String(text)) !== ''),
  ];
  try {
    const status = await (await commands[command]()).run([...args]);
    return { status, stdout, stderr };
  } catch (fault) {
    const { text, status } = faultText(fault);
    return { status, stdout, stderr: `${stderr}dramatis ${command}: ${text}\n` };
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
}
