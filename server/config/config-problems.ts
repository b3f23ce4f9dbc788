import { isLoopback } from './loopback.ts';

/** The settings that can contradict each other. */
interface Settings {
  readonly host: string;
  readonly apiKeys: readonly string[];
  readonly llmBaseUrl?: string | undefined;
  readonly llmModel?: string | undefined;
  readonly tlsCert?: string | undefined;
  readonly tlsKey?: string | undefined;
  readonly tlsDev: boolean;
}

/** Describes a contradiction between settings that are each valid, and how to fix it. Undefined if there is none. */
export function problemOf(settings: Settings): string | undefined {
  return exposureProblemOf(settings) ?? tlsProblemOf(settings) ?? llmProblemOf(settings);
}

function exposureProblemOf({ apiKeys, host }: Settings): string | undefined {
  if (apiKeys.length > 0 || isLoopback(host)) return undefined;
  return (
    `HOST is ${host}, which others can reach, but DRAMATIS_API_KEYS is not set: anyone could use this server. ` +
    'Set DRAMATIS_API_KEYS to one or more secret keys, or HOST to 127.0.0.1.'
  );
}

function llmProblemOf({ llmBaseUrl, llmModel }: Settings): string | undefined {
  if (llmBaseUrl === undefined) return undefined;
  if (llmModel === undefined)
    return 'DRAMATIS_LLM_BASE_URL is set but DRAMATIS_LLM_MODEL is not: name the model to use.';
  const { username, password } = new URL(llmBaseUrl);
  return username === '' && password === ''
    ? undefined
    : 'DRAMATIS_LLM_BASE_URL holds a user or a password: put the key into DRAMATIS_LLM_API_KEY.';
}

function tlsProblemOf({ tlsCert, tlsKey, tlsDev }: Settings): string | undefined {
  if ((tlsCert === undefined) !== (tlsKey === undefined)) {
    const [given, missing] = tlsKey === undefined ? ['CERT', 'KEY'] : ['KEY', 'CERT'];
    return `DRAMATIS_TLS_${given} is set but DRAMATIS_TLS_${missing} is not: TLS needs both, or --tls-dev instead.`;
  }
  return tlsDev && tlsCert !== undefined
    ? 'DRAMATIS_TLS_DEV and DRAMATIS_TLS_CERT are both set: choose one certificate.'
    : undefined;
}
