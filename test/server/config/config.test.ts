import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { ConfigError, printableConfig, readConfig, settings, type Config } from '../../../server/config/config.ts';
import { isLoopback } from '../../../server/config/loopback.ts';
import { dramatis } from '../../rigs/command-rig.ts';
import { testFolder } from '../../fakes/test-folder.ts';

let folder: string;
let emptyFile: string;

beforeAll(async () => {
  folder = testFolder();
  emptyFile = await fileWith({});
});

let files = 0;
async function fileWith(content: unknown): Promise<string> {
  const file = path.join(folder, `${(files += 1)}.json`);
  await writeFile(file, typeof content === 'string' ? content : JSON.stringify(content));
  return file;
}

/** Reads a configuration from these sources alone: never from a file that lies in the working folder. */
function read(
  sources: {
    readonly flags?: Readonly<Record<string, string | boolean>>;
    readonly environment?: Readonly<Record<string, string>>;
    readonly file?: string;
  } = {},
): Config {
  const { flags = {}, environment = {}, file = emptyFile } = sources;
  return readConfig({ flags, environment, file });
}

/** The error of a refused configuration. */
function refusal(sources: Parameters<typeof read>[0]): string {
  try {
    read(sources);
  } catch (fault) {
    expect(fault).toBeInstanceOf(ConfigError);
    return (fault as ConfigError).message;
  }
  throw new Error('the configuration was accepted');
}

describe('sources', () => {
  it('prefers a flag to the environment, the environment to the file and the file to the default', async () => {
    const file = await fileWith({ port: 1001, maxSessions: 11, workers: 3 });
    const environment = { PORT: '1002', DRAMATIS_MAX_SESSIONS: '12' };
    expect(read({ flags: { port: '1003' }, environment, file })).toMatchObject({
      port: 1003,
      maxSessions: 12,
      workers: 3,
      maxSessionMinutes: 60,
    });
  });

  it('uses the default if the environment variable is empty', () => {
    expect(read({ environment: { PORT: '', DRAMATIS_API_KEYS: '' } })).toMatchObject({ port: 8080, apiKeys: [] });
  });

  it('reads no environment variable of a similar name', () => {
    expect(read({ environment: { DRAMATIS_PORT: '9', port: '9' } }).port).toBe(8080);
  });

  it('gives each setting an environment variable of its own', () => {
    const names = settings.map(({ env }) => env);
    expect(new Set(names).size).toBe(names.length);
  });
});

describe('readConfig', () => {
  it('freezes the configuration and its lists', () => {
    for (const config of [read(), read({ environment: { DRAMATIS_API_KEYS: 'one' } })]) {
      expect(Object.isFrozen(config)).toBe(true);
      expect(Object.isFrozen(config.apiKeys)).toBe(true);
      expect(Object.isFrozen(config.allowedOrigins)).toBe(true);
    }
  });

  it('reads lists with commas from the environment and as arrays from the file', async () => {
    const environment = { DRAMATIS_API_KEYS: ' one, two ,,three ' };
    const file = await fileWith({ allowedOrigins: ['https://a.example', 'https://b.example'] });
    expect(read({ environment, file })).toMatchObject({
      apiKeys: ['one', 'two', 'three'],
      allowedOrigins: ['https://a.example', 'https://b.example'],
    });
  });

  it('masks secrets when the configuration is printed and shows how many there are', () => {
    const shown = printableConfig(
      read({
        environment: {
          DRAMATIS_API_KEYS: 'first-secret,second-secret',
          DRAMATIS_LLM_BASE_URL: 'http://localhost:11434/v1',
          DRAMATIS_LLM_MODEL: 'qwen3',
          DRAMATIS_LLM_API_KEY: 'third-secret',
          DRAMATIS_TURN_URL: 'turn:relay.example:3478?transport=udp',
          DRAMATIS_TURN_USER: 'dramatis',
          DRAMATIS_TURN_CREDENTIAL: 'fourth-secret',
        },
      }),
    );
    expect(JSON.stringify(shown)).not.toContain('secret');
    expect(shown).toMatchObject({ apiKeys: ['••••', '••••'], llmApiKey: '••••', llmModel: 'qwen3' });
    expect(shown).toMatchObject({ turnUser: 'dramatis', turnCredential: '••••' });
    expect(Object.keys(shown)).toEqual(settings.map(({ name }) => name));
    expect(printableConfig(read())).toMatchObject({ apiKeys: [], llmApiKey: null });
  });

  it('reads an IPv6 address in brackets as the address inside them', () => {
    expect(read({ environment: { HOST: '[::1]' } }).host).toBe('::1');
  });

  it('reads a port range as one string, and as both ends from the file', async () => {
    const range = [20_000, 20_099];
    expect(read({ environment: { DRAMATIS_WEBRTC_PORTS: '20000-20099' } }).webrtcPorts).toEqual(range);
    expect(read({ file: await fileWith({ webrtcPorts: range }) }).webrtcPorts).toEqual(range);
  });
});

