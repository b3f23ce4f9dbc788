## A drawn face whose mouth follows the weights of VRM (`aa ih ou ee oh`). Put your own rig in its place.
extends Node2D

const SKIN := Color(0.93, 0.79, 0.67)
const INK := Color(0.2, 0.15, 0.13)
const INSIDE := Color(0.45, 0.1, 0.1)
## Half width and half height in pixels that a weight of 1 adds.
const REACH := {"aa": Vector2(4, 46), "ih": Vector2(16, 14), "ou": Vector2(-22, 18), "ee": Vector2(20, 20), "oh": Vector2(-12, 34)}
const REST := Vector2(46, 3)

## Half width and half height of the mouth.
var size := REST


## Null: only the loudness is known.
func set_mouth(weights: Variant) -> void:
	var wanted := REST
	for shape: String in (weights if weights != null else {}):
		wanted += REACH[shape] * float(weights[shape])
	if wanted != size:
		size = wanted
		queue_redraw()


func _draw() -> void:
	draw_circle(Vector2.ZERO, 160, SKIN)
	for side in [-1, 1]:
		draw_circle(Vector2(side * 55, -40), 14, INK)
	var outline := PackedVector2Array()
	for step in 32:
		outline.append(Vector2(0, 70) + Vector2.from_angle(TAU * step / 32.0) * size)
	draw_colored_polygon(outline, INSIDE)
