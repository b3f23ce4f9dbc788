// JSON: reads and writes values. Texts are UTF-8.
#pragma once

#include <cmath>
#include <cstdint>
#include <locale>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace dramatis {

/// A value of JSON. Fields that are missing read as null, so that chains of them need no checks.
class Json {
public:
    enum class Kind { Null, Flag, Number, Text, List, Object };

    Json() = default;
    Json(std::nullptr_t) {}
    Json(bool value) : kind_(Kind::Flag), number_(value ? 1 : 0) {}
    Json(double value) : kind_(Kind::Number), number_(value) {}
    Json(int value) : Json(static_cast<double>(value)) {}
    Json(std::int64_t value) : Json(static_cast<double>(value)) {}
    Json(std::string value) : kind_(Kind::Text), text_(std::move(value)) {}
    Json(const char* value) : Json(std::string(value)) {}
    Json(std::vector<Json> items) : kind_(Kind::List), items_(std::move(items)) {}

    static Json object(std::vector<std::pair<std::string, Json>> fields = {}) {
        Json value;
        value.kind_ = Kind::Object;
        for (auto& [name, field] : fields) value.set(name, std::move(field));
        return value;
    }

    static Json list() { return Json(std::vector<Json>{}); }

    Kind kind() const { return kind_; }
    bool isNull() const { return kind_ == Kind::Null; }
    bool isNumber() const { return kind_ == Kind::Number; }
    bool isTrue() const { return kind_ == Kind::Flag && number_ != 0; }
    bool isFalse() const { return kind_ == Kind::Flag && number_ == 0; }
    double number(double otherwise = 0) const { return isNumber() ? number_ : otherwise; }
    /// Empty if it is no text.
    const std::string& text() const { return text_; }
    const std::vector<Json>& items() const { return items_; }

    bool has(const std::string& item) const {
        for (const auto& each : items_)
            if (each.kind_ == Kind::Text && each.text_ == item) return true;
        return false;
    }

    const Json& operator[](const std::string& name) const {
        static const Json none;
        for (std::size_t index = 0; index < names_.size(); index += 1)
            if (names_[index] == name) return items_[index];
        return none;
    }

    /// Sets a field of an object and returns the object.
    Json& set(const std::string& name, Json value) {
        for (std::size_t index = 0; index < names_.size(); index += 1) {
            if (names_[index] != name) continue;
            items_[index] = std::move(value);
            return *this;
        }
        names_.push_back(name);
        items_.push_back(std::move(value));
        return *this;
    }

    void add(Json item) { items_.push_back(std::move(item)); }

    /// Throws std::runtime_error if the text is no JSON.
    static Json parse(const std::string& text) {
        Reader reader{text};
        Json value = reader.value();
        reader.skip();
        if (reader.at < text.size()) reader.fail();
        return value;
    }

    std::string write() const {
        std::string to;
        write(to);
        return to;
    }

private:
    struct Reader {
        const std::string& text;
        std::size_t at = 0;
        int depth = 0;

        [[noreturn]] void fail() const { throw std::runtime_error("no JSON at byte " + std::to_string(at)); }

        void skip() {
            while (at < text.size() && std::string(" \t\r\n").find(text[at]) != std::string::npos) at += 1;
        }

        char next() {
            skip();
            if (at >= text.size()) fail();
            return text[at];
        }

        void take(char expected) {
            if (next() != expected) fail();
            at += 1;
        }

        Json word(const std::string& word, Json value) {
            if (text.compare(at, word.size(), word) != 0) fail();
            at += word.size();
            return value;
        }

        Json value() {
            constexpr int mostDepth = 200;
            if ((depth += 1) > mostDepth) fail();
            Json found = any();
            depth -= 1;
            return found;
        }

        Json any() {
            switch (next()) {
                case '{': return fields();
                case '[': return list();
                case '"': return Json(quoted());
                case 't': return word("true", Json(true));
                case 'f': return word("false", Json(false));
                case 'n': return word("null", Json());
                default: return numeral();
            }
        }

        Json fields() {
            Json found = Json::object();
            take('{');
            if (next() != '}') {
                for (;; at += 1) {
                    if (next() != '"') fail();
                    std::string name = quoted();
                    take(':');
                    found.set(name, value());
                    if (next() != ',') break;
                }
            }
            take('}');
            return found;
        }

