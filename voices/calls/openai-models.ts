import { EngineError, type CallOptions } from '../engine.ts';
import { addressOf, bearer } from './base-url.ts';
import type { EngineContext } from './context.ts';
import { sendForBytes } from './http.ts';

/**
 * Queries the model list of an OpenAI-compatible server. Returns a description of what was found; throws an
 * `EngineError` if the server cannot be reached, rejects the key, or lacks the model. A server that lists no models is
 * assumed to have it.
 */
export async function checkOpenaiModel(
  context: EngineContext,
  { baseUrl, model }: { readonly baseUrl: string; readonly model?: string | undefined },
  options: CallOptions,
): Promise<string> {
  const { name, settingNames, key } = context;
  const request = { url: addressOf(baseUrl, '/models'), headers: bearer(key) };
  let listed: readonly ModelEntry[];
  try {
    listed = entriesOf((await sendForBytes(context, request, options)).toString('utf8'));
  } catch (cause) {
    // The server responds, and does not complain about the key.
    const lacksList =
      cause instanceof SyntaxError || (cause instanceof EngineError && (cause.status === 404 || cause.status === 405));
    if (!lacksList) throw cause;
    return `${new URL(baseUrl).host} responds (it does not list its models)`;
  }
  // Ollama lists models with a tag, and uses `latest` if a request has none.
  const found = listed.find(({ id }) => id === model) ?? listed.find(({ id }) => id === `${model ?? ''}:latest`);
  if (found === undefined && model !== undefined && listed.length > 0) {
    const known = listed.slice(0, 5).map(({ id }) => id);
    const more = listed.length > known.length ? ', …' : '';
    throw new EngineError(
      name,
      'ENGINE_REFUSED',
      `the server has no model "${model}". It has ${known.join(', ')}${more}. Set ${settingNames.model} to one of them, or install it there.`,
    );
  }
  const ends = found?.endsOn === undefined ? '' : `, which will be shut down on ${found.endsOn}`;
  return `${new URL(baseUrl).host} has ${model ?? 'models'}${ends}`;
}

interface ModelEntry {
  readonly id: string;
  readonly endsOn: string | undefined;
}

/** Throws a `SyntaxError` if the text is not JSON. */
function entriesOf(text: string): readonly ModelEntry[] {
  const reply: unknown = JSON.parse(text);
  const data = typeof reply === 'object' && reply !== null ? (reply as { readonly data?: unknown }).data : undefined;
  if (!Array.isArray(data)) return [];
  return data.flatMap((entry: unknown) => {
    const { id, shutdown_date: endsOn } = (entry ?? {}) as Record<string, unknown>;
    return typeof id === 'string' ? [{ id, endsOn: typeof endsOn === 'string' ? endsOn : undefined }] : [];
  });
}
