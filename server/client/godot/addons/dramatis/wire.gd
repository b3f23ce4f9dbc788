## Frames as they travel: JSON, and binary sound (12 bytes, little-endian, then 16-bit mono samples at 24 kHz).
extends RefCounted

const SAMPLE_RATE := 24000
const HEADER_BYTES := 12
const INPUT := 1
const REPLY := 2


## JSON of a value. Godot leaves control characters as they are, which no other reader takes.
static func text_of(value: Variant) -> String:
	var text := JSON.stringify(value, "", false)
	for code in range(1, 32):
		if text.contains(char(code)):
			text = text.replace(char(code), "\\u%04x" % code)
	return text


## The frame of a reply: number, sequence, offset, pcm16. Empty if these bytes are none.
static func decode(bytes: PackedByteArray) -> Dictionary:
	if bytes.size() < HEADER_BYTES or bytes.size() % 2 != 0 or bytes[0] != REPLY or bytes[1] != 0:
		return {}
	return {
		"number": bytes.decode_u16(2),
		"sequence": bytes.decode_u32(4),
		"offset": bytes.decode_u32(8),
		"pcm16": bytes.slice(HEADER_BYTES),
	}


## Writes what the user, or a player, says. Sequence and offset wrap at 2^32.
static func encode(sequence: int, offset: int, pcm16: PackedByteArray, player := 0) -> PackedByteArray:
	var bytes := PackedByteArray()
	bytes.resize(HEADER_BYTES)
	bytes[0] = INPUT
	bytes.encode_u16(2, player)
	bytes.encode_u32(4, sequence & 0xffffffff)
	bytes.encode_u32(8, offset & 0xffffffff)
	bytes.append_array(pcm16)
	return bytes


## A field of nested dictionaries, such as of(event, "session/x_dramatis/extensions"); null if one is missing.
static func of(value: Variant, path: String) -> Variant:
	for part in path.split("/"):
		if not value is Dictionary:
			return null
		value = value.get(part)
	return value


## The same as text; empty if there is none.
static func text(value: Variant, path: String) -> String:
	var found: Variant = of(value, path)
	return found if found is String else ""


## The same as a number.
static func number(value: Variant, path: String, otherwise := 0.0) -> float:
	var found: Variant = of(value, path)
	return float(found) if found is float or found is int else otherwise
