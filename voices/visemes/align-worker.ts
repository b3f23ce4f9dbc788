import { serveWorker } from '../runtime/worker-serve.ts';
import { align, SoundFeatures } from './alignment.ts';
import type { AlignReply, AlignRequest } from './aligner.ts';

/** Phrases in progress; more than this many at once and the oldest is forgotten, which its caller notices. */
const mostPhrases = 256;

interface Phrase {
  reference: Float32Array | undefined;
  places: Int32Array | undefined;
  readonly sound: SoundFeatures;
}

const phrases = new Map<number, Phrase>();

serveWorker<AlignRequest, AlignReply>(async ({ phrase, sampleRate, reference, samples, isOver }) => {
  const known = phrases.get(phrase) ?? {
    reference: undefined,
    places: undefined,
    sound: new SoundFeatures(sampleRate),
  };
  phrases.set(phrase, known);
  if (isOver === true) phrases.delete(phrase);
  for (const oldest of phrases.keys()) {
    if (phrases.size <= mostPhrases) break;
    phrases.delete(oldest);
  }
  if (reference !== undefined) {
    const features = new SoundFeatures(reference.sampleRate);
    features.push(reference.samples);
    known.reference = features.frames === 0 ? undefined : features.standardized();
  }
  for (const part of samples) known.sound.push(part);
  if (isOver === true || known.reference === undefined || known.sound.frames === 0) return { reply: undefined };
  const reply = align(known.reference, known.sound.standardized(), known.places);
  known.places = reply.places;
  return { reply };
});
