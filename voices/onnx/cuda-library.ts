import { createRequire } from 'node:module';
import path from 'node:path';

/** Path of the CUDA execution provider's library, where the install step puts it. */
export function cudaLibrary(): string {
  const runtime = path.resolve(createRequire(import.meta.url).resolve('onnxruntime-node'), '../..');
  return path.join(runtime, 'bin/napi-v6', process.platform, process.arch, 'libonnxruntime_providers_cuda.so');
}
