import { Refusal } from './api.js';

/** Maximum length of the longer side, in pixels: portraits are small, and cards are sent around. */
const LONGEST = 1024;

/**
 * Converts any image that the browser can read to a PNG of limited size. Throws a Refusal if it
 * cannot be read.
 *
 * @param {File} file
 * @returns {Promise<Blob>}
 */
export async function pngOf(file) {
  const bitmap = await createImageBitmap(file).catch(() => {
    throw new Refusal(400, '', `${file.name} is not a picture that this browser can read.`);
  });
  const scale = Math.min(1, LONGEST / Math.max(bitmap.width, bitmap.height));
  const canvas = new OffscreenCanvas(Math.round(bitmap.width * scale), Math.round(bitmap.height * scale));
  canvas.getContext('2d')?.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
  bitmap.close();
  return canvas.convertToBlob({ type: 'image/png' });
}