describe('invalid configuration', () => {
  const nodeSettings = {
    DRAMATIS_REDIS_URL: 'redis://127.0.0.1',
    DRAMATIS_NODE_URL: 'http://10.0.0.7:8080',
    DRAMATIS_CLUSTER_KEY: 'the key that all nodes share',
  };
  const bad: [what: string, environment: Record<string, string>, ...said: string[]][] = [
    ['a port that is no number', { PORT: 'http' }, 'PORT', '"port"', 'must be a number'],
    ['a port out of range', { PORT: '70000' }, 'PORT', '65535'],
    ['a port below zero', { PORT: '-1' }, 'PORT'],
    ['a fractional port', { PORT: '80.5' }, 'PORT'],
    ['no sessions at all', { DRAMATIS_MAX_SESSIONS: '0' }, 'DRAMATIS_MAX_SESSIONS'],
    ['an unknown log level', { DRAMATIS_LOG_LEVEL: 'loud' }, 'DRAMATIS_LOG_LEVEL', 'debug'],
    ['a switch that is neither on nor off', { DRAMATIS_LOG_CONTENT: 'perhaps' }, 'DRAMATIS_LOG_CONTENT'],
    ['an LLM address that is no URL', { DRAMATIS_LLM_BASE_URL: 'localhost' }, 'DRAMATIS_LLM_BASE_URL'],
    ['an LLM address of another scheme', { DRAMATIS_LLM_BASE_URL: 'file:///etc' }, 'DRAMATIS_LLM_BASE_URL'],
    ['an LLM without a model', { DRAMATIS_LLM_BASE_URL: 'http://localhost:1/v1' }, 'DRAMATIS_LLM_MODEL'],
    ['one port for all calls', { DRAMATIS_WEBRTC_PORTS: '20000' }, 'DRAMATIS_WEBRTC_PORTS', '20000-20099'],
    ['ports that end before they begin', { DRAMATIS_WEBRTC_PORTS: '20099-20000' }, 'DRAMATIS_WEBRTC_PORTS'],
    ['an address for calls that is a name', { DRAMATIS_WEBRTC_HOST: 'example.org' }, 'DRAMATIS_WEBRTC_HOST', 'IP'],
    ['a public address behind loopback', { DRAMATIS_WEBRTC_ADDRESS: '203.0.113.7' }, 'DRAMATIS_WEBRTC_HOST'],
    ['a STUN server behind loopback', { DRAMATIS_STUN_URL: 'stun:stun.example:3478' }, 'DRAMATIS_WEBRTC_HOST'],
    [
      'a public address of the other IP family',
      { DRAMATIS_WEBRTC_HOST: '0.0.0.0', DRAMATIS_WEBRTC_ADDRESS: 'fd00::7' },
      'DRAMATIS_WEBRTC_ADDRESS',
    ],
    [
      'a port range on an unspecified address',
      { DRAMATIS_WEBRTC_HOST: '0.0.0.0', DRAMATIS_WEBRTC_PORTS: '20000-20099' },
      'DRAMATIS_WEBRTC_ADDRESS',
    ],
    ['a STUN server of another scheme', { DRAMATIS_STUN_URL: 'https://stun.example' }, 'DRAMATIS_STUN_URL', 'stun:'],
    ['a Redis without the URL of the node', { DRAMATIS_REDIS_URL: 'redis://127.0.0.1' }, 'DRAMATIS_NODE_URL'],
    ['the key of nodes without a Redis', { DRAMATIS_CLUSTER_KEY: 'a'.repeat(16) }, 'DRAMATIS_REDIS_URL'],
    ['nodes whose operator has not agreed to storing', nodeSettings, 'DRAMATIS_STORE'],
    [
      'nodes whose key could be guessed',
      { ...nodeSettings, DRAMATIS_STORE: 'true', DRAMATIS_CLUSTER_KEY: 'short' },
      'DRAMATIS_CLUSTER_KEY',
    ],
    ['a Redis that is none', { ...nodeSettings, DRAMATIS_REDIS_URL: 'http://127.0.0.1' }, 'redis://HOST:6379'],
    ['a TURN relay without a password', { DRAMATIS_TURN_URL: 'turn:relay.example' }, 'DRAMATIS_TURN_CREDENTIAL'],
  ];
  for (const [what, environment, ...said] of bad) {
    it(`names the invalid setting: ${what}`, () => {
      const message = refusal({ environment });
      for (const words of said) expect(message).toContain(words);
    });
  }

  it('names the invalid flag', () => {
    expect(refusal({ flags: { maxSessions: 'many' } })).toContain('--max-sessions');
  });

  it('names the file with an unknown key', async () => {
    const file = await fileWith({ prot: 8081 });
    const message = refusal({ file });
    expect(message).toContain(file);
    expect(message).toContain('"prot"');
  });

  it('refuses a configuration file that is not JSON, not an object or missing', async () => {
    expect(refusal({ file: await fileWith('{"port": ') })).toContain('not a JSON object');
    expect(refusal({ file: await fileWith([8080]) })).toContain('not a JSON object');
    expect(refusal({ file: path.join(folder, 'none.json') })).toContain('cannot be read');
  });

  it('does not change object prototypes, for any keys in the file', async () => {
    const file = await fileWith('{"__proto__": {"port": 1}, "constructor": {"prototype": {"port": 1}}}');
    expect(refusal({ file })).toContain(file);
    expect(({} as Record<string, unknown>)['port']).toBeUndefined();
  });

  it('never repeats a secret in the error of a refused configuration', () => {
    const environment = { DRAMATIS_LLM_BASE_URL: 'http://me:hush-hush@localhost/v1', DRAMATIS_LLM_MODEL: 'm' };
    const message = refusal({ environment });
    expect(message).toContain('DRAMATIS_LLM_API_KEY');
    expect(message).not.toContain('hush-hush');
  });
});

