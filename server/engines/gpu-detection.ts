import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { release } from 'node:os';
import path from 'node:path';
import { cudaLibrary } from '../../voices/onnx/cuda-library.ts';
import type { Provider } from '../../voices/onnx/execution.ts';

/** System to inspect; tests use folders of their own. */
export interface Machine {
  readonly platform: NodeJS.Platform;
  readonly arch: string;
  /** Parent folder of `dev`, `proc` and `sys`. */
  readonly root: string;
}

export const thisMachine: Machine = { platform: process.platform, arch: process.arch, root: '/' };

/**
 * Returns the GPU providers worth trying, by what the system lists, in under a millisecond; no driver is called. Linux:
 * device files; Macs with Apple silicon and Windows always have WebGPU.
 */
export function candidateProviders({ platform, arch, root }: Machine): readonly Provider[] {
  if (platform === 'win32' || (platform === 'darwin' && arch === 'arm64')) return ['webgpu'];
  if (platform !== 'linux') return [];
  // `dev/dxg` is the Windows GPU as seen in WSL.
  const nvidia = ['dev/nvidiactl', 'dev/dxg'].some((name) => existsSync(path.join(root, name)));
  const cuda: Provider[] = nvidia && arch === 'x64' ? ['cuda'] : [];
  return nvidia || namesIn(path.join(root, 'dev/dri')).some((name) => name.startsWith('renderD'))
    ? [...cuda, 'webgpu']
    : cuda;
}

/** Fingerprint of GPU, driver, ONNX runtime and its CUDA library: earlier trial results are discarded if it changes. */
export function machineIdentity({ platform, arch, root }: Machine): string {
  const read = (name: string): string => {
    try {
      return readFileSync(path.join(root, name), 'utf8').trim();
    } catch {
      return '';
    }
  };
  const cards = namesIn(path.join(root, 'sys/class/drm'))
    .filter((name) => name.startsWith('renderD'))
    .map((name) => ['vendor', 'device'].map((part) => read(`sys/class/drm/${name}/device/${part}`)).join(':'));
  const { version } = createRequire(import.meta.url)('onnxruntime-node/package.json') as { readonly version: string };
  const cuda = statSync(cudaLibrary(), { throwIfNoEntry: false });
  const parts = [platform, arch, release(), version, read('proc/driver/nvidia/version'), ...cards, cuda?.mtimeMs ?? ''];
  return parts.join(' | ');
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
