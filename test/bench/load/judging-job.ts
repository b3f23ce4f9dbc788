import { openDnsmos } from '../../../voices/quality/dnsmos.ts';
import { openOnnxSpeaker } from '../../../voices/speakers/onnx-speaker.ts';
import { voiceLike } from '../../fakes/voice-like.ts';

/** Rates clips one after the other, forever; `judged` counts them. */
export interface JudgingJob {
  judged: number;
  close(): Promise<void>;
}

/**
 * Starts a job: `embed` with a speaker model, `dnsmos` with its weights. Four clips are queued at any time, as in a
 * long job.
 */
export async function startJudging(kind: string, modelPath: string): Promise<JudgingJob> {
  const { signal } = new AbortController();
  const frame = { samples: voiceLike(10_000, 24_000), sampleRate: 24_000, atMs: 0 };
  const engine =
    kind === 'embed' ? await openOnnxSpeaker({ modelPath, signal }) : await openDnsmos({ modelPath, signal });
  const judge = (): Promise<unknown> =>
    'embed' in engine ? engine.embed(frame, { signal }) : engine.rate(frame, { signal });
  const goOn = async (): Promise<void> => {
    for (;;) {
      await judge();
      job.judged += 1;
    }
  };
  const job: JudgingJob = { judged: 0, close: () => engine.close() };
  for (let lane = 0; lane < 4; lane += 1) void goOn().catch(() => undefined);
  return job;
}
