import type { ClipFacts } from '../../characters/tavern/from-pack.ts';
import { VoiceError, type VoiceRecord } from '../../voices/library/record.ts';
import { openVoiceStore, type VoiceStore } from '../../voices/library/store.ts';

/** Reads a voice of the library that has a clip to clone. Undefined if it is unknown or invalid, or has no clip yet. */
export async function readyVoice(
  store: VoiceStore,
  id: string,
): Promise<(VoiceRecord & { readonly reference: NonNullable<VoiceRecord['reference']> }) | undefined> {
  try {
    const voice = await store.read(id);
    return voice.reference === null ? undefined : { ...voice, reference: voice.reference };
  } catch (fault) {
    if (fault instanceof VoiceError) return undefined;
    throw fault;
  }
}

/** Facts about the clip that a card refers to, for the exported card. Undefined if there is no such clip here. */
export async function clipFacts(dataDir: string, id: string | undefined): Promise<ClipFacts | undefined> {
  const voice = id === undefined ? undefined : await readyVoice(openVoiceStore(dataDir), id);
  if (voice === undefined) return undefined;
  const { language, licence, consent, reference } = voice;
  return { transcript: reference.transcript, language, licence, consent: consent.note };
}
