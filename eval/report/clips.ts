import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { openLimiter } from '../../voices/calls/limiter.ts';
import { findFfmpeg, startFfmpeg } from '../../voices/dsp/ffmpeg.ts';
import { html, type Markup } from './html.ts';

/** Renders recordings as html`<audio>` players embedded in the page. */
export interface ClipEmbedder {
  /** Returns an html`<audio>` element, or a short notice if there is no recording. */
  player(file: string | null): Promise<Markup>;
}

/** Opens an embedder: MP3 at 32 kbit/s if ffmpeg is installed (a tenth of the size), otherwise WAV. */
export function openEmbedder(): ClipEmbedder {
  const made = new Map<string, Promise<Markup>>();
  const places = openLimiter(4);
  const { signal } = new AbortController();
  const make = async (file: string): Promise<Markup> => {
    const leave = await places.enter({ signal });
    try {
      const bytes = await readFile(file).catch(() => undefined);
      if (bytes === undefined) return html`<span class="gone">recording not found</span>`;
      const mp3 = await asMp3(bytes).catch(() => undefined);
      const [type, data] = mp3 === undefined ? ['audio/wav', bytes] : ['audio/mpeg', mp3];
      return html`<audio controls preload="metadata" src="data:${type};base64,${data.toString('base64')}"></audio>`;
    } finally {
      leave();
    }
  };
  return {
    player(file) {
      if (file === null) return Promise.resolve(html`<span class="gone">no sound</span>`);
      const known = made.get(file) ?? make(file);
      made.set(file, known);
      return known;
    },
  };
}

async function asMp3(wav: Buffer): Promise<Buffer> {
  const child = startFfmpeg(await findFfmpeg(), {
    input: '-protocol_whitelist pipe -f wav -i pipe:0'.split(' '),
    output: '-ac 1 -ar 24000 -b:a 32k -f mp3'.split(' '),
    stdin: 'pipe',
    timeoutMs: 60_000,
  });
  const closed = once(child, 'close');
  child.stdin?.on('error', () => undefined);
  child.stdin?.end(wav);
  const pieces: Buffer[] = await Array.fromAsync((child.stdout ?? []) as AsyncIterable<Buffer>);
  const [status] = (await closed) as [number | null];
  if (status !== 0 || pieces.length === 0) throw new Error('ffmpeg could not read it');
  return Buffer.concat(pieces);
}
