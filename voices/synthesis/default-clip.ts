import { basename } from 'node:path';
import { z } from 'zod';
import type { EngineContext } from '../calls/context.ts';
import { EngineError } from '../engine.ts';
import type { ReferenceVoice, Voice } from '../synthesizer.ts';

/** No voice is cloned without it. */
export const consentSchema = z
  .string({ error: 'say in "consent" who allowed this voice to be cloned, and how that is known' })
  .trim()
  .min(1, 'say in "consent" who allowed this voice to be cloned, and how that is known');

/** Who speaks where an engine that has no voices of its own is given no clip. */
export const defaultClipSchema = z.strictObject({
  /** A WAV on our disk. */
  wav: z.string().min(1),
  /** What is said in it, to the letter. */
  transcript: z.string(),
  /** BCP 47 tag. */
  language: z.string().min(2),
  /** Who allowed the voice to be cloned, and how that is known; goes into the log with every use. */
  consent: consentSchema,
});

/** The clip to clone: that of the voice, else the default one. Without either the engine cannot speak: `ENGINE_REFUSED`. */
export function clipOf(
  voice: Voice,
  defaultClip: z.infer<typeof defaultClipSchema> | undefined,
  { name }: Pick<EngineContext, 'name'>,
): ReferenceVoice {
  if (voice.kind === 'reference') return voice;
  if (defaultClip === undefined) {
    throw new EngineError(
      name,
      'ENGINE_REFUSED',
      'this engine speaks with the voice of a clip only. Give the character one, or everybody ("*"), in "references".',
    );
  }
  const { wav: wavPath, ...rest } = defaultClip;
  return { kind: 'reference', wavPath, ...rest };
}

/** Where a clip lies on the server's disk: under the same path as on ours, unless the server has a folder of its own for them. */
export function pathOnServer(wavPath: string, serverDirectory: string | undefined): string {
  return serverDirectory === undefined ? wavPath : `${serverDirectory.replace(/\/+$/, '')}/${basename(wavPath)}`;
}

/** The first subtag, such as `zh` of `zh-Hans`. */
export function primaryTag(language: string): string {
  return language.toLowerCase().split('-')[0] ?? '';
}
