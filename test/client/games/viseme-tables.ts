/** The viseme tables of `dramatis/client` in other languages. `node viseme-tables.ts` writes them. */
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { ARKIT, LIVE2D, VISEMES, VRM } from '../../../server/client/mouth/viseme-tables.js';

const tables = { ArKit: ARKIT, Live2D: LIVE2D, Vrm: VRM };
type Table = (typeof tables)[keyof typeof tables];
const clients = path.resolve(import.meta.dirname, '../../../server/client');

/** The rows of a table: shape, then name and weight of what it moves. */
function rowsOf(table: Table): (readonly [string, (readonly [string, number])[]])[] {
  return VISEMES.map((viseme) => [viseme, Object.entries(table[viseme])]);
}

function csharp(): string {
  const fields = Object.entries(tables).map(([name, table]) => {
    const rows = rowsOf(table).map(([viseme, weights]) => {
      const pairs = weights.map(([shape, weight]) => `{ "${shape}", ${weight} }`);
      const body = pairs.length === 0 ? 'new Row()' : `new Row { ${pairs.join(', ')} }`;
      return `            { "${viseme}", ${body} },\n`;
    });
    return `        public static readonly Dictionary<string, Dictionary<string, double>> ${name} = new Dictionary<string, Row>\n        {\n${rows.join('')}        };\n`;
  });
  return `using System.Collections.Generic;
using System.Linq;
using Row = System.Collections.Generic.Dictionary<string, double>;

namespace Dramatis
{
    /// <summary>What each shape of the mouth moves in a rig. Written by test/client/games/viseme-tables.ts.</summary>
    public static class VisemeTables
    {
        /// <summary>In the order of OVRLipSync and OpenXR: the index is the number that they use.</summary>
        public static readonly string[] Visemes = { ${VISEMES.map((each) => `"${each}"`).join(', ')} };

${fields.join('\n')}
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
`;
}

function cpp(): string {
  const fields = Object.entries(tables).map(([name, table]) => {
    const rows = rowsOf(table).map(([viseme, weights]) => {
      const pairs = weights.map(([shape, weight]) => `{"${shape}", ${weight}}`);
      return `        {"${viseme}", {${pairs.join(', ')}}},\n`;
    });
    return `inline const VisemeTable& ${name}Table() {\n    static const VisemeTable table = {\n${rows.join('')}    };\n    return table;\n}\n`;
  });
  return `// What each shape of the mouth moves in a rig. Written by test/client/games/viseme-tables.ts.
#pragma once

#include <map>
#include <string>

namespace dramatis {

using Weights = std::map<std::string, double>;
using VisemeTable = std::map<std::string, Weights>;

/// In the order of OVRLipSync and OpenXR: the index is the number that they use.
inline constexpr const char* visemes[] = {${VISEMES.map((each) => `"${each}"`).join(', ')}};

${fields.join('\n')}
/// Mixes the weights of a table by the weights of the shapes.
inline Weights mixed(const VisemeTable& table, const Weights& shapes) {
    Weights sum;
    for (const auto& [viseme, weight] : shapes)
        for (const auto& [name, value] : table.at(viseme)) sum[name] += weight * value;
    return sum;
}

}  // namespace dramatis
`;
}

function gdscript(): string {
  const fields = Object.entries(tables).map(([name, table]) => {
    const rows = rowsOf(table).map(([viseme, weights]) => {
      const pairs = weights.map(([shape, weight]) => `"${shape}": ${weight.toFixed(2)}`);
      return `\t"${viseme}": {${pairs.join(', ')}},\n`;
    });
    return `const ${name.toUpperCase()} := {\n${rows.join('')}}\n`;
  });
  return `## What each shape of the mouth moves in a rig. Written by test/client/games/viseme-tables.ts.
extends RefCounted

## In the order of OVRLipSync and OpenXR: the index is the number that they use.
const VISEMES := [${VISEMES.map((each) => `"${each}"`).join(', ')}]

${fields.join('\n')}

## Mixes the weights of a table by the weights of the shapes.
static func mixed(table: Dictionary, shapes: Dictionary) -> Dictionary:
\tvar sum := {}
\tfor shape in shapes:
\t\tfor part in table[shape]:
\t\t\tsum[part] = sum.get(part, 0.0) + shapes[shape] * table[shape][part]
\treturn sum
`;
}

/** The text of each file. */
export const visemeTables: Readonly<Record<string, string>> = {
  [path.join(clients, 'csharp/core/VisemeTables.cs')]: csharp(),
  [path.join(clients, 'cpp/include/dramatis/viseme_tables.hpp')]: cpp(),
  [path.join(clients, 'godot/addons/dramatis/viseme_tables.gd')]: gdscript(),
};

if (import.meta.main) for (const [file, text] of Object.entries(visemeTables)) await writeFile(file, text);
