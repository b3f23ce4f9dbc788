import { CharacterError } from '../../characters/character-error.ts';
import { ConfigError } from '../config/config.ts';
import { RealtimeClientError } from '../protocol/client.ts';
import { Interrupted } from './interrupt.ts';
import { UsageError } from './flags.ts';

/** Returns message and exit status of a failed command: 2 for an invalid command line, 130 for Ctrl-C, else 1. */
export function faultText(fault: unknown): { readonly text: string; readonly status: number } {
  if (!(fault instanceof Error)) return { text: String(fault), status: 1 };
  if (fault instanceof Interrupted || fault.cause instanceof Interrupted) return { text: 'interrupted', status: 130 };
  if (fault instanceof UsageError) return { text: fault.message, status: 2 };
  const expected = [ConfigError, CharacterError, RealtimeClientError].some((kind) => fault instanceof kind);
  // Errors that a user can fix are printed in one line; anything else is a bug and shows its stack.
  const coded = 'code' in fault && typeof fault.code === 'string';
  const text = systemFault(fault) ?? (expected || coded ? fault.message : (fault.stack ?? fault.message));
  return { text, status: 1 };
}

interface SystemFault extends NodeJS.ErrnoException {
  readonly port?: number;
  readonly address?: string;
  readonly hostname?: string;
  readonly dest?: string;
}

/** Describes an operating-system error and its remedy; undefined if there is no better text. */
function systemFault(fault: SystemFault): string | undefined {
  const { code, path, dest, port, address, hostname, syscall } = fault;
  if (syscall === 'listen') {
    if (code === 'EADDRINUSE')
      return `Port ${port} is in use. Choose another with --port (0 takes a free one), or stop the program that uses it.`;
    if (code === 'EACCES') return `Permission to use port ${port} was denied. Choose one above 1023 with --port.`;
  }
  if (code === 'EADDRNOTAVAIL' || syscall === 'getaddrinfo')
    return `${hostname ?? address} is not an address of this machine. Set HOST to 127.0.0.1, or to 0.0.0.0 for all addresses.`;
  if (code === 'ENOSPC') return 'The disk is full. Free some space, or choose another data folder (--data-dir).';
  if (path === undefined) return undefined;
  if (code === 'ENOTDIR' || code === 'EEXIST') return `${path}: part of this path is not a folder. Choose another.`;
  if (code === 'EISDIR') return `${dest ?? path}: this is a folder. Name a file.`;
  if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS')
    return `${path}: permission denied. Choose another path, or change its permissions.`;
  if (code === 'ENOENT') return `${path}: not found. Check the path.`;
  return undefined;
}
