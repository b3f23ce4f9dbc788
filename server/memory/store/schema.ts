import type { DatabaseSync } from 'node:sqlite';

/** Migrations, each applied once, in order; counted by the file's `user_version`. Released ones never change. */
const migrations: readonly string[] = [
  `
  CREATE TABLE turns (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    owner TEXT NOT NULL, user TEXT NOT NULL, character TEXT NOT NULL,
    session TEXT NOT NULL, item TEXT NOT NULL,
    asked TEXT NOT NULL, answered TEXT NOT NULL,
    at INTEGER NOT NULL,
    summarised INTEGER NOT NULL DEFAULT 0,
    UNIQUE (session, item)
  ) STRICT;
  CREATE INDEX turns_of ON turns (owner, user, character, id);
  CREATE TABLE facts (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    owner TEXT NOT NULL, user TEXT NOT NULL, character TEXT NOT NULL,
    turn INTEGER REFERENCES turns (id) ON DELETE CASCADE,
    topic TEXT, text TEXT NOT NULL,
    at INTEGER NOT NULL,
    corrected INTEGER NOT NULL DEFAULT 0
  ) STRICT;
  CREATE INDEX facts_of ON facts (owner, user, character, id);
  CREATE INDEX facts_from ON facts (turn);
  CREATE TABLE summaries (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    owner TEXT NOT NULL, user TEXT NOT NULL, character TEXT NOT NULL,
    text TEXT NOT NULL,
    at INTEGER NOT NULL,
    corrected INTEGER NOT NULL DEFAULT 0,
    UNIQUE (owner, user, character)
  ) STRICT;
  `,
  // Embeddings; removed when their memory is deleted or corrected.
  `
  CREATE TABLE points (
    turn INTEGER UNIQUE REFERENCES turns (id) ON DELETE CASCADE,
    fact INTEGER UNIQUE REFERENCES facts (id) ON DELETE CASCADE,
    model TEXT NOT NULL, point BLOB NOT NULL,
    CHECK ((turn IS NULL) <> (fact IS NULL))
  ) STRICT;
  CREATE TRIGGER turns_corrected AFTER UPDATE OF asked, answered ON turns
    WHEN old.asked <> new.asked OR old.answered <> new.answered
    BEGIN DELETE FROM points WHERE turn = old.id; END;
  CREATE TRIGGER facts_corrected AFTER UPDATE OF text ON facts WHEN old.text <> new.text
    BEGIN DELETE FROM points WHERE fact = old.id; END;
  `,
  // `corrected`: keep corrections. `extracted`: extract facts from each turn only once. `chores`: pending purge of
  // deleted data.
  `
  ALTER TABLE turns ADD COLUMN corrected INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE turns ADD COLUMN extracted INTEGER NOT NULL DEFAULT 0;
  UPDATE turns SET extracted = summarised;
  CREATE TABLE chores (name TEXT PRIMARY KEY) STRICT;
  `,
  // State of a user in a game, by name: feelings of a character, the world.
  `
  CREATE TABLE states (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    owner TEXT NOT NULL, user TEXT NOT NULL, character TEXT NOT NULL,
    name TEXT NOT NULL, value TEXT NOT NULL,
    at INTEGER NOT NULL,
    UNIQUE (owner, user, character, name)
  ) STRICT;
  `,
];

/** Migrates a file of any older version; throws if a newer version wrote it. */
export function migrate(database: DatabaseSync): void {
  database.exec('BEGIN IMMEDIATE');
  try {
    const { user_version: version } = database.prepare('PRAGMA user_version').get() as { user_version: number };
    if (version > migrations.length) throw new Error(`it was written by a newer Dramatis (version ${version})`);
    for (const step of migrations.slice(version)) database.exec(step);
    database.exec(`PRAGMA user_version = ${migrations.length}`);
    database.exec('COMMIT');
  } catch (cause) {
    database.exec('ROLLBACK');
    throw cause;
  }
}