describe('host', () => {
  const elsewhere = ['0.0.0.0', '::', '192.168.1.20', '10.0.0.1', 'fe80::1', 'example.org', '127.0.0.1.example.org'];
  for (const host of elsewhere) {
    it(`refuses to serve on ${host} without API keys and explains why`, () => {
      const message = refusal({ environment: { HOST: host } });
      expect(message).toContain(host);
      expect(message).toContain('DRAMATIS_API_KEYS');
      expect(read({ environment: { HOST: host, DRAMATIS_API_KEYS: 'a-key-of-16-letters' } }).host).toBe(host);
    });
  }

  it('refuses a list of API keys that holds only commas', () => {
    expect(refusal({ environment: { HOST: '0.0.0.0', DRAMATIS_API_KEYS: ' , ,' } })).toContain('DRAMATIS_API_KEYS');
  });
});

describe('isLoopback', () => {
  const loopback = ['127.0.0.1', '127.8.9.10', 'localhost', 'LocalHost', '::1', '[::1]', '0:0:0:0:0:0:0:1'];
  for (const host of loopback) {
    it(`needs no API key on the loopback address ${host}`, () => {
      expect(isLoopback(read({ environment: { HOST: host } }).host)).toBe(true);
    });
  }

  it('accepts an IPv4 loopback address in its IPv6 form', () => {
    expect(isLoopback('::ffff:127.0.0.1')).toBe(true);
    expect(isLoopback('::ffff:10.0.0.1')).toBe(false);
    expect(isLoopback('127.0.0.1.example.org')).toBe(false);
  });
});

describe('command line', () => {
  afterEach(() => void vi.unstubAllEnvs());

  it('prints the effective configuration with masked secrets and starts nothing', async () => {
    vi.stubEnv('PORT', '1002');
    vi.stubEnv('DRAMATIS_API_KEYS', 'hush-hush');
    const printed = await dramatis('serve', '--print-config', '--log-level', 'warn', '--log-content');
    expect(printed).toMatchObject({ status: 0, stderr: '' });
    expect(JSON.parse(printed.stdout)).toMatchObject({
      port: 1002,
      logLevel: 'warn',
      logContent: true,
      apiKeys: ['••••'],
    });
  });

  it('exits with 1 and explains what to do if others could reach the server without a key', async () => {
    vi.stubEnv('HOST', '0.0.0.0');
    const refused = await dramatis('serve');
    expect(refused).toMatchObject({ status: 1, stdout: '' });
    expect(refused.stderr).toMatch(/^dramatis serve: HOST is 0\.0\.0\.0, which others can reach/);
    expect(refused.stderr).toContain('Set DRAMATIS_API_KEYS');
    expect(refused.stderr.trim().split('\n')).toHaveLength(1);
  });
});
