import { z } from 'zod';

/** The address of an engine's server in a configuration. It holds no password: keys come from the environment. */
export const baseUrlSchema = z
  .url({ protocol: /^(?:https?|wss?)$/ })
  .refine((url) => URL.parse(url)?.username === '' && URL.parse(url)?.password === '', {
    message: 'holds a user or a password: put the key into an environment variable and name it in "apiKeyEnv"',
  });

/** An address below the base, whether or not that ends in a slash. `root`: below the server, without the base's path. */
export function addressOf(baseUrl: string, path: string, place: 'base' | 'root' = 'base'): string {
  return `${place === 'root' ? new URL(baseUrl).origin : baseUrl.replace(/\/+$/, '')}${path}`;
}

/** The header that shows a key, where there is one. */
export function bearer(key: string | undefined): Readonly<Record<string, string>> {
  return key === undefined ? {} : { authorization: `Bearer ${key}` };
}
