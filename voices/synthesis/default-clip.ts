import { basename } from 'node:path';
import { z } from 'zod';
import type { EngineContext } from '../calls/context.ts';
import { EngineError } from '../engine.ts';
import type { ReferenceVoice, Voice } from '../synthesizer.ts';

/** Note on consent, without which no voice is cloned. */
export const consentSchema = z
  .string({ error: 'state in "consent" who allowed this voice to be cloned, and how you know' })
  .trim()
  .min(1, 'state in "consent" who allowed this voice to be cloned, and how you know');

/** Clip used if an engine without built-in voices is given none. */
export const defaultClipSchema = z.strictObject({
  /** Path of a WAV on our disk. */
  wav: z.string().min(1),
  /** Verbatim transcript of the clip. */
  transcript: z.string(),
  /** BCP 47 tag. */
  language: z.string().min(2),
  /** Note of who allowed the voice to be cloned, and how that is known; logged with every use. */
  consent: consentSchema,
});

/** The voice's own clip, otherwise the default one; throws `ENGINE_REFUSED` if there is neither. */
export function clipOf(
  voice: Voice,
  defaultClip: z.infer<typeof defaultClipSchema> | undefined,
  { name }: Pick<EngineContext, 'name'>,
): ReferenceVoice {
  if (voice.kind === 'reference') return voice;
  if (defaultClip === undefined) {
    const detail =
      'this engine only clones voices from clips. Set a clip for the character, or for all ("*"), in "references".';
    throw new EngineError(name, 'ENGINE_REFUSED', detail);
  }
  const { wav: wavPath, ...rest } = defaultClip;
  return { kind: 'reference', wavPath, ...rest };
}

/** Path of a clip on the server's disk: the same as on ours, unless the server has its own folder for clips. */
export function pathOnServer(wavPath: string, serverDirectory: string | undefined): string {
  return serverDirectory === undefined ? wavPath : `${serverDirectory.replace(/\/+$/, '')}/${basename(wavPath)}`;
}

/** Returns the first subtag, such as `zh` of `zh-Hans`. */
export function primaryTag(language: string): string {
  return language.toLowerCase().split('-')[0] ?? '';
}
