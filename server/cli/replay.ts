import { floatsFromPcm16, pcm16FromFloats } from '../../voices/audio.ts';
import { readAudioFile } from '../../voices/dsp/audio-file.ts';
import { writeWav } from '../../voices/dsp/wav.ts';
import { connectRealtime } from '../protocol/client.ts';
import { wireSampleRate } from '../protocol/limits.ts';
import { Replayer, type ReplayedTurn, type ReplayResult } from '../protocol/replay.ts';
import { interruptSignal } from '../terminal/interrupt.ts';
import { openTargetServer } from './target-server.ts';
import { parseCommand } from '../terminal/commands.ts';
import { requireFlag, requirePlaceFor, textFlag, UsageError } from '../terminal/flags.ts';
import { jsonText, outputOf } from '../terminal/text.ts';
import { waterfall } from '../terminal/waterfall.ts';

/** `dramatis replay`: streams recordings to a server as a client does, and prints the conversation. */
export async function run(args: string[]): Promise<number> {
  const parsed = parseCommand('replay', 'FILE… --character ID [--out reply.wav] [--json]', args, {
    character: { type: 'string', value: 'ID', help: 'character to talk to' },
    out: { type: 'string', value: 'FILE', help: 'write all replies to this WAV file; - for standard output' },
    json: { type: 'boolean', help: 'print one JSON object per file' },
    vad: { type: 'boolean', help: 'use the server’s VAD, as with an open microphone' },
    url: { type: 'string', value: 'URL', help: 'a running server (default: starts one)' },
  });
  if (parsed === undefined) return 0;
  const { values, positionals: files, config } = parsed;
  if (files.length === 0) throw new UsageError('Name at least one recording.');
  const character = requireFlag(values.character, 'character');
  const out = textFlag(values.out);
  if (out !== undefined) requirePlaceFor(out);
  const { target, tell } = outputOf(out ?? '');
  const signal = interruptSignal();
  const recordings = await Promise.all(
    files.map((file) => readAudioFile(file, { sampleRate: wireSampleRate, mustBeWhole: true, signal })),
  );
  const server = await openTargetServer(textFlag(values.url), config);
  const replies: Buffer[] = [];
  let failures = 0;
  try {
    const client = await connectRealtime({ ...server, character, signal });
    const replayer = new Replayer(client, { signal, serverVad: values.vad === true });
    for (const [index, recording] of recordings.entries()) {
      const result = await replayer.play(pcm16FromFloats(recording.samples));
      replies.push(...result.turns.flatMap((turn) => turn.replyPcm16));
      if (result.errors.length > 0) failures += 1;
      const file = files[index] ?? '';
      tell(values.json === true ? jsonText(asJson(file, result)) : asText(file, character, result));
    }
    await replayer.close();
  } finally {
    await server.close();
  }
  if (out !== undefined) {
    await writeWav(target, floatsFromPcm16(Buffer.concat(replies)), wireSampleRate);
    if (values.json !== true) tell(`Replies written to ${out}.`);
  }
  return failures === 0 ? 0 : 1;
}

function asJson(file: string, result: ReplayResult): unknown {
  return {
    file,
    turns: result.turns.map((turn) => ({
      transcript: turn.transcript,
      unclear: turn.unclear,
      reply: turn.reply.trim(),
      reply_seconds: secondsOf(turn),
      status: turn.status,
      mind: turn.mind,
      latency: turn.latency,
      first_audio_ms: turn.firstAudioMs === null ? null : Math.round(turn.firstAudioMs),
    })),
    errors: result.errors,
  };
}

function asText(file: string, character: string, result: ReplayResult): string {
  const lines = [`\n${file}`];
  for (const turn of result.turns) {
    lines.push(`  you: ${turn.transcript ?? `(${turn.unclear?.message ?? 'no transcript'})`}`);
    if (turn.status !== null) {
      const note = turn.status === 'completed' ? '' : ` [${turn.status}]`;
      const fallback = turn.mind?.because === undefined ? '' : ` [fallback ${turn.mind.name}: ${turn.mind.because}]`;
      lines.push(`  ${character}: ${turn.reply.trim()}${note}${fallback}  (${secondsOf(turn).toFixed(1)} s)`);
    }
    if (turn.latency !== null) lines.push('', waterfall(turn.latency));
    if (turn.firstAudioMs !== null)
      lines.push(`  end of speech to first audio at the client: ${turn.firstAudioMs.toFixed(0)} ms`, '');
  }
  for (const error of result.errors) lines.push(`  error ${error.code}: ${error.message}`);
  return lines.join('\n');
}

function secondsOf(turn: ReplayedTurn): number {
  return turn.replyPcm16.reduce((sum, block) => sum + block.length, 0) / 2 / wireSampleRate;
}
