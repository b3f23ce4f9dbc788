import { languageTagOf } from '../text/whisper-languages.ts';
import type { DecodedText } from './decode-ahead.ts';

/** Words of a model, and the language that it states before them, as a BCP 47 tag. */
export interface ModelText extends DecodedText {
  readonly language?: string | undefined;
}

/** Qwen3-ASR's tag, which vLLM removes only from answers that are not streamed. */
const asrTag = /(?:^|\s)language ([A-Za-z]+)(?:, ?[A-Za-z]+)*<asr_text>/g;
/** Tags of SenseVoice and Whisper, such as `<|zh|><|NEUTRAL|>`. */
const markTag = /<\|([^|]*)\|>/g;

/** Removes what models write around the words that they heard: tags of language, emotion and audio event. */
export function readModelText(text: string): ModelText {
  const named = [...text.matchAll(asrTag), ...text.matchAll(markTag)].map(([, name]) => languageTagOf(name));
  const words = text.replaceAll(asrTag, ' ').replaceAll(markTag, '').trim();
  return { text: words, language: named.find((tag) => tag !== undefined) };
}

/** Like `readModelText`, for a text that still grows: empty while its beginning may become a tag. */
export function readGrowingText(text: string): string {
  const begun = text.trimStart();
  const mayBeTag = 'language '.startsWith(begun) || /^language [A-Za-z]*(, ?[A-Za-z]*)*(<[a-z_]*)?$/.test(begun);
  return mayBeTag ? '' : readModelText(text.replace(/<(\|[^|]*\|?)?$/, '')).text;
}
