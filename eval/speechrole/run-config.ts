import { z } from 'zod';
import { judgeConfigSchema } from '../judge/judge-flags.ts';
import { protocolNames } from './judging/protocols.ts';

/** Configuration of a SpeechRole-Eval run, stored in its log. Keys are given as names of environment variables. */
export const runConfigSchema = z.strictObject({
  /** Absolute path of the test data. */
  data: z.string(),
  reference: z.string().default('role_speech_path1'),
  /** `ours`, the URL of a running Dramatis, `openai-realtime:URL`, or `outputs:DIR`. */
  agent: z.string().default('ours'),
  /** Display name in reports. */
  name: z.string().default(''),
  agentKeyEnv: z.string().optional(),
  agentVoice: z.string().optional(),
  /** One character for all roles instead of one per role. */
  character: z.string().optional(),
  persona: z.enum(['benchmark', 'dramatis']).default('benchmark'),
  /** Folder of the roles' clips, for voice cloning and speaker similarity. */
  roleVoices: z.string().optional(),
  /** Consent record for cloning these voices. */
  roleVoicesConsent: z.string().optional(),
  userText: z.boolean().default(false),
  teacherForced: z.boolean().default(false),
  /** Keeps replies of fallbacks for the system's LLM. */
  allowFallback: z.boolean().default(false),
  speed: z.number().min(0.1).max(100).default(1),
  /** Dialogues answered concurrently. */
  agentConcurrency: z.number().int().min(1).default(4),
  agentRpm: z.number().positive().optional(),
  /** Settings of the server started for `ours`. */
  server: z.record(z.string(), z.union([z.string(), z.boolean()])).default({}),
  select: z
    .strictObject({
      roles: z.array(z.string()).optional(),
      language: z.enum(['en', 'zh']).optional(),
      mode: z.enum(['single', 'multi']).optional(),
      limit: z.number().int().min(1).optional(),
    })
    .default({}),
  /** Absent: replies are collected but not judged. */
  judge: judgeConfigSchema.optional(),
  /** Folder of a passed check of this judge with these prompts; without it, tables say that it was not checked. */
  judgeCheck: z.string().optional(),
  protocol: z.enum(protocolNames).default('dramatis'),
  /** Prompt template folder to use instead of ours. */
  prompts: z.string().optional(),
  /** Name of these prompts in tables: `official text` for the paper's. */
  promptsName: z.string().min(1).max(60).optional(),
  repeats: z.number().int().min(1).max(20).default(1),
  parser: z.enum(['strict', 'tolerant']).default('tolerant'),
  parseRetries: z.number().int().min(0).max(10).default(2),
  /** Maximum retries of calls that failed with a transient error. */
  retries: z.number().int().min(0).max(20).default(4),
  aggregation: z.enum(['mean-of-ratios', 'ratio-of-sums']).default('mean-of-ratios'),
  /** Paralinguistic cues to measure in addition to the judge's scores. */
  cues: z.array(z.string()).default([]),
  /** OpenAI-compatible transcription server for `wer`. */
  cueAsr: z.strictObject({ url: z.string(), model: z.string(), keyEnv: z.string().optional() }).optional(),
  /** ONNX files for `similarity` and `dnsmos`. */
  speakerModels: z.array(z.string()).default([]),
  dnsmosModel: z.string().optional(),
  seed: z.number().int().default(1),
});

export type RunConfig = z.infer<typeof runConfigSchema>;
