import { z } from 'zod';

/** A language in an engine's settings: a BCP 47 primary tag such as `en`. */
export const languageTag = z.string().regex(/^[a-z]{2,3}$/);

export const languageTags = z.array(languageTag).readonly();
