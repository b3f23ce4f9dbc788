## Plays items one after the other and knows how much of each was heard.
extends RefCounted

## Samples at 24 kHz between `render` and the ear: what the engine's own buffers hold.
var latency_samples := 0

## Of each item: id, pcm16, used (bytes), rendered, heard, complete.
var _items: Array[Dictionary] = []
## What was rendered and is not heard yet, by the clock of rendered samples: item, until, rendered.
var _stretches: Array[Dictionary] = []
var _clock := 0


## True from the first samples of an item until it has ended or was stopped.
func is_playing() -> bool:
	return not _items.is_empty()


## So many frames at 24 kHz, silent where there is no sound.
func render(count: int) -> PackedVector2Array:
	var frames := PackedVector2Array()
	frames.resize(count)
	var filled := 0
	for item in _items:
		var pcm16: PackedByteArray = item.pcm16
		var used: int = item.used
		var taken := mini((pcm16.size() - used) >> 1, count - filled)
		for index in taken:
			var level := pcm16.decode_s16(used + 2 * index) / 32768.0
			frames[filled + index] = Vector2(level, level)
		item.used = used + 2 * taken
		item.rendered += taken
		filled += taken
		if taken > 0:
			_stretches.append({"item": item, "until": _clock + filled, "rendered": item.rendered})
		if item.used < pcm16.size() or not item.complete:
			break
	_clock += count
	return frames


func play(id: String, pcm16: PackedByteArray) -> void:
	var item := _find(id)
	if item.is_empty():
		item = {"id": id, "pcm16": PackedByteArray(), "used": 0, "rendered": 0, "heard": 0, "complete": false}
		_items.append(item)
	# What has been rendered is not kept.
	item.pcm16 = item.pcm16.slice(item.used) + pcm16
	item.used = 0


func complete(id: String) -> void:
	var item := _find(id)
	if not item.is_empty():
		item.complete = true


## Silence at once. Returns the samples heard of each item that had not ended.
func stop() -> Dictionary:
	_listen()
	var heard := {}
	for item in _items:
		heard[item.id] = item.heard
	_items.clear()
	_stretches.clear()
	return heard


## Tells, in order, which items were heard further and which have ended since the last call.
func poll(on_heard: Callable, on_ended: Callable) -> void:
	var before := {}
	for item in _items:
		before[item.id] = item.heard
	_listen()
	for item in _items.duplicate():
		var has_ended: bool = item.complete and item.used >= item.pcm16.size() and item.heard >= item.rendered
		if has_ended:
			_items.erase(item)
		if item.heard > before[item.id]:
			on_heard.call(item.id, item.heard)
		if not has_ended:
			return
		on_ended.call(item.id)


func _listen() -> void:
	var heard := _clock - latency_samples
	while not _stretches.is_empty() and _stretches[0].until <= heard:
		var stretch: Dictionary = _stretches.pop_front()
		stretch.item.heard = stretch.rendered
	if not _stretches.is_empty():
		var next := _stretches[0]
		next.item.heard = maxi(next.item.heard, next.rendered - (next.until - heard))


func _find(id: String) -> Dictionary:
	for item in _items:
		if item.id == id:
			return item
	return {}
