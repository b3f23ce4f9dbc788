import { findPackageJSON } from 'node:module';

/**
 * Returns whether an optional dependency is installed. Its tests are written as
 * `describe.skipIf(!isInstalled(NAME))(...)`.
 */
export function isInstalled(name: string): boolean {
  try {
    return findPackageJSON(name, import.meta.url) !== undefined;
  } catch {
    console.warn(`Tests of ${name} are skipped: that optional package is not installed.`);
    return false;
  }
}
