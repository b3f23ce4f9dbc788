import { X509Certificate, createPrivateKey } from 'node:crypto';
import { chmod, mkdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { generate } from 'selfsigned';
import { writeFileAtomic } from '../../voices/runtime/files.ts';

/** Certificate and private key in PEM. */
export interface TlsCredentials {
  readonly cert: string;
  readonly key: string;
}

const dayMs = 24 * 60 * 60 * 1000;
/** Browsers reject certificates with a much longer lifetime. */
const lifetimeMs = 365 * dayMs;
/** A certificate that expires sooner is replaced, so that a server started today still works next week. */
const spareMs = 14 * dayMs;

export function devCertificatePaths(dataDir: string): { readonly cert: string; readonly key: string } {
  const folder = path.join(dataDir, 'tls');
  return { cert: path.join(folder, 'dev-cert.pem'), key: path.join(folder, 'dev-key.pem') };
}

/**
 * Returns the self-signed certificate for localhost, 127.0.0.1 and ::1 kept under `dataDir`. Created on first use, and
 * again if it is about to expire or unreadable. The key is readable only by its owner.
 */
export async function devCertificate(dataDir: string): Promise<TlsCredentials> {
  const paths = devCertificatePaths(dataDir);
  const kept = await readKept(paths);
  if (kept !== undefined) return kept;
  await mkdir(path.dirname(paths.cert), { recursive: true, mode: 0o700 });
  const made = await makeCertificate();
  await writeFileAtomic(paths.key, made.key, 0o600);
  await writeFileAtomic(paths.cert, made.cert, 0o644);
  return made;
}

async function readKept(paths: { readonly cert: string; readonly key: string }): Promise<TlsCredentials | undefined> {
  try {
    const [cert, key] = await Promise.all([readFile(paths.cert, 'utf8'), readFile(paths.key, 'utf8')]);
    const certificate = new X509Certificate(cert);
    const isGood =
      Date.parse(certificate.validTo) - Date.now() > spareMs && certificate.checkPrivateKey(createPrivateKey(key));
    if (!isGood) return undefined;
    // It may have been copied here with the permissions of another system.
    await chmod(paths.key, 0o600);
    return { cert, key };
  } catch {
    return undefined;
  }
}

async function makeCertificate(): Promise<TlsCredentials> {
  const nowMs = Date.now();
  const { cert, private: key } = await generate([{ name: 'commonName', value: 'Dramatis development' }], {
    keyType: 'ec',
    curve: 'P-256',
    algorithm: 'sha256',
    // Tolerates the lagging clocks of phones and virtual machines.
    notBeforeDate: new Date(nowMs - dayMs),
    notAfterDate: new Date(nowMs + lifetimeMs),
    extensions: [
      { name: 'basicConstraints', cA: false, critical: true },
      { name: 'keyUsage', digitalSignature: true, critical: true },
      { name: 'extKeyUsage', serverAuth: true },
      {
        name: 'subjectAltName',
        altNames: [
          { type: 2, value: 'localhost' },
          { type: 7, ip: '127.0.0.1' },
          { type: 7, ip: '::1' },
        ],
      },
    ],
  });
  return { cert, key };
}
