/** Longest regular expression of a lorebook, in characters. */
export const maxPatternCharacters = 100;

/** Largest regular expression, in instructions: repeats within repeats multiply, so their product is below it too. */
export const maxPatternInstructions = 1_000;

/** Most regular expressions of a card: each is tried on each message of each conversation with the character. */
export const maxCardPatterns = 500;

/** Instructions of all regular expressions of a card: 2,000 characters of a message take up to 50 ms with as many. */
export const maxCardPatternInstructions = 10_000;

/** Keys of all lore entries of a card: each becomes search terms when the first conversation begins. */
export const maxCardKeys = 50_000;

/** Values in the JSON of a card: each costs a schema about a microsecond, and each wrong one ten times as much. */
export const maxCardNodes = 300_000;

/** Longest JSON of a card, in UTF-16 units: what its texts can be expanded to must fit into the memory of a thread. */
export const maxCardJsonLength = 8 * 2 ** 20;

/** Levels of nesting in the JSON of a card. */
export const maxCardDepth = 64;

/** Bytes that a CHARX archive unpacks to: as many are kept on disk, and read for each export. */
export const maxUnpackedBytes = 32 * 2 ** 20;

/** Files in a CHARX archive. */
export const maxCharxFiles = 2_000;

/** Longest path of a file in a CHARX archive, and longest name in it, in bytes: file systems allow no more. */
export const maxPathBytes = 400;
export const maxNameBytes = 200;

/** Notes on what an import changed: a hostile card has one for each of its entries. */
export const maxNotes = 100;

/** Greetings of a card that are used. */
export const maxGreetings = 100;

/** Characters of a card's text that are read for one character of speech: the rest may be markup and actions. */
export const charactersForOneSpoken = 10;
