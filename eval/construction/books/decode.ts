/** A decoded text, and the encoding it was found to be in. */
export interface Decoded {
  readonly text: string;
  readonly encoding: string;
}

const probeBytes = 64 * 1024;

/**
 * Decodes a text of unknown encoding: by its byte order mark, UTF-16 by its zero bytes, UTF-8 if it is valid, GB18030 if
 * that gives common Chinese, else Windows-1252 (Latin 1). Line breaks become `\n`.
 */
export function decodeText(bytes: Uint8Array): Decoded {
  const encoding = encodingOf(bytes);
  // The decoder removes the byte order mark.
  const text = new TextDecoder(encoding).decode(bytes);
  return { text: text.includes('\r') ? text.replaceAll(/\r\n?/g, '\n') : text, encoding };
}

function encodingOf(bytes: Uint8Array): string {
  const [first, second, third] = bytes;
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  if (first === 0xfe && second === 0xff) return 'utf-16be';
  if (first === 0xef && second === 0xbb && third === 0xbf) return 'utf-8';
  const probe = bytes.subarray(0, probeBytes);
  const zeros = [0, 0];
  for (let at = 0; at < probe.length; at += 1) if (probe[at] === 0) zeros[at % 2] = (zeros[at % 2] as number) + 1;
  const [even = 0, odd = 0] = zeros;
  if (odd > probe.length / 8 && odd > even * 4) return 'utf-16le';
  if (even > probe.length / 8 && even > odd * 4) return 'utf-16be';
  if (isUtf8(bytes)) return 'utf-8';
  return looksLikeGb18030(probe) ? 'gb18030' : 'windows-1252';
}

function isUtf8(bytes: Uint8Array): boolean {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  try {
    // In pieces, so that a long text is not decoded twice into memory.
    for (let from = 0; from < bytes.length; from += 2 ** 20)
      decoder.decode(bytes.subarray(from, from + 2 ** 20), { stream: from + 2 ** 20 < bytes.length });
    return true;
  } catch {
    return false;
  }
}

/** Chinese in GB18030 is nearly all pairs of high bytes; in Latin 1 accented letters are usually single. */
function looksLikeGb18030(probe: Uint8Array): boolean {
  const decoded = new TextDecoder('gb18030').decode(probe);
  const han = decoded.match(/\p{Script=Han}/gu)?.length ?? 0;
  const wrong = decoded.match(/\uFFFD/g)?.length ?? 0;
  const common =
    decoded.match(
      /[的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年过发后作里用道行所然家种事成方多经么去法学如都同现当没动面起看定天分还进好小部其些主样理心她本前开但因只从想实日軍者意無力它與長把機十民第公此已工使情明性知全三又關點正業外將兩高間由問很最重]/g,
    )?.length ?? 0;
  return han > 0 && wrong * 20 <= han && common * 5 >= han;
}
