import { readConfig } from '../../../server/config/config.ts';
import { connectRealtime } from '../../../server/protocol/client.ts';
import { Replayer, type ReplayedTurn } from '../../../server/protocol/replay.ts';
import { startServer } from '../../../server/app/serve.ts';
import { pcm16FromFloats } from '../../../voices/audio.ts';
import { utterances } from '../kit/recordings.ts';
import { summarize, type BenchRow } from '../kit/stats.ts';

const bench = 'voice-to-voice';
const stages = ['endpoint_ms', 'transcript_ms', 'first_token_ms', 'first_phrase_ms', 'first_audio_ms'] as const;

/**
 * Real recordings, sent in real time to the embedded engines over the wire with server VAD, one new connection per
 * turn: time from the end of speech to the first audio, stage by stage, and from the endpoint decision.
 */
export async function* run(): AsyncIterable<BenchRow> {
  const clips = await utterances(320, { minMs: 700, maxMs: 10_000 });
  const server = await startServer(readConfig({ flags: { port: '0', logLevel: 'error' }, environment: {} }));
  const turns: ReplayedTurn[] = [];
  let unanswered = 0;
  try {
    const signal = new AbortController().signal;
    // The first turn warms up; it is not counted.
    for (const [index, clip] of [clips[0], ...clips, ...clips].entries()) {
      if (clip === undefined) return;
      const client = await connectRealtime({ url: server.url, character: 'abraham-lincoln', signal });
      const replayer = new Replayer(client, { signal, serverVad: true, untilFirstAudio: true });
      const { turns: played } = await replayer.play(pcm16FromFloats(clip.samples));
      await replayer.close();
      if (index === 0) continue;
      const turn = played.find((one) => one.firstAudioMs !== null);
      if (turn === undefined) unanswered += 1;
      else turns.push(turn);
    }
  } finally {
    await server.close();
  }
  const values = (stage: (typeof stages)[number]): number[] => turns.flatMap((turn) => turn.latency?.[stage] ?? []);
  for (const stage of stages)
    yield summarize(bench, `end of speech → ${stage.replace('_ms', '').replace('_', ' ')}`, 'ms', values(stage));
  const endpoint = (turn: ReplayedTurn): number => Number(turn.latency?.endpoint_ms);
  const afterEndpoint = (stage: (typeof stages)[number]): number[] =>
    turns.map((turn) => Number(turn.latency?.[stage]) - endpoint(turn));
  yield summarize(bench, 'endpoint → transcript', 'ms', afterEndpoint('transcript_ms'));
  yield summarize(bench, 'endpoint → first audio', 'ms', afterEndpoint('first_audio_ms'));
  yield summarize(
    bench,
    'end of speech → first audio, at the client',
    'ms',
    turns.map((turn) => turn.firstAudioMs ?? 0),
  );
  yield summarize(bench, 'turns without an answer', 'count', [unanswered]);
}
