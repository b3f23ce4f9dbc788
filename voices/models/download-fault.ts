import { ModelError } from './model-error.ts';

/** Why bytes did not come; the download decides what to do about it. */
export class DownloadFault extends Error {
  override readonly name = 'DownloadFault';
  /** `broken`: try again. `proxy`: likewise, on the way. `busy`: later. `changed`: from the beginning. `refused`: never from here. */
  readonly kind: 'broken' | 'proxy' | 'busy' | 'changed' | 'refused';
  /** How long the server wants to be left alone. */
  readonly retryAfterMs: number | undefined;

  constructor(kind: DownloadFault['kind'], message: string, retryAfterMs?: number, cause?: unknown) {
    super(message, { cause });
    this.kind = kind;
    this.retryAfterMs = retryAfterMs;
  }
}

/** The fault of an answer that brings no file. `nowMs` is the time of day. */
export function faultOfStatus(status: number, retryAfter: unknown, nowMs = Date.now()): DownloadFault {
  const says = `the server answers ${status}`;
  if (status === 429 || status === 503) return new DownloadFault('busy', says, retryAfterMs(retryAfter, nowMs));
  if (status >= 500 || status === 408) return new DownloadFault('broken', says);
  return new DownloadFault('refused', says);
}

function retryAfterMs(header: unknown, nowMs: number): number | undefined {
  if (typeof header !== 'string') return undefined;
  if (/^\d+$/.test(header.trim())) return Number(header) * 1000;
  const date = Date.parse(header);
  return Number.isNaN(date) ? undefined : Math.max(0, date - nowMs);
}

/** The same fault for anything that was thrown while bytes came; what is no fault of the network is thrown on. */
export function asFault(thrown: unknown): DownloadFault {
  if (thrown instanceof DownloadFault) return thrown;
  if (thrown instanceof ModelError) throw thrown;
  const code = thrown instanceof Error && 'code' in thrown ? String(thrown.code) : '';
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    throw new ModelError('model_disk_full', 'The disk is full. Free some, or set DRAMATIS_DATA_DIR elsewhere.', thrown);
  }
  if (['EACCES', 'EPERM', 'EROFS', 'EIO', 'ENOENT'].includes(code)) throw thrown;
  // Node calls it "aborted", as if somebody had wanted it.
  if (code === 'ECONNRESET') return new DownloadFault('broken', 'the connection was cut', undefined, thrown);
  const why = thrown instanceof Error && thrown.message !== '' ? thrown.message : code || String(thrown);
  return new DownloadFault('broken', why, undefined, thrown);
}
