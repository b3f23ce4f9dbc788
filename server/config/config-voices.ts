import { z } from 'zod';
import { executedModels, providers } from '../../voices/onnx/execution.ts';
import { listOf, numeric } from './config-values.ts';

const file = z.string().min(1).optional();
const mirrors = listOf(z.string().regex(/^https?:\/\/[^=\s]+=https?:\/\/[^=\s]+$/, 'FROM=TO, both http or https'));
const one = `(${providers.join('|')})`;
const execution = listOf(
  z
    .string()
    .regex(
      new RegExp(`^(${one}|(${executedModels.join('|')})=${one}(\\+${one})*)$`),
      `${providers.join(', ')}, or MODEL=PROVIDER+PROVIDER with MODEL one of: ${executedModels.join(', ')}`,
    ),
);
const megabytes = numeric(z.number().int().min(1).max(10_000_000).optional());

/** Settings of local models: speaker encoder, audio quality, catalogue and execution providers. */
export const voiceFields = {
  speakerEncoder: file,
  speakerEncoderHash: z.hash('sha256').optional(),
  dnsmos: file,
  dnsmosP808: file,
  modelCatalogue: file,
  modelMirrors: mirrors.prefault([]),
  providers: execution.optional(),
  gpuMemoryMb: megabytes,
};

/** Environment variables and help texts of these settings. */
export const voiceFacts = {
  speakerEncoder: {
    env: 'DRAMATIS_SPEAKER_ENCODER',
    help: 'ONNX file of CAM++ or WavLM-large SV, to tell voices apart',
  },
  speakerEncoderHash: { env: 'DRAMATIS_SPEAKER_ENCODER_HASH', help: 'its SHA-256; no other file is loaded then' },
  dnsmos: { env: 'DRAMATIS_DNSMOS', help: 'sig_bak_ovr.onnx of DNSMOS P.835, to judge the quality of recordings' },
  dnsmosP808: { env: 'DRAMATIS_DNSMOS_P808', help: 'model_v8.onnx of DNSMOS P.808, likewise' },
  modelCatalogue: { env: 'DRAMATIS_MODEL_CATALOGUE', help: 'a catalogue of models of your own (JSON)' },
  modelMirrors: {
    env: 'DRAMATIS_MODEL_MIRRORS',
    help: 'FROM=TO, comma-separated: addresses of weights that begin with FROM are asked of TO first',
  },
  providers: {
    env: 'DRAMATIS_PROVIDERS',
    help: 'what runs models, the first that works: cuda, webgpu, cpu; MODEL=PROVIDER+PROVIDER for one of them',
  },
  gpuMemoryMb: { env: 'DRAMATIS_GPU_MEMORY_MB', help: 'memory of the GPU that models may take together, in MB' },
} as const;
