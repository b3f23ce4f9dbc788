import { createHash } from 'node:crypto';

/** An id for a name: lower-case words joined by hyphens, with a constant short hash if it is not in Latin letters. */
export function slugOf(name: string): string {
  const words = name
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/['’]/g, '')
    .match(/[a-z0-9]+/g);
  const slug = (words ?? []).join('-').slice(0, 64).replace(/-$/, '');
  if (slug !== '' && !/[^\p{Script=Latin}\p{N}\p{P}\p{Z}\p{S}\p{M}]/u.test(name)) return slug;
  const hash = createHash('sha256').update(name).digest('hex').slice(0, 8);
  return slug === '' ? `character-${hash}` : `${slug.slice(0, 55)}-${hash}`;
}
