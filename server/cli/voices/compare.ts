import type { SpeakerEncoder } from '../../../voices/speaker-encoder.ts';
import { cosine } from '../../../voices/speaker-encoder.ts';
import { semitones } from '../../../voices/dsp/pitch.ts';
import type { VoiceRecord } from '../../../voices/library/record.ts';
import { readWav } from '../../../voices/dsp/wav.ts';
import { openEncoder } from '../../engines/voice-models.ts';
import { interruptSignal } from '../../terminal/interrupt.ts';
import { UsageError } from '../../terminal/flags.ts';
import { table } from '../../terminal/table.ts';
import { referenceOf } from './show.ts';
import type { VoicesCommand } from './voices.ts';
import { jsonText, printLine } from '../../terminal/text.ts';

/** `dramatis voices compare A B`: compares two voices by embedding, pitch and other measurements. */
export async function compare({ store, names, config, json }: VoicesCommand): Promise<number> {
  const [one, other] = names;
  if (one === undefined || other === undefined) throw new UsageError('Name two voices.');
  const signal = interruptSignal();
  const records = [await store.read(one), await store.read(other)] as const;
  const references = records.map(referenceOf);
  const encoder = await openEncoder(config, { signal });
  try {
    const embeddings = await Promise.all(
      records.map((record) => embeddingOf(record, store.place(record.id, referenceOf(record).file), encoder, signal)),
    );
    const [a, b] = embeddings;
    const comparable = a !== undefined && b !== undefined && a.encoder === b.encoder;
    const similarity = comparable ? { cosine: cosine(a.values, b.values), encoder: a.encoder } : null;
    const [first, second] = references.map(({ measured }) => measured.pitch?.medianHertz);
    const apart = first === undefined || second === undefined ? null : Math.abs(semitones(first, second));
    if (json) {
      printLine(jsonText({ voices: [one, other], similarity, pitch_apart_semitones: apart }));
      return 0;
    }
    const row = (label: string, value: (reference: (typeof references)[number]) => string): string[] => [
      label,
      ...references.map(value),
    ];
    const rows = [
      row('F0', ({ measured: { pitch } }) => (pitch === null ? '' : `${pitch.medianHertz} Hz`)),
      row('pace', ({ measured: { speakingRate: pace } }) =>
        pace === null ? '' : `${pace.perMinute} ${pace.unit}/min`,
      ),
      row('SNR', ({ measured }) => `${measured.snrDb} dB`),
      row('DNSMOS', ({ measured: { quality } }) => quality?.overall.toFixed(2) ?? ''),
    ];
    printLine(table(['', one, other], rows));
    if (apart !== null) printLine(`\npitch difference: ${apart.toFixed(1)} semitones`);
    printLine(
      similarity === null
        ? 'similarity: unknown without a speaker encoder (DRAMATIS_SPEAKER_ENCODER)'
        : `similarity: ${similarity.cosine.toFixed(3)} (cosine by ${similarity.encoder})`,
    );
    return 0;
  } finally {
    await encoder?.close();
  }
}

/** Embeds with the available encoder, otherwise returns the stored embedding. */
async function embeddingOf(
  record: VoiceRecord,
  wavPath: string,
  encoder: SpeakerEncoder | undefined,
  signal: AbortSignal,
): Promise<{ readonly encoder: string; readonly values: ArrayLike<number> } | undefined> {
  const kept = referenceOf(record).measured.embedding ?? undefined;
  if (encoder === undefined || kept?.encoder === encoder.name) return kept;
  return { encoder: encoder.name, values: await encoder.embed(await readWav(wavPath), { signal }) };
}
