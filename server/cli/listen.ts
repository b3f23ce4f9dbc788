import { readAudioFile } from '../../voices/dsp/audio-file.ts';
import { createVadHysteresis } from '../../voices/dsp/vad-hysteresis.ts';
import { detectVoice, transcribeRecording } from '../../voices/recognition/transcribe-recording.ts';
import { openEngines } from '../engines/engines.ts';
import { interruptSignal } from '../terminal/interrupt.ts';
import { parseCommand } from '../terminal/commands.ts';
import { UsageError } from '../terminal/flags.ts';
import { jsonText, printLine, tellIfSlow } from '../terminal/text.ts';

interface Segment {
  readonly startMs: number;
  readonly endMs: number;
}

/** `dramatis listen`: runs VAD and ASR on a recording, without a character. */
export async function run(args: string[]): Promise<number> {
  const parsed = parseCommand('listen', 'FILE [--json]', args, {
    json: { type: 'boolean', help: 'print one JSON object with every probability' },
  });
  if (parsed === undefined) return 0;
  const [file] = parsed.positionals;
  if (file === undefined) throw new UsageError('Name a recording.');
  const signal = interruptSignal();
  const engines = await tellIfSlow('Loading the engines …', openEngines(parsed.config));
  try {
    const audio = await readAudioFile(file, { sampleRate: engines.vad.sampleRate, mustBeWhole: true, signal });
    const activity = await detectVoice(audio.samples, engines.vad, { signal });
    const { probabilities, windowMs } = activity;
    const segments = segmentsOf(probabilities, windowMs);
    const heard = await transcribeRecording(activity, engines.recognizer, { signal });
    const final = {
      transcript: heard?.text ?? '',
      confidence: heard?.confidence ?? null,
      unclear: heard?.unclear ?? null,
    };
    const durationMs = (audio.samples.length / audio.sampleRate) * 1000;
    if (parsed.values.json === true) {
      const rounded = probabilities.map((value) => Math.round(value * 1000) / 1000);
      printLine(
        jsonText({
          file,
          duration_ms: durationMs,
          window_ms: windowMs,
          probabilities: rounded,
          segments,
          ...final,
        }),
      );
    } else print(file, durationMs, probabilities, segments, final);
    return 0;
  } finally {
    await engines.close();
  }
}

function segmentsOf(probabilities: readonly number[], windowMs: number): Segment[] {
  const edges = createVadHysteresis({ minSpeechMs: 96, minSilenceMs: 96, windowMs });
  const segments: Segment[] = [];
  let startMs: number | undefined;
  for (const probability of probabilities) {
    const edge = edges.push(probability);
    if (edge?.type === 'speech-start') startMs = edge.atMs;
    if (edge?.type === 'speech-end' && startMs !== undefined) {
      segments.push({ startMs, endMs: edge.atMs });
      startMs = undefined;
    }
  }
  if (startMs !== undefined) segments.push({ startMs, endMs: probabilities.length * windowMs });
  return segments;
}

function print(
  file: string,
  durationMs: number,
  probabilities: readonly number[],
  segments: readonly Segment[],
  final: { transcript: string; confidence: number | null; unclear: unknown },
): void {
  const seconds = (ms: number): string => `${(ms / 1000).toFixed(2)} s`;
  printLine(`${file}: ${seconds(durationMs)}`);
  printLine(`  speech      ${sparkline(probabilities, Math.max(20, (process.stdout.columns ?? 100) - 16))}`);
  for (const { startMs, endMs } of segments) printLine(`  segment     ${seconds(startMs)} – ${seconds(endMs)}`);
  if (segments.length === 0) printLine('  segment     none: no speech detected');
  const { unclear } = final as { unclear: { message: string } | null };
  printLine(`  transcript  ${final.transcript === '' ? `(${unclear?.message ?? 'none'})` : final.transcript}`);
  if (final.confidence !== null) printLine(`  confidence  ${final.confidence.toFixed(2)}`);
}

/** Renders the probabilities as one line of `columns` blocks, each as high as the maximum of its range. */
function sparkline(values: readonly number[], columns: number): string {
  const blocks = ' ▁▂▃▄▅▆▇█';
  const width = Math.min(columns, values.length);
  return Array.from({ length: width }, (_, column) => {
    const from = Math.floor((column * values.length) / width);
    const to = Math.max(from + 1, Math.floor(((column + 1) * values.length) / width));
    return blocks[Math.round(Math.max(...values.slice(from, to)) * 8)] ?? ' ';
  }).join('');
}
