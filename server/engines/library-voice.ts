import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Character } from '../../characters/character.ts';
import { VoiceError, voiceIdSchema, voiceSchema } from '../../voices/library/record.ts';
import type { Reference } from './engines-file.ts';

/** Reference clip of a library voice, for engines that clone. Throws a `VoiceError` if it may not be cloned. */
export function libraryReference(dataDir: string, id: string): Reference {
  if (!voiceIdSchema.safeParse(id).success) {
    throw new VoiceError('voice_invalid', `"${id}" is not a voice id: these are lower-case words joined by hyphens.`);
  }
  const folder = path.join(dataDir, 'voices', id);
  const { reference, language, consent } = readRecord(path.join(folder, 'voice.json'), id);
  if (reference === null) {
    throw new VoiceError(
      'voice_not_usable',
      `The voice "${id}" has no reference clip yet: run \`dramatis voices add\` again.`,
    );
  }
  const { file, transcript } = reference;
  return { voice: id, wav: path.join(folder, file), transcript, language, consent: consent.note };
}

/** Lines about characters whose card names a voice that cannot be cloned here: they speak as if it named none. */
export function missingVoices(characters: Iterable<Character>, dataDir: string): string[] {
  return [...characters].flatMap(({ id, voice }) => {
    try {
      if (voice.reference !== undefined) libraryReference(dataDir, voice.reference);
      return [];
    } catch (fault) {
      if (fault instanceof VoiceError) return [`The card of ${id} names an unusable voice: ${fault.message}`];
      throw fault;
    }
  });
}

function readRecord(file: string, id: string): ReturnType<typeof voiceSchema.parse> {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (cause) {
    throw new VoiceError('voice_not_found', `There is no voice "${id}". \`dramatis voices list\` lists them.`, cause);
  }
  try {
    return voiceSchema.parse(JSON.parse(text));
  } catch (cause) {
    throw new VoiceError('voice_invalid', `${file} is damaged: remove it and add the voice again.`, cause);
  }
}
