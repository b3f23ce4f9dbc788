import { concatSamples, pcm16FromFloats } from '../../../voices/audio.ts';
import { readAudioFile } from '../../../voices/dsp/audio-file.ts';
import { openEmbeddedVoices } from '../../../voices/synthesizers/embedded.ts';
import { connectRealtime, type ReceivedEvent } from '../../protocol/client.ts';
import { wireSampleRate } from '../../protocol/limits.ts';
import { Replayer } from '../../protocol/replay.ts';
import type { Latency } from '../../session/contract/turn-timings.ts';
import { interruptSignal } from '../../terminal/interrupt.ts';
import { latencyTable, summarizeLatency } from './latency-table.ts';
import { openTargetServer } from '../target-server.ts';
import { parseCommand } from '../../terminal/commands.ts';
import { numberFlag, textFlag } from '../../terminal/flags.ts';
import { jsonText, printLine } from '../../terminal/text.ts';

/** Questions spoken if no recordings are given. */
const questions = [
  'Good evening. How are you today?',
  'Who is your best friend?',
  'What are you most afraid of?',
  'Tell me where you come from.',
  'What would you like to do tomorrow?',
];

/** `dramatis latency`: measures many turns with one character and breaks down the response latency. */
export async function run(args: string[]): Promise<number> {
  const parsed = parseCommand('latency', '[FILE…] [--character ID] [--turns N] [--json]', args, {
    character: { type: 'string', value: 'ID', help: 'character to talk to (default: the default character)' },
    turns: { type: 'string', value: 'N', help: 'number of turns to measure, after one warm-up turn (default 10)' },
    'push-to-talk': { type: 'boolean', help: 'end each turn explicitly instead of using the server’s VAD' },
    json: { type: 'boolean', help: 'print one JSON object' },
    url: { type: 'string', value: 'URL', help: 'a running server (default: starts one)' },
  });
  if (parsed === undefined) return 0;
  const { values, positionals: files, config } = parsed;
  const turns = numberFlag(values.turns, 'turns', { min: 1, isWhole: true }) ?? 10;
  const character = textFlag(values.character) ?? config.defaultCharacter;
  const signal = interruptSignal();
  const recordings = files.length === 0 ? await speakQuestions(signal) : await readRecordings(files, signal);
  const server = await openTargetServer(textFlag(values.url), config);
  try {
    const serverVad = values['push-to-talk'] !== true;
    const measured = await measureTurns({ ...server, character, recordings, turns, serverVad, signal });
    const { breakdowns, unanswered, errors } = measured;
    const summary = summarizeLatency(breakdowns);
    if (values.json === true) printLine(jsonText({ character, turns, unanswered, ...summary, errors }));
    else {
      printLine(`${character}: ${turns} turns, ${unanswered} unanswered; latency from the end of speech\n`);
      if (breakdowns.length > 0) printLine(latencyTable(summary));
      for (const error of errors) printLine(`error ${error.code}: ${error.message}`);
    }
    return unanswered === 0 ? 0 : 1;
  } finally {
    await server.close();
  }
}

/** Results of the measured turns. */
export interface MeasuredTurns {
  readonly breakdowns: readonly Latency[];
  /** Turns without any reply audio. */
  readonly unanswered: number;
  readonly errors: readonly { readonly code: string; readonly message: string }[];
}

/**
 * Plays recordings (16-bit PCM at `wireSampleRate`) in turn, in real time, and cancels each reply at its first audio.
 * That audio is acknowledged as heard on arrival, so `delivery` covers only the network. The first turn is a warm-up.
 */
export async function measureTurns(options: {
  readonly url: string;
  readonly apiKey?: string;
  readonly character: string;
  readonly recordings: readonly Buffer[];
  readonly turns: number;
  readonly serverVad: boolean;
  readonly signal: AbortSignal;
}): Promise<MeasuredTurns> {
  const { recordings, turns, serverVad, signal } = options;
  const client = await connectRealtime(options);
  const heard = new Set<unknown>();
  const onEvent = (event: ReceivedEvent): void => {
    const id = event['response_id'];
    if (event.type !== 'response.output_audio.delta' || heard.has(id)) return;
    heard.add(id);
    client.send({ type: 'x_dramatis.heard', response_id: id, samples: wireSampleRate / 1000 });
  };
  const replayer = new Replayer(client, { signal, serverVad, untilFirstAudio: true, onEvent });
  const breakdowns: Latency[] = [];
  const errors: { readonly code: string; readonly message: string }[] = [];
  for (let turn = 0; turn <= turns; turn += 1) {
    const result = await replayer.play(recordings[turn % recordings.length] ?? Buffer.alloc(0));
    // A reply shorter than the server's send-ahead is complete before it can be cancelled.
    errors.push(...result.errors.filter(({ code }) => code !== 'response_cancel_not_active'));
    if (turn === 0) continue;
    const answered = result.turns.find(({ firstAudioMs }) => firstAudioMs !== null);
    if (answered?.latency) breakdowns.push(answered.latency);
  }
  await replayer.close();
  return { breakdowns, unanswered: turns - breakdowns.length, errors };
}

function readRecordings(files: readonly string[], signal: AbortSignal): Promise<Buffer[]> {
  return Promise.all(
    files.map(async (file) =>
      pcm16FromFloats((await readAudioFile(file, { sampleRate: wireSampleRate, mustBeWhole: true, signal })).samples),
    ),
  );
}

/** Synthesizes the questions with an embedded voice. */
async function speakQuestions(signal: AbortSignal): Promise<Buffer[]> {
  const voices = openEmbeddedVoices({ workers: 1, sampleRate: wireSampleRate });
  try {
    const { synthesizer, voice } = voices.forCharacter({ gender: 'female' });
    const spoken: Buffer[] = [];
    for (const text of questions) {
      const blocks: Float32Array[] = [];
      for await (const { frame } of synthesizer.speak(once(text), { signal, voice })) blocks.push(frame.samples);
      spoken.push(pcm16FromFloats(concatSamples(blocks)));
    }
    return spoken;
  } finally {
    await voices.close();
  }
}

async function* once(text: string): AsyncIterable<{ text: string }> {
  yield { text };
}
