/**
 * Sends a request with a JSON body, if any, and reads the JSON answer.
 *
 * @param {string} key API key; the empty string if the server needs none
 * @param {string} method
 * @param {string} path
 * @param {unknown} [content]
 * @returns {Promise<{ ok: boolean, body: any }>} no body: the server cannot be reached
 */
export async function askServer(key, method, path, content) {
  const headers = {
    ...(key === '' ? {} : { authorization: `Bearer ${key}` }),
    ...(content === undefined ? {} : { 'content-type': 'application/json' }),
  };
  const body = content === undefined ? {} : { body: JSON.stringify(content) };
  try {
    const response = await fetch(path, { method, headers, ...body });
    return { ok: response.ok, body: await response.json() };
  } catch {
    return { ok: false, body: undefined };
  }
}

/**
 * Returns the message of a failed request, as a sentence.
 *
 * @param {{ error?: { message?: string } } | undefined} body
 */
export function complaint(body) {
  const text = body?.error?.message ?? 'The server cannot be reached.';
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
