// Binary frames: 12 bytes, little-endian, then 16-bit mono sound at 24 kHz (the server's client/connection/binary-frame.js).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace dramatis {

using Bytes = std::vector<std::uint8_t>;
using Samples = std::vector<std::int16_t>;

/// Samples a second, both ways.
constexpr int sampleRate = 24'000;

inline Samples samplesOf(const Bytes& bytes, std::size_t from = 0) {
    Samples samples((bytes.size() - from) / 2);
    for (std::size_t index = 0; index < samples.size(); index += 1)
        samples[index] = static_cast<std::int16_t>(bytes[from + 2 * index] | bytes[from + 2 * index + 1] << 8);
    return samples;
}

struct ReplyFrame {
    int replyNumber = 0;
    std::int64_t sequence = 0;
    /// Samples of the reply before this frame.
    std::int64_t offset = 0;
    Samples samples;
};

namespace detail {

constexpr std::size_t headerBytes = 12;
constexpr std::uint8_t inputKind = 1;
constexpr std::uint8_t replyKind = 2;

inline std::int64_t wordAt(const Bytes& bytes, std::size_t at) {
    std::uint32_t word = 0;
    for (std::size_t index = 0; index < 4; index += 1) word |= static_cast<std::uint32_t>(bytes[at + index]) << 8 * index;
    return word;
}

}  // namespace detail

/// Nothing if these bytes are no frame of a reply.
inline std::optional<ReplyFrame> decodeFrame(const Bytes& bytes) {
    if (bytes.size() < detail::headerBytes || bytes.size() % 2 != 0 || bytes[0] != detail::replyKind || bytes[1] != 0) return {};
    const int number = bytes[2] | bytes[3] << 8;
    return ReplyFrame{number, detail::wordAt(bytes, 4), detail::wordAt(bytes, 8), samplesOf(bytes, detail::headerBytes)};
}

/// Writes what the user, or a player, says. Sequence and offset wrap at 2^32.
inline Bytes encodeFrame(std::int64_t sequence, std::int64_t offset, const Bytes& pcm16, int player = 0) {
    Bytes bytes(detail::headerBytes);
    bytes[0] = detail::inputKind;
    bytes[2] = static_cast<std::uint8_t>(player);
    bytes[3] = static_cast<std::uint8_t>(player >> 8);
    for (std::size_t index = 0; index < 4; index += 1) {
        bytes[4 + index] = static_cast<std::uint8_t>(sequence >> 8 * index);
        bytes[8 + index] = static_cast<std::uint8_t>(offset >> 8 * index);
    }
    bytes.insert(bytes.end(), pcm16.begin(), pcm16.end());
    return bytes;
}

inline const std::string base64Letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

inline std::string toBase64(const Bytes& bytes) {
    std::string text;
    for (std::size_t at = 0; at < bytes.size(); at += 3) {
        const std::size_t count = std::min<std::size_t>(3, bytes.size() - at);
        std::uint32_t word = 0;
        for (std::size_t index = 0; index < 3; index += 1) word = word << 8 | (index < count ? bytes[at + index] : 0u);
        for (std::size_t index = 0; index < 4; index += 1)
            text += index <= count ? base64Letters[word >> (18 - 6 * index) & 63] : '=';
    }
    return text;
}

/// Letters that are not base64 are skipped.
inline Bytes fromBase64(const std::string& text) {
    Bytes bytes;
    std::uint32_t word = 0;
    int bits = 0;
    for (const char letter : text) {
        const auto value = base64Letters.find(letter);
        if (value == std::string::npos) continue;
        word = word << 6 | static_cast<std::uint32_t>(value);
        bits += 6;
        if (bits < 8) continue;
        bits -= 8;
        bytes.push_back(static_cast<std::uint8_t>(word >> bits));
    }
    return bytes;
}

}  // namespace dramatis
