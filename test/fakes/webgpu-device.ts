import { existsSync } from 'node:fs';
import path from 'node:path';
import { candidateProviders, thisMachine } from '../../server/engines/gpu-present.ts';

/** Where Debian's Chromium keeps its Vulkan loader and SwiftShader, a Vulkan device in software. */
const chromium = '/usr/lib/chromium';

/** What a process needs in its environment to find a device for WebGPU; undefined, saying so, where there is none. */
export function webgpuEnvironment(test: string): Readonly<Record<string, string>> | undefined {
  if (candidateProviders(thisMachine).includes('webgpu')) return {};
  const driver = path.join(chromium, 'vk_swiftshader_icd.json');
  if (existsSync(driver)) return { VK_ICD_FILENAMES: driver, LD_LIBRARY_PATH: chromium };
  console.warn(`Skipped: ${test}. There is no GPU, and no Chromium in ${chromium} whose software device would do.`);
  return undefined;
}
