## The mouth of the speaker at the sample that is heard now.
extends RefCounted

const MouthTimeline := preload("mouth_timeline.gd")
const Wire := preload("wire.gd")

## By item: timeline, response, received, told.
var _items := {}
var _heard_item := ""
var _heard_samples := 0.0
var _held_response := ""


## The weights of the shapes to draw now. Closed (`sil`) if nothing is heard. Null: only the loudness is known.
func weights() -> Variant:
	return weights_at(_heard_samples)


## The same at another sample at 24 kHz of the item that is heard.
func weights_at(sample: float) -> Variant:
	if _heard_item == "":
		return {"sil": 1.0}
	var item: Dictionary = _items.get(_heard_item, {})
	return item.timeline.weights_at(sample) if item.get("told", false) else null


func take(told: Dictionary) -> void:
	match told.type:
		"x_dramatis.visemes":
			var item := _find(told.item_id, told.response_id)
			item.told = true
			item.timeline.tell(told)
		"x_dramatis.hold":
			_held_response = told.response_id
			_heard_item = ""
		"x_dramatis.resume":
			for item: Dictionary in _items.values():
				if item.response == told.response_id:
					item.timeline.resume(item.received, Wire.number(told, "later_samples"))
		"response.done":
			if Wire.text(told, "response/status") == "cancelled":
				_drop([Wire.text(told, "response/id")])


func received(item_id: String, response_id: String, samples: float) -> void:
	_find(item_id, response_id).received = samples
	if _held_response == response_id:
		_held_response = ""


func heard(item_id: String, response_id: String, samples: float) -> void:
	if _held_response == response_id:
		return
	_heard_item = item_id
	_heard_samples = samples


func stopped(response_ids: Array) -> void:
	_heard_item = ""
	_drop(response_ids)


func ended(item_id: String) -> void:
	if _heard_item == item_id:
		_heard_item = ""
	_items.erase(item_id)


func _drop(response_ids: Array) -> void:
	for id: String in _items.keys():
		if _items[id].response in response_ids:
			_items.erase(id)


func _find(item_id: String, response_id: String) -> Dictionary:
	if not _items.has(item_id):
		_items[item_id] = {"timeline": MouthTimeline.new(), "response": response_id, "received": 0.0, "told": false}
	return _items[item_id]
