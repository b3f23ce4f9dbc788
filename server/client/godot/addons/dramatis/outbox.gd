## Numbers the frames of the client from 1 and keeps them until the server has them. Of sound, only the last 30 seconds are
## kept; what did not arrive and was dropped counts as lost.
extends RefCounted

const MOST_EVENTS := 1000
const MOST_AUDIO_MS := 30000.0

## Of each frame: sequence, ms (of sound; 0: an event), data.
var _kept: Array[Dictionary] = []
## Sound that was sent and dropped before the server had it.
var _doubtful: Array[Dictionary] = []
var _sequence := 0
var _handed := 0
var _received := 0
var _lost_ms := 0.0


func add(audio_ms: float, write: Callable) -> void:
	_sequence += 1
	_kept.append({"sequence": _sequence, "ms": audio_ms, "data": write.call(_sequence)})
	var sum := 0.0
	var events := 0
	for each in _kept:
		sum += each.ms
		if each.ms == 0.0:
			events += 1
	if sum > MOST_AUDIO_MS:
		_give_up(true)
	elif events > MOST_EVENTS:
		_give_up(false)


## The next frame that was not sent yet; null if there is none.
func next() -> Variant:
	for each in _kept:
		if each.sequence > _handed:
			_handed = each.sequence
			return each.data
	return null


func acknowledge(processed: int, safe: int) -> void:
	_received = maxi(_received, processed)
	_kept = _kept.filter(func(each: Dictionary) -> bool: return each.sequence > safe)
	_doubtful = _doubtful.filter(func(each: Dictionary) -> bool: return each.sequence > safe)


## Frames after this one will be sent again. Returns the milliseconds of sound that are lost.
func resume(processed: int) -> float:
	_received = processed
	_handed = processed
	return _take_lost()


## Goes on with another server process. What was sent is not sent again: it would be said twice.
func restart() -> float:
	for each in _kept:
		if each.sequence <= _handed:
			_doubtful.append(each)
	var lost := _take_lost()
	acknowledge(_handed, _handed)
	return lost


func reset() -> float:
	_doubtful.append_array(_kept)
	var lost := _take_lost()
	_doubtful.clear()
	_kept.clear()
	_sequence = 0
	_handed = 0
	_received = 0
	return lost


func _take_lost() -> float:
	var sum := _lost_ms
	for each in _doubtful:
		if each.sequence > _received:
			sum += each.ms
	_doubtful = _doubtful.filter(func(each: Dictionary) -> bool: return each.sequence <= _received)
	_lost_ms = 0.0
	return sum


func _give_up(is_sound: bool) -> void:
	for index in _kept.size():
		var each := _kept[index]
		if (each.ms > 0.0) != is_sound:
			continue
		_kept.remove_at(index)
		if each.sequence > _handed:
			_lost_ms += each.ms
		else:
			_doubtful.append(each)
		return
