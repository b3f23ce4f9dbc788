export type ModelErrorCode =
  | 'model_unknown'
  | 'model_not_published'
  | 'model_catalogue_invalid'
  | 'model_download_failed'
  | 'model_server_busy'
  | 'model_proxy_failed'
  | 'model_corrupt'
  | 'model_disk_full'
  | 'model_in_use'
  | 'model_not_installed';

/** A failure concerning the weights of a model; the message says what to do about it. */
export class ModelError extends Error {
  override readonly name = 'ModelError';
  readonly code: ModelErrorCode;

  constructor(code: ModelErrorCode, detail: string, cause?: unknown) {
    super(detail, { cause });
    this.code = code;
  }
}
