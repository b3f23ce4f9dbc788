using System;
using System.Collections.Generic;
using System.Globalization;
using System.Text;

namespace Dramatis
{
    /// <summary>An object of JSON. Values: JsonObject, List of object, string, double, bool, null.</summary>
    public sealed class JsonObject : Dictionary<string, object>
    {
        /// <summary>The text of a field; null if it is missing or no text.</summary>
        public string Text(string field) => TryGetValue(field, out var value) ? value as string : null;

        /// <summary>The number of a field; null if it is missing or no number.</summary>
        public double? Number(string field) => TryGetValue(field, out var value) && value is double number ? number : (double?)null;

        public bool? Flag(string field) => TryGetValue(field, out var value) && value is bool flag ? flag : (bool?)null;

        public JsonObject Object(string field) => TryGetValue(field, out var value) ? value as JsonObject : null;

        public List<object> List(string field) => TryGetValue(field, out var value) ? value as List<object> : null;

        /// <summary>Sets a field and returns the object, to write several in a row.</summary>
        public JsonObject With(string field, object value)
        {
            this[field] = value is int || value is long || value is float ? Convert.ToDouble(value, CultureInfo.InvariantCulture) : value;
            return this;
        }
    }

    /// <summary>Reads and writes JSON, since .NET Standard 2.0 brings nothing for it.</summary>
    public sealed class Json
    {
        const int MostDepth = 200;
        readonly string text;
        int at;
        int depth;

        Json(string text)
        {
            this.text = text;
        }

        /// <summary>Throws FormatException if the text is no JSON.</summary>
        public static object Parse(string text)
        {
            var reader = new Json(text);
            var value = reader.Value();
            reader.Skip();
            if (reader.at < text.Length) throw reader.Wrong();
            return value;
        }

        public static string Write(object value)
        {
            var to = new StringBuilder();
            Write(value, to);
            return to.ToString();
        }

        FormatException Wrong() => new FormatException("no JSON at character " + at);

        void Skip()
        {
            while (at < text.Length && " \t\r\n".IndexOf(text[at]) >= 0) at += 1;
        }

        char Next()
        {
            Skip();
            if (at >= text.Length) throw Wrong();
            return text[at];
        }

        void Take(char expected)
        {
            if (Next() != expected) throw Wrong();
            at += 1;
        }

        object Value()
        {
            if ((depth += 1) > MostDepth) throw Wrong();
            object value;
            switch (Next())
            {
                case '{': value = ObjectValue(); break;
                case '[': value = ListValue(); break;
                case '"': value = TextValue(); break;
                case 't': value = Word("true", true); break;
                case 'f': value = Word("false", false); break;
                case 'n': value = Word("null", null); break;
                default: value = NumberValue(); break;
            }
            depth -= 1;
            return value;
        }

        object Word(string word, object value)
        {
            if (string.CompareOrdinal(text, at, word, 0, word.Length) != 0) throw Wrong();
            at += word.Length;
            return value;
        }

        JsonObject ObjectValue()
        {
            var value = new JsonObject();
            Take('{');
            if (Next() != '}')
            {
                for (; ; at += 1)
                {
                    if (Next() != '"') throw Wrong();
                    var name = TextValue();
                    Take(':');
                    value[name] = Value();
                    if (Next() != ',') break;
                }
            }
            Take('}');
            return value;
        }

        List<object> ListValue()
        {
            var value = new List<object>();
            Take('[');
            if (Next() != ']')
            {
                for (; ; at += 1)
                {
                    value.Add(Value());
                    if (Next() != ',') break;
                }
            }
            Take(']');
            return value;
        }

        double NumberValue()
        {
            var start = at;
            while (at < text.Length && "+-.eE0123456789".IndexOf(text[at]) >= 0) at += 1;
            if (!double.TryParse(text.Substring(start, at - start), NumberStyles.Float, CultureInfo.InvariantCulture, out var value)) throw Wrong();
            return value;
        }

        string TextValue()
        {
            Take('"');
            var value = new StringBuilder();
            while (at < text.Length && text[at] != '"')
            {
                var letter = text[at++];
                if (letter != '\\') value.Append(letter);
                else value.Append(Escaped());
            }
            if (at >= text.Length) throw Wrong();
            at += 1;
            return value.ToString();
        }

        char Escaped()
        {
            if (at >= text.Length) throw Wrong();
            var letter = text[at++];
            switch (letter)
            {
                case 'b': return '\b';
                case 'f': return '\f';
                case 'n': return '\n';
                case 'r': return '\r';
                case 't': return '\t';
                case 'u':
                    if (at + 4 > text.Length) throw Wrong();
                    at += 4;
                    return (char)int.Parse(text.Substring(at - 4, 4), NumberStyles.HexNumber, CultureInfo.InvariantCulture);
                default: return letter;
            }
        }

        static void Write(object value, StringBuilder to)
        {
            if (value == null) to.Append("null");
            else if (value is string words) WriteText(words, to);
            else if (value is bool flag) to.Append(flag ? "true" : "false");
            else if (value is JsonObject fields)
            {
                var first = true;
                to.Append('{');
                foreach (var field in fields)
                {
                    if (!first) to.Append(',');
                    first = false;
                    WriteText(field.Key, to);
                    to.Append(':');
                    Write(field.Value, to);
                }
                to.Append('}');
            }
            else if (value is System.Collections.IEnumerable items)
            {
                var first = true;
                to.Append('[');
                foreach (var item in items)
                {
                    if (!first) to.Append(',');
                    first = false;
                    Write(item, to);
                }
                to.Append(']');
            }
            else to.Append(Convert.ToDouble(value, CultureInfo.InvariantCulture).ToString("R", CultureInfo.InvariantCulture));
        }

        static void WriteText(string words, StringBuilder to)
        {
            to.Append('"');
            foreach (var letter in words)
            {
                if (letter == '"' || letter == '\\') to.Append('\\').Append(letter);
                else if (letter < ' ') to.Append("\\u").Append(((int)letter).ToString("x4", CultureInfo.InvariantCulture));
                else to.Append(letter);
            }
            to.Append('"');
        }
    }
}
