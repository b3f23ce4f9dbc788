import type { AudioFrame } from '../../voices/audio.ts';
import type { CallOptions } from '../../voices/engine.ts';
import { EvalError } from '../eval-error.ts';
import type { VoiceEncoder } from './similarity.ts';

/** What listeners would say of a recording's quality, 1 to 5, guessed. */
export interface QualityMeter {
  rate(
    clip: AudioFrame,
    options: CallOptions,
  ): Promise<{ readonly signal: number; readonly background: number; readonly overall: number }>;
}

interface Closable {
  close(): Promise<void>;
}
type Open<Model> = (options: CallOptions & { readonly modelPath: string }) => Promise<Model & Closable>;

const folder = new URL('../../voices/', import.meta.url);

/** The speaker encoder of a file: CAM++ or WavLM-large SV. Throws an `EvalError` or the encoder's own `EngineError`. */
export async function openEncoder(modelPath: string, options: CallOptions): Promise<VoiceEncoder & Closable> {
  const { openOnnxSpeaker } = await part<{ openOnnxSpeaker: Open<VoiceEncoder> }>('speakers/onnx-speaker.ts');
  return openOnnxSpeaker({ modelPath, ...options });
}

/** DNSMOS P.835 of a file. */
export async function openQualityMeter(modelPath: string, options: CallOptions): Promise<QualityMeter & Closable> {
  const { openDnsmos } = await part<{ openDnsmos: Open<QualityMeter> }>('quality/dnsmos.ts');
  return openDnsmos({ modelPath, ...options });
}

/** A module of `voices/` that this copy of the project may lack. */
async function part<Module>(name: string): Promise<Module> {
  try {
    return (await import(new URL(name, folder).href)) as Module;
  } catch (cause) {
    throw new EvalError('usage', `voices/${name} is not there: this cue cannot be measured. Update Dramatis.`, cause);
  }
}
