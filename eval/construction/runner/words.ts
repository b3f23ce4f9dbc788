import { isChinese } from '../../text-metrics/tokens.ts';

export type TextLanguage = 'en' | 'zh';

/** Language of a text: Chinese from a tenth of Han characters on. */
export function languageOf(text: string): TextLanguage {
  return isChinese(text) ? 'zh' : 'en';
}

/** A rule on the language of answers, for the placeholder `{{language}}`. */
export function languageRule(language: TextLanguage): string {
  return language === 'zh' ? 'Write every text in Chinese (中文).' : 'Write every text in English.';
}
