import { durationMs } from '../../../../voices/audio.ts';
import type { MouthMovement, SpeechChunk } from '../../../../voices/synthesizer.ts';

/** What chunks say: exact words with their start, shapes and sounds with theirs, all in whole ms from the start. */
export function heardIn(chunks: readonly SpeechChunk[]) {
  let atMs = 0;
  const words: [string, number][] = [];
  const shapes: string[] = [];
  const sounds: string[] = [];
  const bases = new Set<MouthMovement['basis']>();
  for (const { frame, words: here = [], mouth } of chunks) {
    const at = (ms: number): number => Math.round(atMs + ms);
    words.push(...here.map(({ text, startMs }) => [text.trim(), at(startMs)] as [string, number]));
    if (mouth !== undefined) bases.add(mouth.basis);
    for (const { viseme, startMs } of mouth?.visemes ?? [])
      if (shapes.at(-1)?.split(' ')[0] !== viseme) shapes.push(`${viseme} ${at(startMs)}`);
    for (const { sound, startMs } of mouth?.phones ?? [])
      if (sound !== '' && (startMs > 0 || sounds.at(-1)?.split(' ')[0] !== sound))
        sounds.push(`${sound} ${at(startMs)}`);
    atMs += durationMs(frame);
  }
  return { text: chunks.map(({ text }) => text).join(''), words, shapes, sounds, bases: [...bases] };
}
