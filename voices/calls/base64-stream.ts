/** Decodes base64 that was cut anywhere: an incomplete group of four characters waits for the next piece. */
export function openBase64(): { decode(piece: string): Buffer } {
  let held = '';
  return {
    decode(piece) {
      const text = held + piece;
      // Padding ends a piece that is complete by itself.
      const whole = text.endsWith('=') ? text.length : text.length - (text.length % 4);
      held = text.slice(whole);
      return Buffer.from(text.slice(0, whole), 'base64');
    },
  };
}
