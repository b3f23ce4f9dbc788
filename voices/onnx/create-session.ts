import { existsSync } from 'node:fs';
import { env, InferenceSession } from 'onnxruntime-node';
import { cudaLibrary } from './cuda-library.ts';
import { firstLineOf } from './first-line.ts';

/** Creates a session. If CUDA fails, says what is missing, which the runtime only prints. */
export async function createSession(
  file: string | Uint8Array,
  options: InferenceSession.SessionOptions,
): Promise<InferenceSession> {
  // The runtime's log about a missing provider is long and says the same as our error.
  env.logLevel = 'fatal';
  try {
    return await InferenceSession.create(file as string, options);
  } catch (fault) {
    throw options.executionProviders?.includes('cuda') === true ? new Error(cudaFault(firstLineOf(fault))) : fault;
  }
}

function cudaFault(says: string): string {
  const library = cudaLibrary();
  if (!existsSync(library)) return 'it is not installed: see “On a GPU” in the README';
  // The runtime explains its other failures itself, e.g. a missing device.
  if (!says.includes('load shared library')) return says;
  try {
    process.dlopen({ exports: {} }, library);
  } catch (fault) {
    const why = firstLineOf(fault);
    if (!why.includes('did not self-register')) {
      return `${why}: CUDA 12 and cuDNN 9 must be on the library path, see “On a GPU” in the README`;
    }
  }
  return 'its library does not match this onnxruntime-node: repeat the installation step of “On a GPU” in the README';
}
