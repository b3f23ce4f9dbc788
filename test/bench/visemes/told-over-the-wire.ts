import { MouthTimeline } from '../../../server/client/mouth/mouth-timeline.js';
import type { SpeechSynthesizer, TimedPhone, Viseme } from '../../../voices/synthesizer.ts';
import { segmentsOf } from '../../../voices/visemes/phone-table.ts';
import { connect } from '../../rigs/connection-rig.ts';

/** Samples of the wire in a millisecond. */
export const perMs = 24;

/** A line as a client of the server was told it. */
export interface ToldLine {
  readonly timeline: MouthTimeline;
  readonly audio: Int16Array;
  /** What the engine reported, in milliseconds of the reply. */
  readonly phones: readonly TimedPhone[];
  /** The same by chunk. */
  readonly runs: readonly (readonly TimedPhone[])[];
  /** Bytes of the events about the mouth. */
  readonly bytes: number;
  /** Events that came after their sound, or not where the one before ended. */
  readonly faults: number;
  readonly changes: readonly (readonly [sample: number, viseme: Viseme, weight?: number])[];
}

/** Has a line spoken to a client over the wire. */
export async function tellLine(engine: SpeechSynthesizer, voice: string, line: string): Promise<ToldLine> {
  const phones: TimedPhone[] = [];
  const runs: (readonly TimedPhone[])[] = [];
  let lengthMs = 0;
  const synthesizer: SpeechSynthesizer & { spoken: string[] } = {
    ...engine,
    spoken: [],
    async *speak(phrases, options) {
      for await (const chunk of engine.speak(phrases, { ...options, voice: { kind: 'preset', id: voice } })) {
        const run = chunk.mouth?.phones ?? [];
        runs.push(run);
        for (const { sound, startMs, endMs } of run)
          phones.push({ sound, startMs: startMs + lengthMs, endMs: endMs + lengthMs });
        lengthMs += (chunk.frame.samples.length / chunk.frame.sampleRate) * 1000;
        yield chunk;
      }
    },
  };
  const wire = connect({ says: [line], mouth: 'visemes', synthesizer });
  wire.send({ type: 'response.create' });
  while (!wire.types().includes('response.done')) await wire.clock.advance(500, 100);
  await wire.hangUp();
  const timeline = new MouthTimeline();
  const audio: Buffer[] = [];
  let [samples, bytes, until, faults] = [0, 0, 0, 0];
  const changes: [at: number, viseme: Viseme, weight?: number][] = [];
  for (const event of wire.events as any[]) {
    if (event.type === 'x_dramatis.visemes') {
      if (event.from < samples || event.from !== until) faults += 1;
      until = event.until ?? 0;
      bytes += JSON.stringify(event).length;
      timeline.tell(event);
      changes.push(...event.visemes);
    } else if (event.type === 'response.output_audio.delta') {
      audio.push(Buffer.from(event.delta, 'base64'));
      samples += (audio.at(-1)?.length ?? 0) / 2;
    }
  }
  if (samples > until) faults += 1;
  const pcm = Uint8Array.from(Buffer.concat(audio));
  return { timeline, audio: new Int16Array(pcm.buffer), phones, runs, bytes, faults, changes };
}

/** How far the onset of each sound's shape lies from the onset that the engine reported, in milliseconds. */
export function onsetErrorsMs({ phones, timeline, changes }: ToldLine): number[] {
  return phones.flatMap(({ sound, startMs }) => {
    const viseme = segmentsOf(sound)[0]?.shape[0] ?? 'sil';
    const found = changes.filter((change) => change[1] === viseme);
    const errors = found.map(([sample]) => Math.abs(sample / perMs - startMs));
    // A sound with the shape of the one before it has no onset of its own.
    const isSame = timeline.visemeAt(Math.round((startMs - 3) * perMs))?.viseme === viseme;
    return isSame || errors.length === 0 ? [] : [Math.min(...errors)];
  });
}

/** For each p, b and m that sounds: whether a frame shows closed lips while it does, at a rate of frames a second. */
export function closuresShown({ phones, timeline }: ToldLine, framesPerSecond: number): boolean[] {
  const stepMs = 1000 / framesPerSecond;
  return phones
    .filter(({ sound }) => /^[pbm]$/u.test(sound))
    .map(({ startMs, endMs }, place) => {
      // Lips close before the sound; the frames begin anywhere.
      const firstMs = startMs - 20 + ((place * 7) % 11) * (stepMs / 11);
      const frames = Array.from(
        { length: Math.ceil((endMs + 20 - firstMs) / stepMs) },
        (_, at) => firstMs + at * stepMs,
      );
      return frames.some((ms) => (timeline.weightsAt(ms * perMs)?.PP ?? 0) >= 0.8);
    });
}

/** How long after the last audible sample of a line the mouth is at rest, in milliseconds. */
export function restAfterMs({ audio, timeline }: ToldLine): number {
  const audible = 33;
  const last = audio.findLastIndex((sample) => Math.abs(sample) > audible);
  let rest = last;
  for (let sample = audio.length - 1; sample > last; sample -= perMs) {
    const { sil = 0, PP = 0 } = timeline.weightsAt(sample) ?? {};
    if (sil + PP < 0.9) {
      rest = sample;
      break;
    }
  }
  return (rest - last) / perMs;
}
