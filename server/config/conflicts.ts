import { isIP } from 'node:net';
import { limits } from '../limits/limits.ts';
import { keyIn } from './api-keys.ts';
import { isLoopback, isWildcard } from './loopback.ts';
import type { Config } from './settings.ts';

/** Describes a contradiction between settings that are each valid, and how to fix it. Undefined if there is none. */
export function conflictIn(config: Config): string | undefined {
  return (
    exposureConflict(config) ??
    tlsConflict(config) ??
    serverConflict(config) ??
    callConflict(config) ??
    clusterConflict(config)
  );
}

function exposureConflict({ apiKeys, host }: Config): string | undefined {
  if (isLoopback(host)) return undefined;
  const least = limits.keyCharacters.value;
  if (apiKeys.some((entry) => keyIn(entry).key.length < least)) {
    return (
      `HOST is ${host}, which others can reach, but DRAMATIS_API_KEYS has a key that could be guessed: each needs at ` +
      `least ${least} characters. This makes one: node -p "crypto.randomBytes(24).toString('base64url')"`
    );
  }
  if (apiKeys.length > 0) return undefined;
  return (
    `HOST is ${host}, which others can reach, but DRAMATIS_API_KEYS is not set: anyone could use this server. ` +
    'Set DRAMATIS_API_KEYS to one or more secret keys, or HOST to 127.0.0.1.'
  );
}

function tlsConflict({ tlsCert, tlsKey, tlsDev }: Config): string | undefined {
  if ((tlsCert === undefined) !== (tlsKey === undefined)) {
    const [given, missing] = tlsKey === undefined ? ['CERT', 'KEY'] : ['KEY', 'CERT'];
    return `DRAMATIS_TLS_${given} is set but DRAMATIS_TLS_${missing} is not: TLS needs both, or --tls-dev instead.`;
  }
  return tlsDev && tlsCert !== undefined
    ? 'DRAMATIS_TLS_DEV and DRAMATIS_TLS_CERT are both set: choose one certificate.'
    : undefined;
}

function serverConflict({ llmBaseUrl, llmModel, embeddingsBaseUrl, embeddingsModel }: Config): string | undefined {
  const servers = [
    ['DRAMATIS_LLM', llmBaseUrl, llmModel],
    ['DRAMATIS_EMBEDDINGS', embeddingsBaseUrl, embeddingsModel],
  ] as const;
  for (const [prefix, baseUrl, model] of servers) {
    if (baseUrl === undefined) continue;
    if (model === undefined)
      return `${prefix}_BASE_URL is set but ${prefix}_MODEL is not: set it to the name of the model.`;
    const { username, password } = new URL(baseUrl);
    if (username !== '' || password !== '')
      return `${prefix}_BASE_URL contains a user name or password: put the key into ${prefix}_API_KEY.`;
  }
  return undefined;
}

function clusterConflict({ redisUrl, nodeUrl, clusterKey, store }: Config): string | undefined {
  const least = limits.keyCharacters.value;
  const needed = [
    ['DRAMATIS_REDIS_URL', redisUrl],
    ['DRAMATIS_NODE_URL', nodeUrl],
    ['DRAMATIS_CLUSTER_KEY', clusterKey],
  ] as const;
  const [given] = needed.find(([, value]) => value !== undefined) ?? [];
  const [missing] = needed.find(([, value]) => value === undefined) ?? [];
  if (given === undefined) return undefined;
  if (missing !== undefined) return `${given} is set but ${missing} is not: a node of several needs both.`;
  if (!store) {
    return (
      'DRAMATIS_REDIS_URL is set but DRAMATIS_STORE is not: sessions are kept in Redis only if you agree that ' +
      'conversations are stored there. Set DRAMATIS_STORE=true.'
    );
  }
  if ((clusterKey ?? '').length >= least) return undefined;
  return (
    `DRAMATIS_CLUSTER_KEY could be guessed: it needs at least ${least} characters. ` +
    `This makes one: node -p "crypto.randomBytes(24).toString('base64url')"`
  );
}

function callConflict(config: Config): string | undefined {
  const { webrtcHost, webrtcAddress, stunUrl, turnUrl, turnUser, turnCredential } = config;
  if (turnUrl !== undefined && (turnUser === undefined || turnCredential === undefined)) {
    return 'DRAMATIS_TURN_URL is set, but DRAMATIS_TURN_USER or DRAMATIS_TURN_CREDENTIAL is not: TURN needs both.';
  }
  const bound = webrtcHost ?? config.host;
  const forOthers =
    webrtcAddress !== undefined && !isLoopback(webrtcAddress)
      ? 'DRAMATIS_WEBRTC_ADDRESS'
      : stunUrl !== undefined
        ? 'DRAMATIS_STUN_URL'
        : undefined;
  if (forOthers !== undefined && turnUrl === undefined && isLoopback(bound)) {
    return (
      `${forOthers} is for clients on other machines, but calls use ${bound}, which they cannot reach: ` +
      'set DRAMATIS_WEBRTC_HOST to 0.0.0.0, or to the address of a network interface.'
    );
  }
  if (config.webrtcPorts !== undefined && webrtcAddress === undefined && isWildcard(bound) && isLoopback(config.host)) {
    return (
      'DRAMATIS_WEBRTC_PORTS is set, so calls announce a single address, which is unknown: ' +
      'set DRAMATIS_WEBRTC_ADDRESS, or DRAMATIS_WEBRTC_HOST to the address of a network interface.'
    );
  }
  // Only `::` accepts both IPv4 and IPv6.
  const takesBoth = isIP(bound) !== 4 && isWildcard(bound);
  if (webrtcAddress !== undefined && isIP(bound) !== 0 && !takesBoth && isIP(webrtcAddress) !== isIP(bound)) {
    return `DRAMATIS_WEBRTC_ADDRESS is ${webrtcAddress}, but calls use ${bound}: one is IPv4, the other IPv6.`;
  }
  return undefined;
}
