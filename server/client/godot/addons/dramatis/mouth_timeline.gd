## The shapes of the mouth of one reply by sample at 24 kHz of its item, from `x_dramatis.visemes`.
extends RefCounted

const Wire := preload("wire.gd")
## Length of the crossfade, which ends as the next shape begins to sound: 60 ms.
const FADE_SAMPLES := 1440.0

## Of each: from, viseme (empty: only the loudness is known), weight.
var _entries: Array[Dictionary] = []
var _until := 0.0


func tell(told: Dictionary) -> void:
	var from := Wire.number(told, "from")
	_drop_from(from)
	for row: Array in told.visemes:
		_entries.append({"from": float(row[0]), "viseme": row[1], "weight": float(row[2]) if row.size() > 2 else 1.0})
	if told.visemes.is_empty():
		_entries.append({"from": from, "viseme": "", "weight": 0.0})
	_until = Wire.number(told, "until", INF)


## After a hold, the last `later` samples before `at` (received so far) are said again, and what follows comes later.
func resume(at: float, later: float) -> void:
	if later <= 0.0:
		return
	var index := _index_at(at - later)
	var again := {"from": at, "viseme": "sil", "weight": 1.0}
	if index >= 0:
		again = _entries[index].duplicate()
	again.from = at
	var moved: Array[Dictionary] = []
	for entry in _entries:
		if entry.from > at - later:
			moved.append({"from": entry.from + later, "viseme": entry.viseme, "weight": entry.weight})
	_drop_from(at)
	_entries.append(again)
	_entries.append_array(moved)
	_until += later


## The weights of the shapes to draw at a sample, which fade into each other. Null: only the loudness is known.
func weights_at(sample: float) -> Variant:
	if sample >= _until:
		return {"sil": 1.0}
	var index := _index_at(sample)
	var now := {"from": 0.0, "viseme": "sil", "weight": 1.0}
	if index >= 0:
		now = _entries[index]
	if now.viseme == "":
		return null
	var following := {"from": INF, "viseme": "", "weight": 0.0}
	if index + 1 < _entries.size():
		following = _entries[index + 1]
	var end := minf(following.from, _until)
	if end == _until:
		following = {"viseme": "sil", "weight": 1.0}
	if following.viseme == "" or end == INF:
		return {now.viseme: now.weight}
	# Lips that close stay closed until the sound ends.
	var is_opening: bool = now.viseme == "PP" and following.viseme != "PP"
	var share := 0.0 if is_opening else maxf(0.0, 1.0 - (end - sample) / minf(FADE_SAMPLES, end - now.from))
	var weights := {}
	_add(weights, now.viseme, now.weight * (1.0 - share))
	_add(weights, following.viseme, following.weight * share)
	return weights


func _add(weights: Dictionary, viseme: String, weight: float) -> void:
	if weight != 0.0:
		weights[viseme] = weights.get(viseme, 0.0) + weight


## The last entry at or before a sample; -1 if there is none.
func _index_at(sample: float) -> int:
	var low := 0
	var high := _entries.size()
	while low < high:
		var middle := (low + high) >> 1
		if _entries[middle].from <= sample:
			low = middle + 1
		else:
			high = middle
	return low - 1


func _drop_from(sample: float) -> void:
	_entries = _entries.filter(func(entry: Dictionary) -> bool: return entry.from < sample)
