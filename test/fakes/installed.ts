import { findPackageJSON } from 'node:module';

/** Whether an optional dependency is here; tests of it are written `describe.skipIf(!isInstalled(NAME))(...)`. */
export function isInstalled(name: string): boolean {
  try {
    return findPackageJSON(name, import.meta.url) !== undefined;
  } catch {
    console.warn(`Tests of ${name} are skipped: that optional package is not installed.`);
    return false;
  }
}
