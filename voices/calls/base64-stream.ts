/**
 * Decodes base64 that comes in pieces, whether each piece is whole by itself or the text was cut anywhere: what makes no four
 * characters waits for the next piece.
 */
export function openBase64(): { decode(piece: string): Buffer } {
  let held = '';
  return {
    decode(piece) {
      const text = held + piece;
      // Padding ends a piece that is whole by itself.
      const whole = text.endsWith('=') ? text.length : text.length - (text.length % 4);
      held = text.slice(whole);
      return Buffer.from(text.slice(0, whole), 'base64');
    },
  };
}
