/** Languages that Whisper understands, as BCP 47 primary tags. */
export const whisperLanguages: readonly string[] =
  'en zh de es ru ko fr ja pt tr pl ca nl ar sv it id hi fi vi he uk el ms cs ro da hu ta no th ur hr bg lt la mi ml cy sk te fa lv bn sr az sl kn et mk br eu is hy ne mn bs kk sq sw gl mr pa si km sn yo so af oc ka be tg sd gu am yi lo uz fo ht ps tk nn mt sa lb my bo tl mg as tt haw ln ha ba jw su yue'.split(
    ' ',
  );

const english = new Intl.DisplayNames('en', { type: 'language' });
const tagsByName = new Map(whisperLanguages.map((tag) => [english.of(tag)?.toLowerCase(), tag]));

/** Returns the tag of a language as servers name it, `en` or `English`; undefined if it is neither. */
export function languageTagOf(named: unknown): string | undefined {
  if (typeof named !== 'string') return undefined;
  const name = named.toLowerCase();
  return whisperLanguages.includes(name) ? name : tagsByName.get(name);
}
