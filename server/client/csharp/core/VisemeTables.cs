using System.Collections.Generic;
using System.Linq;
using Row = System.Collections.Generic.Dictionary<string, double>;

namespace Dramatis
{
    /// <summary>What each shape of the mouth moves in a rig. Written by test/client/games/viseme-tables.ts.</summary>
    public static class VisemeTables
    {
        /// <summary>In the order of OVRLipSync and OpenXR: the index is the number that they use.</summary>
        public static readonly string[] Visemes = { "sil", "PP", "FF", "TH", "DD", "kk", "CH", "SS", "nn", "RR", "aa", "E", "ih", "oh", "ou" };

        public static readonly Dictionary<string, Dictionary<string, double>> ArKit = new Dictionary<string, Row>
        {
            { "sil", new Row() },
            { "PP", new Row { { "mouthRollUpper", 0.8 }, { "mouthRollLower", 0.8 } } },
            { "FF", new Row { { "mouthRollLower", 1 }, { "mouthShrugUpper", 1 }, { "mouthDimpleLeft", 1 }, { "mouthDimpleRight", 1 } } },
            { "TH", new Row { { "mouthRollUpper", 0.6 }, { "tongueOut", 0.4 }, { "jawOpen", 0.2 } } },
            { "DD", new Row { { "mouthFunnel", 0.5 }, { "jawOpen", 0.2 }, { "mouthPressLeft", 0.8 }, { "mouthPressRight", 0.8 } } },
            { "kk", new Row { { "mouthFunnel", 0.3 }, { "jawOpen", 0.15 }, { "mouthLowerDownLeft", 0.4 }, { "mouthLowerDownRight", 0.4 }, { "mouthDimpleLeft", 0.3 }, { "mouthDimpleRight", 0.3 } } },
            { "CH", new Row { { "mouthPucker", 0.5 }, { "jawOpen", 0.2 } } },
            { "SS", new Row { { "jawOpen", 0.1 }, { "mouthPressLeft", 0.8 }, { "mouthPressRight", 0.8 }, { "mouthLowerDownLeft", 0.5 }, { "mouthLowerDownRight", 0.5 } } },
            { "nn", new Row { { "mouthFunnel", 0.3 }, { "jawOpen", 0.15 }, { "mouthLowerDownLeft", 0.4 }, { "mouthLowerDownRight", 0.4 }, { "mouthDimpleLeft", 0.3 }, { "mouthDimpleRight", 0.3 } } },
            { "RR", new Row { { "mouthPucker", 0.5 }, { "jawOpen", 0.2 } } },
            { "aa", new Row { { "jawOpen", 0.6 } } },
            { "E", new Row { { "jawOpen", 0.3 }, { "mouthPressLeft", 0.8 }, { "mouthPressRight", 0.8 }, { "mouthDimpleLeft", 1 }, { "mouthDimpleRight", 1 } } },
            { "ih", new Row { { "jawOpen", 0.2 }, { "mouthPressLeft", 0.6 }, { "mouthPressRight", 0.6 }, { "mouthDimpleLeft", 0.6 }, { "mouthDimpleRight", 0.6 } } },
            { "oh", new Row { { "mouthPucker", 1 }, { "jawOpen", 0.2 }, { "jawForward", 0.6 } } },
            { "ou", new Row { { "mouthFunnel", 1 } } },
        };

        public static readonly Dictionary<string, Dictionary<string, double>> Live2D = new Dictionary<string, Row>
        {
            { "sil", new Row { { "ParamMouthOpenY", 0 }, { "ParamMouthForm", 0 } } },
            { "PP", new Row { { "ParamMouthOpenY", 0 }, { "ParamMouthForm", 0 } } },
            { "FF", new Row { { "ParamMouthOpenY", 0.1 }, { "ParamMouthForm", 0.2 } } },
            { "TH", new Row { { "ParamMouthOpenY", 0.2 }, { "ParamMouthForm", 0.1 } } },
            { "DD", new Row { { "ParamMouthOpenY", 0.2 }, { "ParamMouthForm", 0.2 } } },
            { "kk", new Row { { "ParamMouthOpenY", 0.25 }, { "ParamMouthForm", 0 } } },
            { "CH", new Row { { "ParamMouthOpenY", 0.2 }, { "ParamMouthForm", -0.5 } } },
            { "SS", new Row { { "ParamMouthOpenY", 0.1 }, { "ParamMouthForm", 0.5 } } },
            { "nn", new Row { { "ParamMouthOpenY", 0.2 }, { "ParamMouthForm", 0.1 } } },
            { "RR", new Row { { "ParamMouthOpenY", 0.25 }, { "ParamMouthForm", -0.3 } } },
            { "aa", new Row { { "ParamMouthOpenY", 1 }, { "ParamMouthForm", 0 } } },
            { "E", new Row { { "ParamMouthOpenY", 0.5 }, { "ParamMouthForm", 0.4 } } },
            { "ih", new Row { { "ParamMouthOpenY", 0.35 }, { "ParamMouthForm", 1 } } },
            { "oh", new Row { { "ParamMouthOpenY", 0.7 }, { "ParamMouthForm", -0.6 } } },
            { "ou", new Row { { "ParamMouthOpenY", 0.35 }, { "ParamMouthForm", -1 } } },
        };

        public static readonly Dictionary<string, Dictionary<string, double>> Vrm = new Dictionary<string, Row>
        {
            { "sil", new Row() },
            { "PP", new Row() },
            { "FF", new Row { { "ih", 0.15 } } },
            { "TH", new Row { { "ih", 0.25 } } },
            { "DD", new Row { { "ih", 0.25 } } },
            { "kk", new Row { { "aa", 0.2 } } },
            { "CH", new Row { { "ou", 0.4 } } },
            { "SS", new Row { { "ih", 0.3 } } },
            { "nn", new Row { { "ih", 0.25 } } },
            { "RR", new Row { { "ou", 0.3 } } },
            { "aa", new Row { { "aa", 1 } } },
            { "E", new Row { { "ee", 0.8 } } },
            { "ih", new Row { { "ih", 1 } } },
            { "oh", new Row { { "oh", 1 } } },
            { "ou", new Row { { "ou", 1 } } },
        };

        /// <summary>Mixes the weights of a table by the weights of the shapes.</summary>
        public static Dictionary<string, double> Mixed(Dictionary<string, Dictionary<string, double>> table, Dictionary<string, double> shapes)
        {
            var sum = new Dictionary<string, double>();
            foreach (var shape in shapes)
                foreach (var part in table[shape.Key])
                    sum[part.Key] = (sum.TryGetValue(part.Key, out var before) ? before : 0) + shape.Value * part.Value;
            return sum;
        }

        /// <summary>Everything that a table moves.</summary>
        public static List<string> NamesOf(Dictionary<string, Dictionary<string, double>> table) => table.Values.SelectMany(row => row.Keys).Distinct().ToList();
    }
}
