import { readCharacters } from '../../../server/cast/cast.ts';
import { MouthTimeline } from '../../../server/client/mouth/mouth-timeline.js';
import type { SpeechSynthesizer, TimedPhone, Viseme } from '../../../voices/synthesizer.ts';
import { isEspeakInstalled, openEspeak } from '../../../voices/synthesizers/espeak.ts';
import { openFlite } from '../../../voices/synthesizers/flite.ts';
import { segmentsOf } from '../../../voices/visemes/phone-table.ts';
import { visemesOf } from '../../../voices/visemes/visemes-of-phones.ts';
import { connect } from '../../rigs/connection-rig.ts';
import { summarize, type BenchRow } from '../kit/stats.ts';

const bench = 'visemes';
/** Samples of the wire in a millisecond. */
const perMs = 24;

/**
 * Shapes of the mouth at a client of the server: how far their onset lies from that of the sound, as the engine reports it;
 * what comes late or leaves a gap; and their cost. 100 lines of the characters that ship, by each engine.
 */
export async function* run(): AsyncIterable<BenchRow> {
  const characters = [...(await readCharacters({})).values()];
  const lines = Array.from({ length: 100 }, (_, index) => {
    const { lines: own = [] } = characters[index % characters.length] ?? {};
    return own[Math.floor(index / characters.length)]?.reply ?? '';
  }).filter((line) => /^[\x20-\x7e’“”—…]+$/u.test(line));
  const flite = openFlite();
  const espeak = openEspeak();
  try {
    yield* measure('flite', flite, lines);
    if (isEspeakInstalled()) yield* measure('espeak', espeak, lines);
  } finally {
    await Promise.all([flite.close(), espeak.close()]);
  }
}

async function* measure(name: string, engine: SpeechSynthesizer, lines: readonly string[]): AsyncIterable<BenchRow> {
  const onsets: number[] = [];
  const shares: number[] = [];
  const faults: number[] = [];
  const closed: number[] = [];
  const phones: (readonly TimedPhone[])[] = [];
  let audioMs = 0;
  const startMs = performance.now();
  for (const line of lines) {
    const told = await toldOf(engine, line);
    onsets.push(...told.onsetsMs);
    shares.push((100 * told.bytes) / told.audioBytes);
    faults.push(told.faults);
    closed.push(...told.closures);
    phones.push(...told.phones);
    audioMs += told.audioBytes / 2 / perMs;
  }
  const tookMs = performance.now() - startMs;
  yield summarize(bench, `onset-${name}`, 'ms', onsets);
  yield summarize(bench, `late or with gaps, ${name}`, 'count', [faults.reduce((sum, count) => sum + count, 0)]);
  yield summarize(bench, `bytes beside PCM, ${name}`, '%', shares);
  yield summarize(bench, `closures with a closed frame at 30 fps, ${name}`, '%', [
    (100 * closed.reduce((sum, is) => sum + is, 0)) / Math.max(1, closed.length),
  ]);
  const converted = phones.map((run) => {
    const before = performance.now();
    visemesOf(run);
    return performance.now() - before;
  });
  // The shapes of a phrase are made before its first sample is sent, so this is what the first sound waits for.
  yield summarize(bench, `first audio later, ${name}`, 'ms', converted);
  const cpu = converted.reduce((sum, ms) => sum + ms, 0);
  yield summarize(bench, `CPU beside ${name}`, '%', [(100 * cpu) / tookMs]);
  yield summarize(bench, `speech, ${name}`, 's', [audioMs / 1000]);
}

/** Has a line spoken to a client over the wire, and compares what it was told with what the engine reported. */
async function toldOf(engine: SpeechSynthesizer, line: string) {
  const reported: TimedPhone[] = [];
  const runs: (readonly TimedPhone[])[] = [];
  let lengthMs = 0;
  const synthesizer: SpeechSynthesizer & { spoken: string[] } = {
    ...engine,
    spoken: [],
    async *speak(phrases, options) {
      for await (const chunk of engine.speak(phrases, { ...options, voice: { kind: 'preset', id: 'slt' } })) {
        runs.push(chunk.mouth?.phones ?? []);
        for (const phone of chunk.mouth?.phones ?? [])
          reported.push({ ...phone, startMs: phone.startMs + lengthMs, endMs: phone.endMs + lengthMs });
        lengthMs += (chunk.frame.samples.length / chunk.frame.sampleRate) * 1000;
        yield chunk;
      }
    },
  };
  const wire = connect({ says: [line], mouth: 'visemes', synthesizer });
  wire.send({ type: 'response.create' });
  while (!wire.types().includes('response.done')) await wire.clock.advance(500, 100);
  const timeline = new MouthTimeline();
  let [samples, bytes, until, faults] = [0, 0, 0, 0];
  const changes: [at: number, viseme: Viseme][] = [];
  for (const event of wire.events as any[]) {
    if (event.type === 'x_dramatis.visemes') {
      if (event.from < samples || event.from !== until) faults += 1;
      until = event.until ?? 0;
      bytes += JSON.stringify(event).length;
      timeline.tell(event);
      changes.push(...event.visemes);
    } else if (event.type === 'response.output_audio.delta') samples += Buffer.from(event.delta, 'base64').length / 2;
  }
  await wire.hangUp();
  const onsetsMs = reported.flatMap(({ sound, startMs }) => {
    const viseme = segmentsOf(sound)[0]?.shape[0] ?? 'sil';
    const at = changes.filter((change) => change[1] === viseme).map(([sample]) => Math.abs(sample / perMs - startMs));
    // A sound with the shape of the one before it has no onset of its own.
    const isSame = timeline.visemeAt(Math.round(startMs * perMs) - 3 * perMs)?.viseme === viseme;
    return isSame || at.length === 0 ? [] : [Math.min(...at)];
  });
  const closures = reported
    .filter(({ sound }) => /^[pbm]$/u.test(sound))
    .map(({ startMs, endMs }) => {
      const frames = Array.from(
        { length: Math.ceil((endMs - startMs + 40) / 33.3) },
        (_, index) => startMs - 20 + index * 33.3,
      );
      return frames.some((ms) => (timeline.weightsAt(ms * perMs)?.PP ?? 0) >= 0.8) ? 1 : 0;
    });
  return { onsetsMs, bytes, audioBytes: samples * 2, faults, closures, phones: runs };
}
