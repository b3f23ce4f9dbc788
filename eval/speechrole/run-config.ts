import { z } from 'zod';
import { judgeDialects, type JudgeDialectName } from '../judge/dialects.ts';
import { protocolNames } from './judging/protocols.ts';

const dialectNames = Object.keys(judgeDialects) as [JudgeDialectName, ...JudgeDialectName[]];
const share = z.number().min(0);

/** Everything that a run of SpeechRole-Eval is asked for. Kept in its log; keys stand in the environment, by name. */
export const runConfigSchema = z.strictObject({
  /** Folder of the test data, absolute. */
  data: z.string(),
  reference: z.string().default('role_speech_path1'),
  /** `ours`, the URL of a running Dramatis, `openai-realtime:URL`, or `outputs:DIR`. */
  agent: z.string().default('ours'),
  /** As reports call it. */
  name: z.string().default(''),
  agentKeyEnv: z.string().optional(),
  agentVoice: z.string().optional(),
  /** One character for all roles, in place of one a role. */
  character: z.string().optional(),
  persona: z.enum(['benchmark', 'dramatis']).default('benchmark'),
  /** Folder of clips of the roles, for voices that clone. */
  roleVoices: z.string().optional(),
  /** Who allowed these voices to be cloned. */
  roleVoicesConsent: z.string().optional(),
  userText: z.boolean().default(false),
  teacherForced: z.boolean().default(false),
  speed: z.number().min(0.1).max(100).default(1),
  /** Dialogues at a time. */
  agentConcurrency: z.number().int().min(1).default(4),
  agentRpm: z.number().positive().optional(),
  /** Flags of the server that is started for `ours`. */
  server: z.record(z.string(), z.union([z.string(), z.boolean()])).default({}),
  select: z
    .strictObject({
      roles: z.array(z.string()).optional(),
      language: z.enum(['en', 'zh']).optional(),
      mode: z.enum(['single', 'multi']).optional(),
      limit: z.number().int().min(1).optional(),
    })
    .default({}),
  /** Absent: replies are collected, and judged by nobody. */
  judge: z
    .strictObject({
      url: z.string(),
      model: z.string(),
      dialect: z.enum(dialectNames).default('openai'),
      keyEnv: z.string().optional(),
      concurrency: z.number().int().min(1).default(8),
      rpm: z.number().positive().optional(),
      /** US dollars a million tokens. */
      prices: z
        .strictObject({ input: share.default(0), audio: share.default(0), output: share.default(0) })
        .prefault({}),
    })
    .optional(),
  protocol: z.enum(protocolNames).default('dramatis'),
  /** Folder of prompt templates in place of ours. */
  prompts: z.string().optional(),
  repeats: z.number().int().min(1).max(20).default(1),
  parser: z.enum(['strict', 'tolerant']).default('tolerant'),
  parseRetries: z.number().int().min(0).max(10).default(2),
  /** Of calls that failed in a way that may pass. */
  retries: z.number().int().min(0).max(20).default(4),
  aggregation: z.enum(['mean-of-ratios', 'ratio-of-sums']).default('mean-of-ratios'),
  /** Measured cues to work out beside the judge's scores. */
  cues: z.array(z.string()).default([]),
  /** Of `wer`: an OpenAI-compatible transcription server. */
  cueRecognizer: z.strictObject({ url: z.string(), model: z.string(), keyEnv: z.string().optional() }).optional(),
  /** ONNX files, of `similarity` and `dnsmos`. */
  speakerModels: z.array(z.string()).default([]),
  dnsmosModel: z.string().optional(),
  seed: z.number().int().default(1),
});

export type RunConfig = z.infer<typeof runConfigSchema>;
