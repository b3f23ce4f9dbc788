import { existsSync } from 'node:fs';
import path from 'node:path';
import { candidateProviders, thisMachine } from '../../../server/engines/gpu-detection.ts';

/** Folder of the Vulkan loader and SwiftShader, a software Vulkan device, in Debian's Chromium. */
const chromium = '/usr/lib/chromium';

/** Environment variables with which a process finds a WebGPU device. Undefined, with a warning, if there is none. */
export function webgpuEnvironment(test: string): Readonly<Record<string, string>> | undefined {
  if (candidateProviders(thisMachine).includes('webgpu')) return {};
  const driver = path.join(chromium, 'vk_swiftshader_icd.json');
  if (existsSync(driver)) return { VK_ICD_FILENAMES: driver, LD_LIBRARY_PATH: chromium };
  console.warn(`Skipped: ${test}. There is no GPU, and no Chromium in ${chromium} whose software device would do.`);
  return undefined;
}