        Json list() {
            Json found = Json::list();
            take('[');
            if (next() != ']') {
                for (;; at += 1) {
                    found.add(value());
                    if (next() != ',') break;
                }
            }
            take(']');
            return found;
        }

        Json numeral() {
            const std::size_t start = at;
            while (at < text.size() && std::string("+-.eE0123456789").find(text[at]) != std::string::npos) at += 1;
            // The locale of the program must not change how numbers are read.
            std::istringstream digits(text.substr(start, at - start));
            digits.imbue(std::locale::classic());
            double found = 0;
            if (!(digits >> found)) fail();
            return Json(found);
        }

        std::string quoted() {
            std::string found;
            take('"');
            while (at < text.size() && text[at] != '"') {
                const char letter = text[at++];
                if (letter == '\\') escaped(found);
                else found += letter;
            }
            if (at >= text.size()) fail();
            at += 1;
            return found;
        }

        void escaped(std::string& to) {
            if (at >= text.size()) fail();
            const char letter = text[at++];
            const std::string plain = "bfnrt";
            const auto known = plain.find(letter);
            if (known != std::string::npos) to += "\b\f\n\r\t"[known];
            else if (letter != 'u') to += letter;
            else {
                std::uint32_t code = hexadecimal();
                if (code >= 0xd800 && code < 0xdc00 && text.compare(at, 2, "\\u") == 0) {
                    at += 2;
                    code = 0x10000 + ((code - 0xd800) << 10) + (hexadecimal() - 0xdc00);
                }
                encode(code, to);
            }
        }

        std::uint32_t hexadecimal() {
            std::uint32_t code = 0;
            for (int digit = 0; digit < 4; digit += 1, at += 1) {
                const auto value = at < text.size() ? std::string("0123456789abcdef").find(static_cast<char>(text[at] | 0x20)) : std::string::npos;
                if (value == std::string::npos) fail();
                code = code * 16 + static_cast<std::uint32_t>(value);
            }
            return code;
        }

        static void encode(std::uint32_t code, std::string& to) {
            const auto byte = [&to](std::uint32_t value) { to += static_cast<char>(value); };
            const auto rest = [&](int bits) { byte(0x80 | ((code >> bits) & 0x3f)); };
            if (code < 0x80) byte(code);
            else if (code < 0x800) byte(0xc0 | (code >> 6)), rest(0);
            else if (code < 0x10000) byte(0xe0 | (code >> 12)), rest(6), rest(0);
            else byte(0xf0 | (code >> 18)), rest(12), rest(6), rest(0);
        }
    };

    void write(std::string& to) const {
        switch (kind_) {
            case Kind::Null: to += "null"; break;
            case Kind::Flag: to += number_ != 0 ? "true" : "false"; break;
            case Kind::Number: writeNumber(to); break;
            case Kind::Text: writeText(text_, to); break;
            case Kind::List:
            case Kind::Object:
                to += kind_ == Kind::List ? '[' : '{';
                for (std::size_t index = 0; index < items_.size(); index += 1) {
                    if (index > 0) to += ',';
                    if (kind_ == Kind::Object) writeText(names_[index], to), to += ':';
                    items_[index].write(to);
                }
                to += kind_ == Kind::List ? ']' : '}';
        }
    }

    void writeNumber(std::string& to) const {
        constexpr double mostExact = 9e15;
        if (std::floor(number_) == number_ && std::abs(number_) < mostExact) {
            to += std::to_string(static_cast<long long>(number_));
            return;
        }
        std::ostringstream digits;
        digits.imbue(std::locale::classic());
        digits.precision(17);
        digits << number_;
        to += digits.str();
    }

    static void writeText(const std::string& text, std::string& to) {
        to += '"';
        for (const char letter : text) {
            if (letter == '"' || letter == '\\') (to += '\\') += letter;
            else if (static_cast<unsigned char>(letter) >= ' ') to += letter;
            else {
                to += "\\u00";
                to += "0123456789abcdef"[letter >> 4];
                to += "0123456789abcdef"[letter & 15];
            }
        }
        to += '"';
    }

    Kind kind_ = Kind::Null;
    double number_ = 0;
    std::string text_;
    std::vector<Json> items_;
    std::vector<std::string> names_;
};

}  // namespace dramatis
