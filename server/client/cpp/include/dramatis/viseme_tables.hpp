// What each shape of the mouth moves in a rig. Written by test/client/games/viseme-tables.ts.
#pragma once

#include <map>
#include <string>

namespace dramatis {

using Weights = std::map<std::string, double>;
using VisemeTable = std::map<std::string, Weights>;

/// In the order of OVRLipSync and OpenXR: the index is the number that they use.
inline constexpr const char* visemes[] = {"sil", "PP", "FF", "TH", "DD", "kk", "CH", "SS", "nn", "RR", "aa", "E", "ih", "oh", "ou"};

inline const VisemeTable& ArKitTable() {
    static const VisemeTable table = {
        {"sil", {}},
        {"PP", {{"mouthRollUpper", 0.8}, {"mouthRollLower", 0.8}}},
        {"FF", {{"mouthRollLower", 1}, {"mouthShrugUpper", 1}, {"mouthDimpleLeft", 1}, {"mouthDimpleRight", 1}}},
        {"TH", {{"mouthRollUpper", 0.6}, {"tongueOut", 0.4}, {"jawOpen", 0.2}}},
        {"DD", {{"mouthFunnel", 0.5}, {"jawOpen", 0.2}, {"mouthPressLeft", 0.8}, {"mouthPressRight", 0.8}}},
        {"kk", {{"mouthFunnel", 0.3}, {"jawOpen", 0.15}, {"mouthLowerDownLeft", 0.4}, {"mouthLowerDownRight", 0.4}, {"mouthDimpleLeft", 0.3}, {"mouthDimpleRight", 0.3}}},
        {"CH", {{"mouthPucker", 0.5}, {"jawOpen", 0.2}}},
        {"SS", {{"jawOpen", 0.1}, {"mouthPressLeft", 0.8}, {"mouthPressRight", 0.8}, {"mouthLowerDownLeft", 0.5}, {"mouthLowerDownRight", 0.5}}},
        {"nn", {{"mouthFunnel", 0.3}, {"jawOpen", 0.15}, {"mouthLowerDownLeft", 0.4}, {"mouthLowerDownRight", 0.4}, {"mouthDimpleLeft", 0.3}, {"mouthDimpleRight", 0.3}}},
        {"RR", {{"mouthPucker", 0.5}, {"jawOpen", 0.2}}},
        {"aa", {{"jawOpen", 0.6}}},
        {"E", {{"jawOpen", 0.3}, {"mouthPressLeft", 0.8}, {"mouthPressRight", 0.8}, {"mouthDimpleLeft", 1}, {"mouthDimpleRight", 1}}},
        {"ih", {{"jawOpen", 0.2}, {"mouthPressLeft", 0.6}, {"mouthPressRight", 0.6}, {"mouthDimpleLeft", 0.6}, {"mouthDimpleRight", 0.6}}},
        {"oh", {{"mouthPucker", 1}, {"jawOpen", 0.2}, {"jawForward", 0.6}}},
        {"ou", {{"mouthFunnel", 1}}},
    };
    return table;
}

inline const VisemeTable& Live2DTable() {
    static const VisemeTable table = {
        {"sil", {{"ParamMouthOpenY", 0}, {"ParamMouthForm", 0}}},
        {"PP", {{"ParamMouthOpenY", 0}, {"ParamMouthForm", 0}}},
        {"FF", {{"ParamMouthOpenY", 0.1}, {"ParamMouthForm", 0.2}}},
        {"TH", {{"ParamMouthOpenY", 0.2}, {"ParamMouthForm", 0.1}}},
        {"DD", {{"ParamMouthOpenY", 0.2}, {"ParamMouthForm", 0.2}}},
        {"kk", {{"ParamMouthOpenY", 0.25}, {"ParamMouthForm", 0}}},
        {"CH", {{"ParamMouthOpenY", 0.2}, {"ParamMouthForm", -0.5}}},
        {"SS", {{"ParamMouthOpenY", 0.1}, {"ParamMouthForm", 0.5}}},
        {"nn", {{"ParamMouthOpenY", 0.2}, {"ParamMouthForm", 0.1}}},
        {"RR", {{"ParamMouthOpenY", 0.25}, {"ParamMouthForm", -0.3}}},
        {"aa", {{"ParamMouthOpenY", 1}, {"ParamMouthForm", 0}}},
        {"E", {{"ParamMouthOpenY", 0.5}, {"ParamMouthForm", 0.4}}},
        {"ih", {{"ParamMouthOpenY", 0.35}, {"ParamMouthForm", 1}}},
        {"oh", {{"ParamMouthOpenY", 0.7}, {"ParamMouthForm", -0.6}}},
        {"ou", {{"ParamMouthOpenY", 0.35}, {"ParamMouthForm", -1}}},
    };
    return table;
}

inline const VisemeTable& VrmTable() {
    static const VisemeTable table = {
        {"sil", {}},
        {"PP", {}},
        {"FF", {{"ih", 0.15}}},
        {"TH", {{"ih", 0.25}}},
        {"DD", {{"ih", 0.25}}},
        {"kk", {{"aa", 0.2}}},
        {"CH", {{"ou", 0.4}}},
        {"SS", {{"ih", 0.3}}},
        {"nn", {{"ih", 0.25}}},
        {"RR", {{"ou", 0.3}}},
        {"aa", {{"aa", 1}}},
        {"E", {{"ee", 0.8}}},
        {"ih", {{"ih", 1}}},
        {"oh", {{"oh", 1}}},
        {"ou", {{"ou", 1}}},
    };
    return table;
}

/// Mixes the weights of a table by the weights of the shapes.
inline Weights mixed(const VisemeTable& table, const Weights& shapes) {
    Weights sum;
    for (const auto& [viseme, weight] : shapes)
        for (const auto& [name, value] : table.at(viseme)) sum[name] += weight * value;
    return sum;
}

}  // namespace dramatis
