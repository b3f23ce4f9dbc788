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
  const { name, settingNames } = context;
  const listed = await listedModels(context, baseUrl, options);
  if (listed === undefined) return `${new URL(baseUrl).host} responds (it does not list its models)`;
  // Ollama lists models with a tag, and uses `latest` if a request has none.
  const found = listed.find(({ id }) => id === model) ?? listed.find(({ id }) => id === `${model ?? ''}:latest`);
  if (found === undefined && model !== undefined && listed.length > 0) {
    const detail = `the server has no model "${model}". It has ${shortList(listed)}. Set ${settingNames.model} to one of them, or install it there.`;
    throw new EngineError(name, 'ENGINE_REFUSED', detail);
  }
  const ends = found?.endsOn === undefined ? '' : `, which will be shut down on ${found.endsOn}`;
  return `${new URL(baseUrl).host} has ${model ?? 'models'}${ends}`;
}

/**
 * Returns the model of a server that requires one, where none is set: the only one that it lists, or undefined if it
 * lists none. Throws `ENGINE_REFUSED` with the list if there are several.
 */
export async function onlyModel(
  context: EngineContext,
  baseUrl: string,
  options: CallOptions,
): Promise<string | undefined> {
  const [first, ...others] = (await listedModels(context, baseUrl, options)) ?? [];
  if (first === undefined || others.length === 0) return first?.id;
  const detail = `the server has ${shortList([first, ...others])}. Set ${context.settingNames.model} to one of them.`;
  throw new EngineError(context.name, 'ENGINE_REFUSED', detail);
}

function shortList(models: readonly ModelEntry[]): string {
  const known = models.slice(0, 5).map(({ id }) => id);
  return `${known.join(', ')}${models.length > known.length ? ', …' : ''}`;
}

/** The models of a server; undefined if it responds, but has no list. */
async function listedModels(
  context: EngineContext,
  baseUrl: string,
  options: CallOptions,
): Promise<readonly ModelEntry[] | undefined> {
  const request = { url: addressOf(baseUrl, '/models'), headers: bearer(context.key) };
  try {
    return entriesOf((await sendForBytes(context, request, options)).toString('utf8'));
  } catch (cause) {
    // The server responds, and does not complain about the key.
    const lacksList =
      cause instanceof SyntaxError || (cause instanceof EngineError && (cause.status === 404 || cause.status === 405));
    if (!lacksList) throw cause;
    return undefined;
  }
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
