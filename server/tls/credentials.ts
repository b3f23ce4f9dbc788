import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { ConfigError, type Config } from '../config/config.ts';
import { devCertificate, devCertificatePaths, type TlsCredentials } from './dev-certificate.ts';

/** Opens the server's certificate; undefined for plain HTTP. Throws a `ConfigError` on unusable files. */
export async function openTls(
  config: Pick<Config, 'tlsCert' | 'tlsKey' | 'tlsDev' | 'dataDir'>,
): Promise<TlsCredentials | undefined> {
  const { tlsCert, tlsKey, tlsDev, dataDir } = config;
  if (tlsDev) return devCertificate(dataDir);
  if (tlsCert === undefined || tlsKey === undefined) return undefined;
  const cert = await readPem('DRAMATIS_TLS_CERT', tlsCert);
  const key = await readPem('DRAMATIS_TLS_KEY', tlsKey);
  const certificate = parse('DRAMATIS_TLS_CERT', tlsCert, 'certificate', () => new X509Certificate(cert));
  const privateKey = parse('DRAMATIS_TLS_KEY', tlsKey, 'private key', () => createPrivateKey(key));
  if (!certificate.checkPrivateKey(privateKey)) {
    throw new ConfigError(`DRAMATIS_TLS_KEY (${tlsKey}) does not match the certificate in ${tlsCert}.`);
  }
  return { cert, key };
}

/** Explains how to make Node and browsers trust the certificate of `--tls-dev`. */
export function trustAdvice(dataDir: string): string {
  const { cert } = devCertificatePaths(dataDir);
  return [
    `The certificate is self-signed. To make Node programs trust it, set NODE_EXTRA_CA_CERTS=${cert}`,
    'Browsers show a warning once. To avoid it, import the file as a trusted certificate.',
  ].join('\n  ');
}

async function readPem(setting: string, file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (cause) {
    throw new ConfigError(`${setting}: ${file} cannot be read. Check the path and its permissions.`, { cause });
  }
}

function parse<Parsed>(setting: string, file: string, kind: string, read: () => Parsed): Parsed {
  try {
    return read();
  } catch (cause) {
    throw new ConfigError(`${setting}: ${file} contains no readable PEM ${kind}.`, { cause });
  }
}
