## What each shape of the mouth moves in a rig. Written by test/client/games/viseme-tables.ts.
extends RefCounted

## In the order of OVRLipSync and OpenXR: the index is the number that they use.
const VISEMES := ["sil", "PP", "FF", "TH", "DD", "kk", "CH", "SS", "nn", "RR", "aa", "E", "ih", "oh", "ou"]

const ARKIT := {
	"sil": {},
	"PP": {"mouthRollUpper": 0.80, "mouthRollLower": 0.80},
	"FF": {"mouthRollLower": 1.00, "mouthShrugUpper": 1.00, "mouthDimpleLeft": 1.00, "mouthDimpleRight": 1.00},
	"TH": {"mouthRollUpper": 0.60, "tongueOut": 0.40, "jawOpen": 0.20},
	"DD": {"mouthFunnel": 0.50, "jawOpen": 0.20, "mouthPressLeft": 0.80, "mouthPressRight": 0.80},
	"kk": {"mouthFunnel": 0.30, "jawOpen": 0.15, "mouthLowerDownLeft": 0.40, "mouthLowerDownRight": 0.40, "mouthDimpleLeft": 0.30, "mouthDimpleRight": 0.30},
	"CH": {"mouthPucker": 0.50, "jawOpen": 0.20},
	"SS": {"jawOpen": 0.10, "mouthPressLeft": 0.80, "mouthPressRight": 0.80, "mouthLowerDownLeft": 0.50, "mouthLowerDownRight": 0.50},
	"nn": {"mouthFunnel": 0.30, "jawOpen": 0.15, "mouthLowerDownLeft": 0.40, "mouthLowerDownRight": 0.40, "mouthDimpleLeft": 0.30, "mouthDimpleRight": 0.30},
	"RR": {"mouthPucker": 0.50, "jawOpen": 0.20},
	"aa": {"jawOpen": 0.60},
	"E": {"jawOpen": 0.30, "mouthPressLeft": 0.80, "mouthPressRight": 0.80, "mouthDimpleLeft": 1.00, "mouthDimpleRight": 1.00},
	"ih": {"jawOpen": 0.20, "mouthPressLeft": 0.60, "mouthPressRight": 0.60, "mouthDimpleLeft": 0.60, "mouthDimpleRight": 0.60},
	"oh": {"mouthPucker": 1.00, "jawOpen": 0.20, "jawForward": 0.60},
	"ou": {"mouthFunnel": 1.00},
}

const LIVE2D := {
	"sil": {"ParamMouthOpenY": 0.00, "ParamMouthForm": 0.00},
	"PP": {"ParamMouthOpenY": 0.00, "ParamMouthForm": 0.00},
	"FF": {"ParamMouthOpenY": 0.10, "ParamMouthForm": 0.20},
	"TH": {"ParamMouthOpenY": 0.20, "ParamMouthForm": 0.10},
	"DD": {"ParamMouthOpenY": 0.20, "ParamMouthForm": 0.20},
	"kk": {"ParamMouthOpenY": 0.25, "ParamMouthForm": 0.00},
	"CH": {"ParamMouthOpenY": 0.20, "ParamMouthForm": -0.50},
	"SS": {"ParamMouthOpenY": 0.10, "ParamMouthForm": 0.50},
	"nn": {"ParamMouthOpenY": 0.20, "ParamMouthForm": 0.10},
	"RR": {"ParamMouthOpenY": 0.25, "ParamMouthForm": -0.30},
	"aa": {"ParamMouthOpenY": 1.00, "ParamMouthForm": 0.00},
	"E": {"ParamMouthOpenY": 0.50, "ParamMouthForm": 0.40},
	"ih": {"ParamMouthOpenY": 0.35, "ParamMouthForm": 1.00},
	"oh": {"ParamMouthOpenY": 0.70, "ParamMouthForm": -0.60},
	"ou": {"ParamMouthOpenY": 0.35, "ParamMouthForm": -1.00},
}

const VRM := {
	"sil": {},
	"PP": {},
	"FF": {"ih": 0.15},
	"TH": {"ih": 0.25},
	"DD": {"ih": 0.25},
	"kk": {"aa": 0.20},
	"CH": {"ou": 0.40},
	"SS": {"ih": 0.30},
	"nn": {"ih": 0.25},
	"RR": {"ou": 0.30},
	"aa": {"aa": 1.00},
	"E": {"ee": 0.80},
	"ih": {"ih": 1.00},
	"oh": {"oh": 1.00},
	"ou": {"ou": 1.00},
}


## Mixes the weights of a table by the weights of the shapes.
static func mixed(table: Dictionary, shapes: Dictionary) -> Dictionary:
	var sum := {}
	for shape in shapes:
		for part in table[shape]:
			sum[part] = sum.get(part, 0.0) + shapes[shape] * table[shape][part]
	return sum
