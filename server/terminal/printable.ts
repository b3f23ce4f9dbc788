/**
 * Makes untrusted text (cards, models) safe for a terminal: removes control characters, which could move the cursor or
 * rename the window, and those that change the writing direction. Line breaks and tabs stay.
 */
export function printable(text: string): string {
  return text.replaceAll(/[^\P{Cc}\t\n]|[\u202A-\u202E\u2066-\u2069]/gu, '');
}
