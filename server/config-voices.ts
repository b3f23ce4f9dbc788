import { z } from 'zod';

const file = z.string().min(1).optional();

/** Settings of the models that judge voices; all are files that the user brings. */
export const voiceFields = {
  speakerEncoder: file,
  speakerEncoderHash: z.hash('sha256').optional(),
  dnsmos: file,
  dnsmosP808: file,
};

/** Their names and help. */
export const voiceFacts = {
  speakerEncoder: {
    env: 'DRAMATIS_SPEAKER_ENCODER',
    help: 'ONNX file of CAM++ or WavLM-large SV, to tell voices apart',
  },
  speakerEncoderHash: { env: 'DRAMATIS_SPEAKER_ENCODER_HASH', help: 'its SHA-256; no other file is loaded then' },
  dnsmos: { env: 'DRAMATIS_DNSMOS', help: 'sig_bak_ovr.onnx of DNSMOS P.835, to judge the quality of recordings' },
  dnsmosP808: { env: 'DRAMATIS_DNSMOS_P808', help: 'model_v8.onnx of DNSMOS P.808, likewise' },
} as const;
