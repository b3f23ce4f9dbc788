/**
 * Scripts that run in Redis, each at once and alone. KEYS: `owner`, a hash of `epoch`, `node` and `position`, and `lines`,
 * the journal. The epoch of a session only rises: each claim adds one, and a write with a lower one is refused. A session
 * that has ended keeps its epoch for a while, so that a node that slept meanwhile does not bring it back.
 */
export interface Script {
  readonly lua: string;
}

/** ARGV: epoch and node of the writer. Answers `fenced` if another node has claimed the session since. */
const fence = `
local kept = redis.call('HMGET', KEYS[1], 'epoch', 'node', 'position')
local epoch, mine = tonumber(kept[1] or 0), tonumber(ARGV[1])
if epoch > mine or (epoch == mine and kept[2] ~= ARGV[2]) then return 'fenced' end
`;

/** Sets how long the keys stay without a write. ARGV[3]: milliseconds. */
const stay = `
redis.call('PEXPIRE', KEYS[1], ARGV[3])
redis.call('PEXPIRE', KEYS[2], ARGV[3])
`;

/** Makes a node the owner. ARGV: node, milliseconds. Returns epoch, position, lines and the last owner; nothing if there is no such session. */
export const claim: Script = {
  lua: `
local position = redis.call('HGET', KEYS[1], 'position')
if not position then return false end
local last = redis.call('HGET', KEYS[1], 'node') or ''
local epoch = redis.call('HINCRBY', KEYS[1], 'epoch', 1)
redis.call('HSET', KEYS[1], 'node', ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
redis.call('PEXPIRE', KEYS[2], ARGV[2])
return {epoch, position, redis.call('LRANGE', KEYS[2], 0, -1), last}
`,
};

/**
 * Adds lines. ARGV: epoch, node, milliseconds, position before and after, lines. Answers `behind` if the lines before
 * them are not there: Redis has lost them, or an earlier write has not arrived.
 */
export const append: Script = {
  lua: `${fence}
if epoch < mine or kept[3] ~= ARGV[4] then return 'behind' end
for at = 6, #ARGV do redis.call('RPUSH', KEYS[2], ARGV[at]) end
redis.call('HSET', KEYS[1], 'position', ARGV[5])
${stay}
return 'written'
`,
};

/** Writes the whole journal. ARGV: epoch, node, milliseconds, position, lines. A write that arrives too late changes nothing. */
export const replace: Script = {
  lua: `${fence}
if epoch == mine and tonumber(kept[3] or 0) > tonumber(ARGV[4]) then return 'written' end
redis.call('HSET', KEYS[1], 'epoch', ARGV[1], 'node', ARGV[2], 'position', ARGV[4])
redis.call('DEL', KEYS[2])
for at = 5, #ARGV do redis.call('RPUSH', KEYS[2], ARGV[at]) end
${stay}
return 'written'
`,
};

/** Leaves the session to whichever node its client reaches. ARGV: epoch, node, milliseconds. */
export const release: Script = {
  lua: `${fence}
if epoch < mine then return 'behind' end
redis.call('HSET', KEYS[1], 'node', '')
${stay}
return 'written'
`,
};

/** Deletes a session that has ended, but for its epoch. ARGV: epoch, node, milliseconds that this one stays. */
export const remove: Script = {
  lua: `${fence}
redis.call('DEL', KEYS[2])
redis.call('HDEL', KEYS[1], 'position')
redis.call('HSET', KEYS[1], 'epoch', ARGV[1], 'node', '')
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return 'written'
`,
};
