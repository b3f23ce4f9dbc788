## Tells cues and actions when their sample is heard. What the user does not hear never happens.
extends RefCounted

const Wire := preload("wire.gd")

signal due(event: Dictionary)

## In order of their sample: at, event.
var _waiting: Array[Dictionary] = []


func take(told: Dictionary) -> void:
	match told.type:
		"x_dramatis.cue", "x_dramatis.action":
			# A reply without words has no item: its actions wait for nothing.
			if told.has("action_id") and told.get("item_id") == null:
				due.emit(told)
				return
			var at := Wire.number(told, "samples")
			var index := 0
			while index < _waiting.size() and _waiting[index].at <= at:
				index += 1
			_waiting.insert(index, {"at": at, "event": told})
		"x_dramatis.resume":
			# The clause is said again: what was not heard of it comes later.
			for each in _waiting:
				if Wire.text(each.event, "response_id") == told.response_id:
					each.at += Wire.number(told, "later_samples")
		"x_dramatis.action_off":
			forget("action_id", [told.action_id])


func heard(item_id: String, response_id: String, samples: float) -> void:
	# A cue that comes before its item was opened names the response alone.
	var is_here := func(event: Dictionary) -> bool:
		if event.get("item_id") == null:
			return Wire.text(event, "response_id") == response_id
		return event.item_id == item_id
	var is_due := func(each: Dictionary) -> bool: return each.at < samples and is_here.call(each.event)
	var ready := _waiting.filter(is_due)
	_waiting = _waiting.filter(func(each: Dictionary) -> bool: return not is_due.call(each))
	for each: Dictionary in ready:
		due.emit(each.event)


## Forgets those whose field is one of these.
func forget(field: String, ids: Array) -> void:
	_waiting = _waiting.filter(func(each: Dictionary) -> bool: return not Wire.text(each.event, field) in ids)
