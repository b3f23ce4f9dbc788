import { z } from 'zod';

/** Address of an engine's server in the configuration. Must not contain a password: keys come from the environment. */
export const baseUrlSchema = z
  .url({ protocol: /^(?:https?|wss?)$/ })
  .refine((url) => URL.parse(url)?.username === '' && URL.parse(url)?.password === '', {
    message: 'contains a user name or a password: put the key into an environment variable and name it in "apiKeyEnv"',
  });

/** Appends a path to the base URL, with or without a trailing slash there; `root`: only to the server's origin. */
export function addressOf(baseUrl: string, path: string, place: 'base' | 'root' = 'base'): string {
  return `${place === 'root' ? new URL(baseUrl).origin : baseUrl.replace(/\/+$/, '')}${path}`;
}

/** Authorization header with the key, if there is one. */
export function bearer(key: string | undefined): Readonly<Record<string, string>> {
  return key === undefined ? {} : { authorization: `Bearer ${key}` };
}
